/** Reproducible random numbers: the same seed gives the same sequence. */
export type Chance = {
  /** A whole number from 0 to `count` - 1. */
  below(count: number): number
  oneOf<Item>(items: readonly [Item, ...Item[]]): Item
}

/** mulberry32. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return { below, oneOf: (items) => items[below(items.length)] ?? items[0] }
}
