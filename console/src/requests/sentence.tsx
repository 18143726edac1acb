import type { ReactNode } from 'react'
import { useWords } from '../words/words.ts'
import { type AccessRequest, nameOf } from './request.ts'

type SentenceProps = {
  request: Pick<
    AccessRequest,
    'requester_name' | 'action' | 'resource' | 'resource_name' | 'duration_seconds' | 'extends'
  >
}

/** The request in one sentence. */
export function Sentence({ request }: SentenceProps): ReactNode {
  const words = useWords()
  const { sentence } = words.requests
  const { requester_name, action, duration_seconds } = request
  return (
    <p className="sound-width text-sentence wrap-anywhere">
      <Name>{requester_name}</Name>
      {request.extends === null ? sentence.requests : sentence.extends}
      <Name>{action}</Name>
      {sentence.on}
      <Name>{nameOf(request)}</Name>
      {sentence.for}
      <Name>{words.time.duration(duration_seconds ?? 0)}</Name>
      {sentence.end}
    </p>
  )
}

/** A name that a person chose: set apart, and isolated from the direction of the text around it. */
function Name({ children }: { children: string }): ReactNode {
  return <bdi className="font-semibold">{children}</bdi>
}

/** What a person wrote: plain text, never a link, in the direction that it has. */
export function Quote({ label, children }: { label: string; children: string }): ReactNode {
  return (
    <figure className="grid gap-1">
      <figcaption className="text-meta text-text-2">{label}</figcaption>
      <blockquote dir="auto" className="sound-width border-l-2 border-control pl-3 whitespace-pre-line wrap-anywhere">
        {children}
      </blockquote>
    </figure>
  )
}
