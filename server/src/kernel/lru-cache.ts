/** The recently used values, by key; the others are evicted. */
export type LruCache<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
}

/**
 * Keeps at least the last `limit` used keys and at most twice as many. It has two generations: a full young generation becomes
 * the old one, and an entry of the old one moves to the young one when it is used. Moving each entry at each use would cost
 * more. `onEvicted` is called with each evicted value, but not with deleted or replaced values.
 */
export function createLruCache<Value>(limit: number, onEvicted?: (value: Value) => void): LruCache<Value> {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()

  function set(key: string, value: Value): void {
    if (young.size >= limit && !young.has(key)) {
      if (onEvicted !== undefined)
        for (const [evicted, last] of old) if (evicted !== key && !young.has(evicted)) onEvicted(last)
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
