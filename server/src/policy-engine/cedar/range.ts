/** Sets of whole numbers, as the ranges they consist of. */

/** Both ends are inclusive; either may be infinite. */
export type Range = readonly [from: number, to: number]

/** Sorted, without overlap, and with a gap between any two. */
export type Ranges = readonly Range[]

export const everyNumber: Ranges = [[Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]]

export function only(number: number): Ranges {
  return [[number, number]]
}

/** The union of both. */
export function union(one: Ranges, other: Ranges): Ranges {
  const joined: [number, number][] = []
  for (const [from, to] of [...one, ...other].toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

/** The intersection of both. */
export function intersection(one: Ranges, other: Ranges): Ranges {
  return one.flatMap(([from, to]) =>
    other.map(([begin, end]): Range => [Math.max(from, begin), Math.min(to, end)]).filter(([low, high]) => low <= high),
  )
}

/** The complement: the numbers in none of the ranges. */
export function complement(ranges: Ranges): Ranges {
  const gaps: Range[] = []
  let from = Number.NEGATIVE_INFINITY
  for (const [begin, end] of ranges) {
    if (from < begin) gaps.push([from, begin - 1])
    from = end + 1
  }
  return from === Number.POSITIVE_INFINITY ? gaps : [...gaps, [from, Number.POSITIVE_INFINITY]]
}

export function holds(ranges: Ranges, number: number): boolean {
  return ranges.some(([from, to]) => from <= number && number <= to)
}

/** The nearest number in the ranges; the lower of two equally near. Undefined for an empty set. */
export function nearest(ranges: Ranges, number: number): number | undefined {
  const ends = ranges.map(([from, to]) => Math.min(Math.max(number, from), to))
  return ends.toSorted((a, b) => Math.abs(a - number) - Math.abs(b - number) || a - b)[0]
}
