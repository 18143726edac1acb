import type { WorkItem } from '../jobs/claim.ts'
import type { DueWork } from '../jobs/work-list.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import { type Driver, NotNow, type Sighting, TargetError } from '../provisioners/driver.ts'
import type { Drivers } from '../provisioners/drivers.ts'
import { pagesInTime } from '../provisioners/in-time.ts'
import { checkedDays, maxCompared, spreadSeconds, sweepAgainSeconds, watchedDays } from './sweep.ts'
import {
  type Compared,
  closeSweep,
  findByKey,
  findCompared,
  openSweep,
  putOffSweep,
  type Sweep,
  saveStrays,
  suspect,
} from './sweep-store.ts'

type Listing = NonNullable<Driver['discover']>

/** A page of a list may wait for the target's own rate limit. */
const maxPageMs = 120_000

/**
 * Compares what a provisioner's target holds with the ledger, some thousands at once. It decides nothing: where they differ,
 * it makes the entitlement due for a check that reads the target itself. If the target has no list, each entitlement is checked.
 */
export function sweepProvisioner(drivers: Drivers): DueWork {
  return {
    table: 'sweep',
    bounds: { width: 8, perTenant: 4 },
    async run(ctx, item) {
      const sweep = await openSweep(ctx.tx, item)
      if (sweep === undefined) return
      try {
        await drivers.beat(ctx.tx, sweep)
        const driver = await drivers.of(ctx.tx, sweep)
        const isNeeded = await compareAll(ctx, item, sweep, driver)
        await closeSweep(ctx.tx, item, sweep.began_at, { isNeeded, wakesSweep: driver.wakesSweep === true })
      } catch (error) {
        const seconds = sweepAgainSeconds(sweep.failures)
        if (error instanceof NotNow) await putOffSweep(ctx.tx, item, seconds, undefined)
        else if (error instanceof TargetError) await putOffSweep(ctx.tx, item, seconds, error.message)
        else throw error
      }
    },
  }
}

/**
 * Returns whether another sweep is needed: there was something to compare; or, if the target makes its sweep due by itself, something that differs
 * or has drifted. For the rest, nothing can differ before the target or the ledger changes.
 */
async function compareAll(ctx: WorkCtx, item: WorkItem, sweep: Sweep, driver: Driver): Promise<boolean> {
  const list = driver.discover?.bind(driver)
  const days = list === undefined ? checkedDays : watchedDays
  let after: string | undefined
  let isNeeded = false
  for (;;) {
    const known = await findCompared(ctx.tx, sweep, after, days)
    const last = known.at(-1)
    if (last === undefined) return isNeeded
    const suspects = list === undefined ? known.map(({ id }) => id) : await findAtOdds(ctx, item, sweep, known, list)
    if (suspects.length > 0) await suspect(ctx.tx, item, suspects, spreadSeconds(suspects.length))
    isNeeded ||= !driver.wakesSweep || suspects.length > 0 || known.some(({ drifted }) => drifted)
    if (known.length < maxCompared) return isNeeded
    after = last.id
  }
}

/** The ids of entitlements whose state at the target differs from the ledger. Only a list that was read to its end counts. */
async function findAtOdds(
  ctx: WorkCtx,
  item: WorkItem,
  sweep: Sweep,
  known: readonly Compared[],
  list: Listing,
): Promise<string[]> {
  const missing = new Map(known.map((one) => [one.key, one]))
  const added: string[] = []
  for await (const page of pages(ctx.tx, known, list)) {
    const others: Sighting[] = []
    for (const sighting of page) {
      const one = missing.get(sighting.key)
      if (one === undefined) others.push(sighting)
      else if (!one.present || one.due) added.push(one.id)
      missing.delete(sighting.key)
    }
    if (others.length > 0) added.push(...(await findAdded(ctx, item, sweep, others)))
  }
  const removed = [...missing.values()].filter(({ present, due }) => present || due).map(({ id }) => id)
  return [...removed, ...added]
}

/**
 * Of the listed access that is not among those compared: the entitlements that the ledger has as revoked. Access that is not
 * in the ledger at all is saved and reported.
 */
async function findAdded(ctx: WorkCtx, item: WorkItem, sweep: Sweep, others: readonly Sighting[]): Promise<string[]> {
  const inLedger = await findByKey(
    ctx.tx,
    sweep,
    others.map(({ key }) => key),
  )
  const keys = new Set(inLedger.map(({ key }) => key))
  const strays = others.filter(({ key }) => !keys.has(key))
  if (strays.length > 0) await saveStrays(ctx, item, sweep, strays)
  return inLedger.filter(({ present }) => !present).map(({ id }) => id)
}

/** The pages of the target's list, each with a time limit. */
function pages(tx: Tx, known: readonly Compared[], list: Listing): AsyncGenerator<readonly Sighting[]> {
  const sightings = known.map(({ key, target }) => ({ key, target }))
  return pagesInTime(maxPageMs, (signal) => list(tx, sightings, signal))
}
