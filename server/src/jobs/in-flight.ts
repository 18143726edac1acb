import type { Tx } from '../kernel/context.ts'
import type { WorkItem } from './claim.ts'
import { type LongRows, rowToEnd } from './long-rows.ts'

/**
 * How many rows of one list a process has in flight at once: `width` quick rows, and `perTenant` rows of one tenant, quick or
 * slow. So a tenant whose target hangs delays only its own rows. `long`: set if rows may take so long that some tenants could hold all
 * places for good.
 */
export type Bounds = { width: number; perTenant: number; long?: LongRows }

/** `end`: ends its work early. */
type RunningItem = { item: WorkItem; tenant_id: string; since: number; end: AbortController; done: Promise<void> }

/** A row in flight for longer than this is slow: it waits for something outside this process. */
export const slowAfterMs = 1_000

const maxAtOnce = 512

/** The maximum of quick and slow rows together, in multiples of `width`. */
const widthsInAll = 4

/** The rows of one list that a process has in flight. */
export type InFlight = {
  /** How many rows may be claimed now: in all, and of one tenant. */
  room(): { max: number; maxPerTenant: number }
  /** Another row is due. Where there is no place for it, one that takes very long is ended. */
  makeRoom(): void
  /** Tenants whose rows may not be claimed now. */
  fullTenants(): string[]
  /** `ended`: the work is to end early, and leaves its row for a later claim. */
  add(item: WorkItem, run: (tx: Tx, ended: AbortSignal) => Promise<void>): void
  /** The rows that have been in flight for longer than this. */
  olderThan(ms: number): WorkItem[]
  /** Resolves when all rows that are in flight now are done. */
  allDone(): Promise<unknown>
}

/** `onRoom` is called when room becomes free after there was none. */
export function trackInFlight(
  { width, perTenant, long }: Bounds,
  openTenant: (id: string) => Tx,
  onRoom: () => void,
): InFlight {
  const rows = new Map<string, RunningItem>()
  // All rows of a tenant share one `Tx`, so that their statements can share a round trip.
  const tenants = new Map<string, { tx: Tx; count: number }>()
  // Claims a batch or nothing: rows that are claimed one by one cannot share a round trip.
  const minBatch = Math.ceil(width / 8)
  const maxPerTenant = Math.ceil(perTenant / 4)
  const isFull = (count: number) => count > perTenant - maxPerTenant
  let short = false

  const places = () => width * widthsInAll - rows.size

  const remove = (item: WorkItem) => {
    // A released row may have been claimed again before its end is seen here: that claim stays in flight.
    if (rows.get(item.id)?.item === item) rows.delete(item.id)
    const tenant = tenants.get(item.tenant_id)
    if (tenant === undefined) return
    const wasFull = isFull(tenant.count)
    tenant.count -= 1
    if (tenant.count === 0) tenants.delete(item.tenant_id)
    if (short || (wasFull && !isFull(tenant.count))) onRoom()
  }

  return {
    room() {
      const now = performance.now()
      let quick = 0
      for (const { since } of rows.values()) if (now - since < slowAfterMs) quick += 1
      const free = Math.min(width - quick, places())
      short = free < minBatch
      return { max: short ? 0 : Math.min(free, maxAtOnce), maxPerTenant }
    },
    makeRoom() {
      const all = [...rows.values()]
      // One at a time: its place may be all that is needed.
      if (long === undefined || places() >= minBatch || all.some(({ end }) => end.signal.aborted)) return
      rowToEnd(all, performance.now(), long)?.end.abort()
    },
    fullTenants: () => [...tenants].filter(([, { count }]) => isFull(count)).map(([id]) => id),
    add(item, run) {
      const tenant = tenants.get(item.tenant_id) ?? { tx: openTenant(item.tenant_id), count: 0 }
      tenants.set(item.tenant_id, tenant)
      tenant.count += 1
      const end = new AbortController()
      const done = run(tenant.tx, end.signal).finally(() => remove(item))
      rows.set(item.id, { item, tenant_id: item.tenant_id, since: performance.now(), end, done })
    },
    olderThan(ms) {
      const until = performance.now() - ms
      return [...rows.values()].filter(({ since }) => since <= until).map(({ item }) => item)
    },
    allDone: () => Promise.all([...rows.values()].map(({ done }) => done)),
  }
}
