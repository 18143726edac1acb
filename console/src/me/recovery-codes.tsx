import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from '../parts/button.tsx'
import { Copy } from '../parts/copy.tsx'
import { useWords } from '../words/words.ts'

type RecoveryCodesProps = {
  codes: readonly string[]
  /** Left out where the page ends with them. */
  close?: () => void
}

/** Recovery codes, which are shown once: they stay until the person says that they have kept them. */
export function RecoveryCodes({ codes, close }: RecoveryCodesProps): ReactNode {
  const words = useWords().me.factors
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className="grid gap-3 rounded-control bg-wait-tint p-4">
      <h3 ref={heading} tabIndex={-1} className="font-semibold">
        {words.codes}
      </h3>
      <p className="sound-width">{words.codesIntro}</p>
      <ul className="grid gap-x-6 gap-y-1 font-mono text-sentence sm:grid-cols-2">
        {codes.map((code) => (
          <li key={code} className="break-all select-all">
            {code}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-2">
        <Copy text={codes.join('\n')} label={words.copyCodes} look="primary" />
        {close !== undefined && <Button onClick={close}>{words.codesKept}</Button>}
      </div>
    </div>
  )
}
