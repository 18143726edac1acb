import { longVariable } from './race.ts'

/**
 * For a test that tries every item in every place. In a long run, each call gives all items. In a usual run it gives the next `few` of
 * them, so that every item is tried in many places, and every place with some.
 */
export function inTurns<Item>(items: readonly Item[], few: number): () => readonly Item[] {
  if (process.env[longVariable] !== undefined || items.length <= few) return () => items
  let next = 0
  return () => {
    const taken = Array.from({ length: few }, (_, index) => items[(next + index) % items.length] as Item)
    next += few
    return taken
  }
}
