import { useSyncExternalStore } from 'react'
import type { SetUp } from './connection.ts'

/**
 * What the service shows once, for the connection that was set up last in this window.
 * INVARIANT: it stands in the memory of this window alone, and ends with the page.
 */
let kept: { id: string; setUp: SetUp } | undefined
const listeners = new Set<() => void>()

/** Keeps what the service shows only now: another page of the window shows it. */
export function keepSetUp(id: string, setUp: SetUp | undefined): void {
  kept = setUp && { id, setUp }
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** What is to be made for a connection; undefined where this window has not been shown it. */
export function useSetUp(id: string): SetUp | undefined {
  const now = useSyncExternalStore(subscribe, () => kept)
  return now?.id === id ? now.setUp : undefined
}
