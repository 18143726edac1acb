import type { Tx } from '../kernel/context.ts'
import type { WorkItem } from './claim.ts'

/**
 * How much of one list a process has in hand at once: `width` rows that are quick, `perTenant` of one tenant, quick or
 * slow. So a tenant whose target hangs holds its own rows and nobody else's.
 */
export type Bounds = { width: number; perTenant: number }

type RunningItem = { item: WorkItem; since: number; done: Promise<void> }

/** After so long a row is slow: whatever it waits for, it is not us. */
const slowAfterMs = 1_000

const maxAtOnce = 512

/** Quick and slow together: what a process keeps in mind at most. */
const widthsInAll = 4

/** What a process has in hand of one list. */
export type InFlight = {
  /** What may be claimed now: so many rows in all, so many of one tenant. */
  room(): { max: number; maxPerTenant: number }
  /** Tenants of which no more may be claimed. */
  fullTenants(): string[]
  add(item: WorkItem, run: (tx: Tx) => Promise<void>): void
  /** Those that have been in hand for longer than this. */
  olderThan(ms: number): WorkItem[]
  /** When all that is in hand now is done. */
  allDone(): Promise<unknown>
}

/** `onRoom` is called when there is room again where there was none. */
export function trackInFlight(
  { width, perTenant }: Bounds,
  openTenant: (id: string) => Tx,
  onRoom: () => void,
): InFlight {
  const rows = new Map<string, RunningItem>()
  // One door for all of a tenant's rows: what passes it together can go in one trip.
  const tenants = new Map<string, { tx: Tx; count: number }>()
  // A portion or nothing: rows that are claimed one by one cannot go together.
  const least = Math.ceil(width / 8)
  const maxPerTenant = Math.ceil(perTenant / 4)
  const isFull = (count: number) => count > perTenant - maxPerTenant
  let short = false

  const remove = (item: WorkItem) => {
    // A row that was given back may have been claimed again before its end is seen here: that claim stays in hand.
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
      const free = Math.min(width - quick, width * widthsInAll - rows.size)
      short = free < least
      return { max: short ? 0 : Math.min(free, maxAtOnce), maxPerTenant }
    },
    fullTenants: () => [...tenants].filter(([, { count }]) => isFull(count)).map(([id]) => id),
    add(item, run) {
      const tenant = tenants.get(item.tenant_id) ?? { tx: openTenant(item.tenant_id), count: 0 }
      tenants.set(item.tenant_id, tenant)
      tenant.count += 1
      const done = run(tenant.tx).finally(() => remove(item))
      rows.set(item.id, { item, since: performance.now(), done })
    },
    olderThan(ms) {
      const until = performance.now() - ms
      return [...rows.values()].filter(({ since }) => since <= until).map(({ item }) => item)
    },
    allDone: () => Promise.all([...rows.values()].map(({ done }) => done)),
  }
}
