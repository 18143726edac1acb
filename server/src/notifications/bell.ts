import type { Database } from '../db/transaction.ts'
import type { Bell, Ear, Heard } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { findTold } from './notification-store.ts'

export type OpenBell = Bell & {
  /** A turn: one look for all who listen, none where nobody does. Then everybody hears something. */
  look(): Promise<number>
  /** How many listen. */
  listening(): number
  /** Everybody hears that it is over. */
  close(): void
}

/** A browser has six connections to one host: that leaves it one. */
const mostOfOnePerson = 5
const mostAtAll = 1_000
/** However often it is woken. */
const betweenLooksMs = 100

/** The bell of one process: what other processes write is found by looking, once a second. */
export function openBell(database: Database): OpenBell {
  /** By person, the oldest first. */
  const ears = new Map<string, OpenEar[]>()
  let count = 0
  let isClosed = false
  /** Up to here was looked; undefined: nobody listened before. */
  let since: string | undefined
  let lookedAt = Number.NEGATIVE_INFINITY

  function close(user_id: string, ear: OpenEar): void {
    const theirs = ears.get(user_id) ?? []
    const left = theirs.filter((other) => other !== ear)
    count -= theirs.length - left.length
    if (left.length === 0) ears.delete(user_id)
    else ears.set(user_id, left)
  }

  /** INVARIANT: whoever listens reads after they have begun to. What was there before a first look, they have read themselves. */
  async function findWhom(): Promise<Iterable<string>> {
    const listening = [...ears.keys()]
    if (listening.length === 0) {
      since = undefined
      return []
    }
    const isFirst = since === undefined
    const { whole_to, told } = await findTold(database.work, since, listening)
    since = whole_to
    // Whoever came meanwhile may have read before this look did, and the next one looks no further back.
    const before = new Set(listening)
    return [...(isFirst ? listening : told), ...[...ears.keys()].filter((user_id) => !before.has(user_id))]
  }

  function tellAll(what: Heard): void {
    for (const theirs of ears.values()) for (const ear of theirs) ear.tell(what)
  }

  return {
    listen(tenant_id, user_id) {
      if (isClosed) throw new Problem('unavailable', 'the service is stopping; come again in a moment')
      const theirs = ears.get(user_id) ?? []
      const [oldest] = theirs
      if (theirs.length >= mostOfOnePerson && oldest !== undefined) {
        oldest.tell('replaced')
        close(user_id, oldest)
      }
      if (count >= mostAtAll) {
        const giving = whoGivesWay(ears, tenant_id)
        giving?.ear.tell('over')
        if (giving !== undefined) close(giving.user_id, giving.ear)
      }
      if (count >= mostAtAll) throw new Problem('unavailable', 'as many listen as can; come again in a moment')
      const ear = openEar(tenant_id)
      ears.set(user_id, [...(ears.get(user_id) ?? []), ear])
      count += 1
      return { hear: ear.hear, close: () => close(user_id, ear) }
    },
    async look() {
      const early = lookedAt + betweenLooksMs - performance.now()
      if (early > 0) return early
      lookedAt = performance.now()
      try {
        for (const user_id of await findWhom()) for (const ear of ears.get(user_id) ?? []) ear.tell('told')
      } finally {
        tellAll('quiet')
      }
      return Number.MAX_SAFE_INTEGER
    },
    listening: () => count,
    close() {
      isClosed = true
      tellAll('over')
    },
  }
}

/** When all places are taken, the tenant that has most gives one up for one that has fewer: none keeps the others out. */
function whoGivesWay(ears: ReadonlyMap<string, OpenEar[]>, tenant_id: string) {
  const all = [...ears].flatMap(([user_id, theirs]) => theirs.map((ear) => ({ user_id, ear })))
  const ofTenants = Map.groupBy(all, ({ ear }) => ear.tenant_id)
  const [most = []] = [...ofTenants.values()].sort((one, other) => other.length - one.length)
  const hasFewer = (ofTenants.get(tenant_id)?.length ?? 0) + 1 < most.length
  return hasFewer ? most[0] : undefined
}

type OpenEar = Pick<Ear, 'hear'> & { tenant_id: string; tell(what: Heard): void }

/** Keeps what was told until somebody waits for it, save that it was quiet; an end is kept for ever. */
function openEar(tenant_id: string): OpenEar {
  let kept: Heard | undefined
  let wake: ((heard: Heard) => void) | undefined
  const isEnd = (heard: Heard | undefined) => heard === 'over' || heard === 'replaced'
  return {
    tenant_id,
    tell(what) {
      if (isEnd(kept) || (what === 'quiet' && wake === undefined)) return
      if (isEnd(what) || wake === undefined) kept = what
      wake?.(what)
      wake = undefined
    },
    hear: () =>
      new Promise((resolve) => {
        if (kept === undefined) {
          wake = resolve
          return
        }
        resolve(kept)
        if (!isEnd(kept)) kept = undefined
      }),
  }
}
