import type { ReactNode } from 'react'
import { Copy } from '../parts/copy.tsx'

type EnteredProps = { name: string; text: string; copy: string }

/** A text to copy, under the name of the field into which it goes. */
export function Entered({ name, text, copy }: EnteredProps): ReactNode {
  return (
    <div className="grid gap-1">
      <p className="font-medium">{name}</p>
      <div className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-2">
        <code
          data-edge
          className="block rounded-control border border-line bg-surface px-3 py-2 font-mono text-meta break-all select-all touch:text-body"
        >
          {text}
        </code>
        <Copy text={text} label={copy} />
      </div>
    </div>
  )
}
