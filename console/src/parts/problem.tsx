import { Refusal } from '@sallyport/client'
import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useWords, type Words } from '../words/words.ts'
import { RequestId } from './list-states.tsx'

/** Why an act did not happen, where it was asked for: the words of the service, the notices of its rules, and the id for an operator. */
export function Problem({ error }: { error: Error }): ReactNode {
  const words = useWords()
  const isRefusal = error instanceof Refusal
  return (
    <div role="alert" className="grid gap-2 rounded-control bg-bad-tint p-3">
      <p className="flex gap-2 text-bad">
        <CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" className="mt-0.5 shrink-0" />
        <span className="min-w-0 wrap-anywhere">{said(error, words)}</span>
      </p>
      {isRefusal && <Notices notices={error.notices} />}
      {isRefusal && error.status >= 500 && error.requestId !== undefined && <RequestId id={error.requestId} />}
    </div>
  )
}

/** The message of a refusal by policy repeats the notices, which are shown below it. */
function said(error: Error, words: Words): string {
  if (!(error instanceof Refusal)) return words.lists.unreachable
  return error.code === 'policy_denied' && error.notices.length > 0
    ? words.requests.verdict.notAllowed
    : words.refusal(error)
}

/** What the rules say to the person, as their authors wrote it. */
export function Notices({ notices }: { notices: readonly string[] }): ReactNode {
  return notices.map((notice) => (
    <p key={notice} className="sound-width wrap-anywhere border-l-2 border-control pl-3 whitespace-pre-line">
      {notice}
    </p>
  ))
}
