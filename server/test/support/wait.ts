import { setTimeout as pause } from 'node:timers/promises'
import { isOver } from './time-limit.ts'

/** Between two checks: growing pauses, so that a long wait does not keep a core busy. */
const pauses = { firstMs: 10, maxMs: 80, growth: 1.3 }

/**
 * Waits until `check` returns a value: a test waits for a condition, never for a time.
 * @throws Error when that takes longer than `limitMs`, scaled to how slow the machine is.
 */
export async function until<Value>(
  what: string,
  check: () => Promise<Value | undefined | false>,
  limitMs = 60_000,
): Promise<Value> {
  const beganAt = performance.now()
  for (let pauseMs = pauses.firstMs; ; pauseMs = Math.min(pauses.maxMs, pauseMs * pauses.growth)) {
    const seen = await check()
    if (seen !== undefined && seen !== false) return seen
    if (isOver(beganAt, limitMs)) throw new Error(`waited ${limitMs} ms without success: ${what}`)
    await pause(pauseMs)
  }
}
