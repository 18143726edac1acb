import { useEffect, useState } from 'react'
import type { AccessRequest } from '../requests/request.ts'
import { type Shown, withLeaving } from './with-leaving.ts'

/** How long a request that can no longer be decided stays in the list, so that nothing vanishes under a reader's hand. */
const leavingMs = 10_000

/** The requests of the list, in its order, and for some seconds those that have just left it, where they were. */
export function useLeaving(listed: readonly AccessRequest[] | undefined): readonly Shown[] {
  const [shown, setShown] = useState<readonly Shown[]>([])
  useEffect(() => {
    if (listed !== undefined) setShown((before) => withLeaving(listed, before))
  }, [listed])
  const gone = shown
    .filter(({ isGone }) => isGone)
    .map(({ id }) => id)
    .join(' ')
  useEffect(() => {
    if (gone === '') return
    const ids = new Set(gone.split(' '))
    const timer = setTimeout(
      () => setShown((before) => before.filter((one) => !one.isGone || !ids.has(one.id))),
      leavingMs,
    )
    return () => clearTimeout(timer)
  }, [gone])
  return shown
}
