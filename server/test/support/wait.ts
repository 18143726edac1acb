import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits until `look` answers something; throws what it last saw when that takes too long. The pause between looks is
 * short: a test waits for a condition, never for a time.
 */
export async function until<Value>(
  what: string,
  look: () => Promise<Value | undefined | false>,
  longestMs = 20_000,
): Promise<Value> {
  const deadline = performance.now() + longestMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    if (performance.now() > deadline) throw new Error(`waited ${longestMs} ms in vain: ${what}`)
    await pause(20)
  }
}
