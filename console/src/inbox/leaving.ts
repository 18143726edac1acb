import { useEffect, useRef, useState } from 'react'
import type { AccessRequest } from '../requests/request.ts'
import { type Shown, withLeaving } from './with-leaving.ts'

/** How long a request that can no longer be decided stays in the list, so that nothing vanishes under a reader's hand. */
const leavingMs = 10_000

/** The requests of the list, in its order, and for some seconds those that have just left it, where they were. */
export function useLeaving(listed: readonly AccessRequest[] | undefined): Shown[] {
  const before = useRef<readonly Shown[]>([])
  const [leaving, setLeaving] = useState<ReadonlyMap<string, AccessRequest>>(new Map())
  useEffect(() => {
    if (listed === undefined) return
    const ids = new Set(listed.map(({ id }) => id))
    const left = before.current.filter(({ id, isGone }) => !ids.has(id) && !isGone)
    if (left.length === 0) return
    setLeaving((others) => new Map([...others, ...left.map((request) => [request.id, request] as const)]))
    const timer = setTimeout(() => {
      setLeaving((others) => new Map([...others].filter(([id]) => !left.some((request) => request.id === id))))
    }, leavingMs)
    return () => clearTimeout(timer)
  }, [listed])
  const shown = withLeaving(listed ?? [], leaving, before.current)
  before.current = shown
  return shown
}
