/**
 * Items of several owners within one limit of weight. Owners are in classes by what they hold; a class spans a power of two. Where there is no
 * room, one of these gives up its least recently used item:
 *
 * 1. the owner whose last use is the longest ago, where that is over a minute, and the owner that needs room would hold no more than its fair
 *    share;
 * 2. an owner of the highest class, where the owner that needs room would hold no more than that share, which is the limit divided by the
 *    number of owners, or would be of a lower class;
 * 3. the owner that needs room.
 *
 * So an owner keeps its items while it holds less than half of a fair share, unless it has used none for a minute and one within its share needs
 * the room: where there is no room, one owner holds more than a share, and those of its class at least half of one. What an owner over its share
 * needs never costs one that holds less. One alone may use all.
 */
export type FairShelf<Item> = {
  /** The item, which then is the owner's most recently used. */
  get(owner: string, key: string): Item | undefined
  /**
   * Makes room for an item of this weight: the items given up, and whether it then fits. Where it does not, more room could only be made by
   * owners that hold less; nothing of theirs was given up.
   */
  makeRoom(owner: string, weight: number): { evicted: Item[]; fits: boolean }
  add(owner: string, key: string, item: Item, weight: number): void
  held(): number
}

/** `used`: in milliseconds. */
type Owner<Item> = { held: number; used: number; items: Map<string, { item: Item; weight: number }> }

const idleMs = 60_000

/** `now`: a clock in milliseconds that never goes back. */
export function createFairShelf<Item>(limit: number, now = () => performance.now()): FairShelf<Item> {
  /** In the order of their last use. */
  const owners = new Map<string, Owner<Item>>()
  const classes = createClasses()
  let held = 0

  function change(name: string, owner: Owner<Item>, by: number): void {
    held += by
    owner.held += by
    if (owner.items.size === 0) owners.delete(name)
    classes.put(name, owner.items.size === 0 ? undefined : owner.held)
  }

  function evictOldest(name: string): Item | undefined {
    const owner = owners.get(name)
    for (const [key, { item, weight }] of owner?.items ?? []) {
      owner?.items.delete(key)
      if (owner !== undefined) change(name, owner, -weight)
      return item
    }
    return undefined
  }

  function use(name: string, owner: Owner<Item>): void {
    owner.used = now()
    owners.delete(name)
    owners.set(name, owner)
  }

  /** Who gives up something for an owner that would hold so much. */
  function giver(name: string, wouldHold: number): string {
    const share = limit / (owners.size + (owners.has(name) ? 0 : 1))
    const isWithinShare = wouldHold <= share
    const [[oldest, { used }] = [name, { used: 0 }]] = owners
    if (isWithinShare && oldest !== name && now() - used > idleMs) return oldest
    const { number, names } = classes.highest()
    if (!isWithinShare && number <= classOf(wouldHold)) return name
    for (const other of names) if (other !== name) return other
    return name
  }

  return {
    get(name, key) {
      const owner = owners.get(name)
      const found = owner?.items.get(key)
      if (owner === undefined || found === undefined) return undefined
      owner.items.delete(key)
      owner.items.set(key, found)
      use(name, owner)
      return found.item
    },
    makeRoom(name, weight) {
      const evicted: Item[] = []
      while (held + weight > limit) {
        const item = weight > limit ? undefined : evictOldest(giver(name, (owners.get(name)?.held ?? 0) + weight))
        if (item === undefined) return { evicted, fits: false }
        evicted.push(item)
      }
      return { evicted, fits: true }
    },
    add(name, key, item, weight) {
      const owner = owners.get(name) ?? { held: 0, used: 0, items: new Map() }
      use(name, owner)
      owner.items.set(key, { item, weight })
      change(name, owner, weight)
    },
    held: () => held,
  }
}

/** The names of owners by the class of what each holds; undefined: nothing. */
function createClasses() {
  const classes = Array.from({ length: 64 }, () => new Set<string>())
  const present = new Map<string, number>()
  return {
    put(name: string, held: number | undefined): void {
      const [before, after] = [present.get(name), held === undefined ? undefined : classOf(held)]
      if (before === after) return
      if (before !== undefined) classes[before]?.delete(name)
      if (after === undefined) {
        present.delete(name)
        return
      }
      classes[after]?.add(name)
      present.set(name, after)
    },
    highest(): { number: number; names: ReadonlySet<string> } {
      const number = classes.findLastIndex((names) => names.size > 0)
      return { number, names: classes[number] ?? new Set() }
    },
  }
}

const classOf = (weight: number) => Math.max(0, Math.ceil(Math.log2(weight + 1)))
