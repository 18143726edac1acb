/** What was used lately, by key; the rest is forgotten. */
export type Recent<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
}

/**
 * Keeps the last `limit` keys that were used, and at most twice as many. In two generations: when the young one is full it
 * becomes the old one, and what of that is used meanwhile is young again. To move each entry at each use would cost more.
 * `onForgotten`: takes leave of what was not used, though not of what was deleted or replaced.
 */
export function createRecent<Value>(limit: number, onForgotten?: (value: Value) => void): Recent<Value> {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()

  function set(key: string, value: Value): void {
    if (young.size >= limit && !young.has(key)) {
      if (onForgotten !== undefined)
        for (const [gone, last] of old) if (gone !== key && !young.has(gone)) onForgotten(last)
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const before = old.get(key)
      if (before !== undefined) set(key, before)
      return before
    },
    set,
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
  }
}
