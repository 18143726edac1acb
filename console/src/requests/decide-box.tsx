import { Refusal } from '@sallyport/client'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { useDraft } from '../parts/draft.ts'
import { Field } from '../parts/field.tsx'
import { Form, focusFault } from '../parts/form.tsx'
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
  const [choice, setChoice] = useState<'approve' | 'deny'>()
  const act = useAct()
  const form = useRef<HTMLFormElement>(null)
  const reasoning = note.trim()

  const decideTo = async (kind: 'approve' | 'deny') => {
    const lacksNote = kind === 'deny' && reasoning === ''
    setNoteMissing(lacksNote)
    if (lacksNote) return focusFault(form.current)
    setChoice(kind)
    const body = { duration_seconds: seconds, reasoning: reasoning || null }
    await act.run(
      async (key) => {
        const call = kind === 'approve' ? approve(request.id, body, key) : deny(request.id, reasoning, key)
        const isFirst = await call.then(() => true, unlessDecided)
        if (isFirst) {
          clearNote()
          toast(kind === 'approve' ? decide.approvedNow : decide.deniedNow)
        }
        await queries.invalidateQueries({ queryKey: ['request'] })
        document.querySelector<HTMLElement>('h1')?.focus()
      },
      { kind, ...body },
    )
  }
  const isPending = (kind: 'approve' | 'deny') => act.isPending && choice === kind
  return (
    <Form ref={form} className="grid gap-3" aria-label={decide.title}>
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
        error={isNoteMissing && reasoning === '' ? decide.noteNeeded : undefined}
        lines={2}
        value={note}
        onChange={setNote}
      />
      {act.error !== undefined && <Problem error={act.error} />}
      <div className="fixed inset-x-0 bottom-14 z-20 grid grid-cols-[2fr_1fr] gap-2 border-t border-line bg-surface p-3 sm:static sm:flex sm:border-0 sm:p-0">
        <Button
          look="primary"
          className="h-12 whitespace-normal leading-tight sm:h-8"
          data-act="approve"
          isPending={act.isPending}
          aria-busy={isPending('approve')}
          onClick={() => decideTo('approve')}
        >
          {decide.approve(words.time.duration(seconds))}
        </Button>
        <Button
          className="h-12 sm:h-8"
          data-act="deny"
          isPending={act.isPending}
          aria-busy={isPending('deny')}
          onClick={() => decideTo('deny')}
        >
          {decide.deny}
        </Button>
      </div>
    </Form>
  )
}

/** Another approver was faster: the page shows who, once it is loaded again. */
function unlessDecided(error: unknown): false {
  if (error instanceof Refusal && error.code === 'request_not_pending') return false
  throw error
}
