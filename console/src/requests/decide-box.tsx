import { Refusal } from '@sallyport/client'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { useDraft } from '../parts/draft.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Problem } from '../parts/problem.tsx'
import { useWords } from '../words/words.ts'
import { approve, deny } from './queries.ts'
import { type RequestDetail, shorterDurations } from './request.ts'

/** For those who may decide: for how long, a note, and the two buttons. Denying needs the note. */
export function DecideBox({ request }: { request: RequestDetail }): ReactNode {
  const words = useWords()
  const { decide } = words.requests
  const queries = useQueryClient()
  const requested = request.duration_seconds ?? 0
  const [seconds, setSeconds] = useState(requested)
  const [note, setNote, clearNote] = useDraft(`decide:${request.id}`)
  const [isNoteMissing, setNoteMissing] = useState(false)
  const [error, setError] = useState<Error>()
  const [pending, setPending] = useState<'approve' | 'deny'>()
  const text = note.trim()

  const act = async (kind: 'approve' | 'deny') => {
    setNoteMissing(kind === 'deny' && text === '')
    if (kind === 'deny' && text === '') return
    setPending(kind)
    setError(undefined)
    try {
      if (kind === 'approve') await approve(request.id, { duration_seconds: seconds, reasoning: text || null })
      else await deny(request.id, text)
      clearNote()
      toast(kind === 'approve' ? decide.approvedNow : decide.deniedNow)
    } catch (thrown) {
      // Somebody else was faster: the page shows who, once it is loaded again.
      if (!(thrown instanceof Refusal && thrown.code === 'request_not_pending')) setError(thrown as Error)
    } finally {
      setPending(undefined)
      await queries.invalidateQueries({ queryKey: ['request'] })
    }
  }
  return (
    <Form className="grid gap-3" aria-label={decide.title}>
      <Choice
        label={decide.for}
        value={String(seconds)}
        options={shorterDurations(requested).map((value) => ({
          value: String(value),
          text: words.time.duration(value),
        }))}
        onChange={(value) => setSeconds(Number(value))}
      />
      <Field
        label={decide.note}
        hint={decide.noteHint}
        error={isNoteMissing && text === '' ? decide.noteNeeded : undefined}
        lines={2}
        value={note}
        onChange={setNote}
      />
      {error !== undefined && <Problem error={error} />}
      <div className="fixed inset-x-0 bottom-14 z-20 grid grid-cols-[2fr_1fr] gap-2 border-t border-line bg-surface p-3 sm:static sm:flex sm:border-0 sm:p-0">
        <Button
          look="primary"
          className="h-12 whitespace-normal leading-tight sm:h-8"
          data-act="approve"
          isPending={pending === 'approve'}
          onClick={() => act('approve')}
        >
          {decide.approve(words.time.duration(seconds))}
        </Button>
        <Button className="h-12 sm:h-8" data-act="deny" isPending={pending === 'deny'} onClick={() => act('deny')}>
          {decide.deny}
        </Button>
      </div>
    </Form>
  )
}
