import type { Schemas } from '@sallyport/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useMe } from '../me/me.ts'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Problem } from '../parts/problem.tsx'
import { offeredDurations } from '../requests/request.ts'
import { useWords } from '../words/words.ts'
import { extendAccess } from './queries.ts'

/** Asks for more time, in place. The answer is a request, which the page then shows. */
export function Extend({ grant, close }: { grant: Schemas['GrantDetail']; close: () => void }): ReactNode {
  const words = useWords()
  const me = useMe()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const longest = grant.extendable?.max_duration_seconds ?? 0
  const offered = offeredDurations(Math.min(1_800, longest), longest)
  const [seconds, setSeconds] = useState(offered[0] ?? longest)
  const [reason, setReason] = useState('')
  const [error, setError] = useState<Error>()
  const [isPending, setPending] = useState(false)

  const send = async () => {
    setPending(true)
    setError(undefined)
    try {
      const { id } = await extendAccess(grant.id, { duration_seconds: seconds, reason: reason.trim() || null })
      await queries.invalidateQueries({ queryKey: ['grant'] })
      await navigate({ to: '/requests/$id', params: { id } })
    } catch (thrown) {
      setError(thrown as Error)
    } finally {
      setPending(false)
    }
  }
  return (
    <Form className="grid gap-3 border-t border-line pt-3" submit={send}>
      <Choice
        label={words.access.extendBy}
        value={String(seconds)}
        options={offered.map((value) => ({ value: String(value), text: words.time.duration(value) }))}
        onChange={(value) => setSeconds(Number(value))}
      />
      <Field
        label={me.limits.require_reason ? words.access.extendReason : words.requests.form.reasonOptional}
        value={reason}
        onChange={setReason}
      />
      {error !== undefined && <Problem error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" isPending={isPending}>
          {words.access.extendAct(words.time.duration(seconds))}
        </Button>
        <Button onClick={close}>{words.actions.cancel}</Button>
      </div>
    </Form>
  )
}
