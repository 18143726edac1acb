import type { Schemas } from '@sallyport/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
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
  const act = useAct()
  const entry = { duration_seconds: seconds, reason: reason.trim() || null }

  const send = () =>
    act.run(async (key) => {
      const { id } = await extendAccess(grant.id, entry, key)
      await queries.invalidateQueries({ queryKey: ['grant'] })
      await navigate({ to: '/requests/$id', params: { id } })
    }, entry)
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
      {act.error !== undefined && <Problem error={act.error} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" isPending={act.isPending}>
          {words.access.extendAct(words.time.duration(seconds))}
        </Button>
        <Button onClick={close}>{words.actions.cancel}</Button>
      </div>
    </Form>
  )
}
