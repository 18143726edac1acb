import { useSyncExternalStore } from 'react'

/**
 * What the service shows once, for the record that it was made for last in this window: another page of the window shows it.
 * INVARIANT: it stands in the memory of this window alone, and ends with the page.
 */
export function shownOnce<Shown>() {
  let kept: { id: string; shown: Shown } | undefined
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    keep(id: string, shown: Shown | undefined): void {
      kept = shown === undefined ? undefined : { id, shown }
      for (const listener of listeners) listener()
    },
    /** Undefined where this window has not been shown it for the record. */
    useShown(id: string): Shown | undefined {
      const now = useSyncExternalStore(subscribe, () => kept)
      return now?.id === id ? now.shown : undefined
    },
  }
}
