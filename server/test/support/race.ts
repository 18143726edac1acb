import { setTimeout as pause } from 'node:timers/promises'

/** Set in a long run: each race runs many times as often. */
export const longVariable = 'SALLYPORT_TEST_LONG'
const timesAsLong = 14

/** The rounds of a race: `few` in a usual run, many times as many in a long run. */
export function rounds(few: number): number[] {
  return Array.from({ length: process.env[longVariable] === undefined ? few : few * timesAsLong }, (_, round) => round)
}

/** Runs the work on every item, `width` at once: that many concurrent races load both processes. */
export async function inParallel<Item>(items: readonly Item[], width: number, work: (item: Item) => Promise<unknown>) {
  const left = items.values()
  const worker = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** Starts all calls at one instant, or each a few milliseconds later at random; returns their results. */
export function together<Result>(calls: readonly (() => Promise<Result>)[], spreadMs = 3): Promise<Result[]> {
  return Promise.all(
    calls.map(async (call) => {
      const later = Math.floor(Math.random() * (spreadMs + 1))
      if (later > 0) await pause(later)
      return call()
    }),
  )
}

/** A random item. */
export function anyOf<Item>(items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(Math.random() * items.length)] ?? items[0]
}

/**
 * A wait that lets each side of a race win about half of the time, however busy the machine is: longer after each `lengthen`,
 * shorter after each `shorten`.
 */
export function balancedWait(beginMs: number) {
  let middle = beginMs
  return {
    next: () => Math.floor(Math.random() * 2 * middle),
    lengthen: () => {
      middle = Math.min(2_000, middle * 1.3 + 1)
    },
    shorten: () => {
      middle /= 1.3
    },
  }
}
