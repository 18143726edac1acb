import type { Effort } from './bench.ts'

/** Something that can be measured again and again, in things done in a second. */
export type Contender = { row: string; column: string; measure(seconds: number): Promise<number> }

/** What a contender reached in each round. */
export type Result = { row: string; column: string; perSecond: number[] }

/**
 * Each contender in turn, round after round, so that whatever else the machine does meets them all alike. A short round
 * before the first warms them up and does not count, save in a miniature, which has no other.
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

/** Calls `once` again and again, so many at a time; answers how often in a second. */
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
