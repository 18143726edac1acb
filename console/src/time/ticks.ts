import { useSyncExternalStore } from 'react'
import { now } from './clock.ts'

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let seconds = Math.floor(now() / 1_000)

function tick(): void {
  seconds = Math.floor(now() / 1_000)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    // Nobody counted meanwhile.
    seconds = Math.floor(now() / 1_000)
    timer = setInterval(tick, 1_000)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/**
 * What `read` makes of the current second, in seconds since 1970. The component renders again only when the result changes, so a
 * page of countdowns renders what a reader would see change.
 */
export function useTick<Result extends string | number | boolean | undefined>(
  read: (seconds: number) => Result,
): Result {
  return useSyncExternalStore(subscribe, () => read(seconds))
}
