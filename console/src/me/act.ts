import { Refusal } from '@sallyport/client'
import { useRef, useState } from 'react'
import { sessionOver } from '../app/session-over.ts'

/** An act that the service may refuse until the person signs in again; it can then be done again. */
export type Act = {
  isPending: boolean
  error: Error | undefined
  /** False: it was refused. */
  run: (work: () => Promise<unknown>) => Promise<boolean>
  again: () => Promise<boolean>
  clear: () => void
}

export function useAct(): Act {
  const [error, setError] = useState<Error>()
  const [isPending, setPending] = useState(false)
  const last = useRef<() => Promise<unknown>>(async () => undefined)
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    last.current = work
    setPending(true)
    setError(undefined)
    try {
      await work()
      return true
    } catch (thrown) {
      if (thrown instanceof Refusal && thrown.status === 401) sessionOver.note()
      setError(thrown as Error)
      return false
    } finally {
      setPending(false)
    }
  }
  return { isPending, error, run, again: () => run(last.current), clear: () => setError(undefined) }
}
