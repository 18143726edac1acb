import type { ReactNode } from 'react'
import { useSetUpWords } from '../words/set-up-words.ts'

/** The rule as Cedar, folded. */
export function CedarDetails({ text }: { text: string }): ReactNode {
  const words = useSetUpWords().rules
  return (
    <details>
      <summary className="w-fit rounded-control py-1 text-text-2">{words.asCedar}</summary>
      <CedarText>{text}</CedarText>
    </details>
  )
}

export function CedarText({ children }: { children: string }): ReactNode {
  return (
    <pre dir="ltr" className="rounded-control bg-sunken p-3 font-mono text-meta whitespace-pre-wrap wrap-anywhere">
      {children}
    </pre>
  )
}
