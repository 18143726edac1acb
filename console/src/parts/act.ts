import { Unreachable } from '@sallyport/client'
import { useRef, useState } from 'react'

/** Something that a person has the service do: whether it goes on, and why it was refused. */
export type Act = {
  isPending: boolean
  error: Error | undefined
  /** `entry`: what the person entered. False: it was refused. */
  run: (work: (key: string) => Promise<unknown>, entry?: unknown) => Promise<boolean>
  /** The same once more, after a sign-in. */
  again: () => Promise<boolean>
  clear: () => void
}

type Attempt = { key: string; entry: string; work: (key: string) => Promise<unknown> }

/**
 * An act of a page. Where the answer is lost, the same act with the same entry has the same key: the service does it once, however often the person
 * tries. After an answer, another try is another act.
 */
export function useAct(): Act {
  const [error, setError] = useState<Error>()
  const [isPending, setPending] = useState(false)
  const attempt = useRef<Attempt>(undefined)
  const isLost = useRef(false)

  const attemptNow = async (next: Attempt): Promise<boolean> => {
    attempt.current = next
    setPending(true)
    setError(undefined)
    try {
      await next.work(next.key)
      isLost.current = false
      return true
    } catch (thrown) {
      isLost.current = thrown instanceof Unreachable
      setError(thrown as Error)
      return false
    } finally {
      setPending(false)
    }
  }
  const run: Act['run'] = (work, entry) => {
    const text = JSON.stringify(entry ?? null)
    const last = attempt.current
    const key = isLost.current && last?.entry === text ? last.key : crypto.randomUUID()
    return attemptNow({ key, entry: text, work })
  }
  const again = async () =>
    attempt.current !== undefined && run(attempt.current.work, JSON.parse(attempt.current.entry))
  return { isPending, error, run, again, clear: () => setError(undefined) }
}
