import { Refusal } from '@sallyport/client'
import { type ReactNode, useEffect, useState } from 'react'
import { useWords } from '../words/words.ts'
import { Button } from './button.tsx'
import { FailureText } from './english-text.tsx'

/** Five gray bars, after 200 ms: what comes at once does not flicker. */
export function Loading(): ReactNode {
  const words = useWords()
  const [shown, show] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => show(true), 200)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div role="status" aria-label={words.lists.loading} className="grid gap-3">
      {shown &&
        ['w-3/5', 'w-4/5', 'w-1/2', 'w-2/3', 'w-3/4'].map((width) => (
          <div key={width} className={`h-4 rounded-control bg-sunken ${width}`} />
        ))}
    </div>
  )
}

/** What a list or a record shows in place of itself when it could not be loaded. */
export function LoadFailure({ error, retry }: { error: Error; retry: () => unknown }): ReactNode {
  const words = useWords()
  return (
    <div role="alert" className="grid justify-items-start gap-2">
      <p className="wrap-anywhere">
        <FailureText error={error} />
      </p>
      {error instanceof Refusal && error.requestId !== undefined && <RequestId id={error.requestId} />}
      <Button onClick={() => retry()}>{words.lists.tryNow}</Button>
    </div>
  )
}

/** The id by which an operator finds a call in the log. */
export function RequestId({ id }: { id: string }): ReactNode {
  const words = useWords()
  return (
    <p className="text-meta text-text-2">
      {words.lists.requestId} <code className="font-mono select-all break-all">{id}</code>
    </p>
  )
}

/** One sentence, and what to do about it. */
export function Empty({ children, action }: { children: ReactNode; action?: ReactNode }): ReactNode {
  return (
    <div className="grid justify-items-start gap-3 text-text-2">
      <p className="sound-width">{children}</p>
      {action}
    </div>
  )
}
