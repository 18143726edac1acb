import type { Effort } from './bench.ts'

/** Something that can be measured repeatedly, in operations per second. */
export type Contender = { row: string; column: string; measure(seconds: number): Promise<number> }

/** A contender's result in each round. */
export type Result = { row: string; column: string; perSecond: number[] }

/**
 * Measures each contender in turn, round after round, so that other load on the machine affects all alike. A short warm-up
 * round comes first and does not count, except in a miniature, which has no other round.
 */
export async function measureInRounds(
  contenders: readonly Contender[],
  { isMiniature, rounds, seconds }: Effort,
  say: (line: string) => void,
): Promise<Result[]> {
  const results = contenders.map(({ row, column }): Result => ({ row, column, perSecond: [] }))
  for (let round = isMiniature ? 1 : 0; round <= rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const perSecond = await contender.measure(round === 0 ? 1 : seconds)
      if (round > 0) results[index]?.perSecond.push(perSecond)
    }
    say(round === 0 ? 'warmed up' : `round ${round} of ${rounds}`)
  }
  return results
}

/** Calls `once` repeatedly with this concurrency; returns calls per second. */
export async function measureCalls(once: () => Promise<unknown>, atOnce: number, seconds: number): Promise<number> {
  const began = performance.now()
  const until = began + seconds * 1000
  let done = 0
  const loop = async () => {
    while (performance.now() < until) {
      await once()
      done++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, loop))
  return done / ((performance.now() - began) / 1000)
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}
