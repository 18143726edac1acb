import { Refusal } from '@sallyport/client'
import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useWords } from '../words/words.ts'
import { FailureText } from './english-text.tsx'
import { RequestId } from './list-states.tsx'

/** Why an act did not happen, where it was asked for: the words of the service, the notices of its rules, and the id for an operator. */
export function Problem({ error }: { error: Error }): ReactNode {
  const words = useWords()
  const isRefusal = error instanceof Refusal
  return (
    <div role="alert" className="grid gap-2 rounded-control bg-bad-tint p-3">
      <p className="flex gap-2 text-bad">
        <CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" className="mt-0.5 shrink-0" />
        <span className="min-w-0 wrap-anywhere">
          {repeatsNotices(error) ? words.requests.verdict.notAllowed : <FailureText error={error} />}
        </span>
      </p>
      {isRefusal && <Notices notices={error.notices} />}
      {isRefusal && error.status >= 500 && error.requestId !== undefined && <RequestId id={error.requestId} />}
    </div>
  )
}

/** The message of a refusal by policy repeats the notices, which are shown below it. */
const repeatsNotices = (error: Error) =>
  error instanceof Refusal && error.code === 'policy_denied' && error.notices.length > 0

/** What the rules say to the person, as their authors wrote it: in which language, nothing says. */
export function Notices({ notices }: { notices: readonly string[] }): ReactNode {
  return notices.map((notice) => (
    <p
      key={notice}
      lang=""
      dir="auto"
      className="sound-width wrap-anywhere border-l-2 border-control pl-3 whitespace-pre-line"
    >
      {notice}
    </p>
  ))
}
