import { useSyncExternalStore } from 'react'

/** Whether the service answers, as far as this window knows. */
let isLost = false
const listeners = new Set<() => void>()

export function setLost(lost: boolean): void {
  if (lost === isLost) return
  isLost = lost
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useIsLost = (): boolean => useSyncExternalStore(subscribe, () => isLost)
