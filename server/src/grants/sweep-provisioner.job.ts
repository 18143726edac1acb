import type { WorkItem } from '../jobs/claim.ts'
import { slowAfterMs } from '../jobs/in-flight.ts'
import type { DueWork } from '../jobs/work-list.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { type Driver, NotNow, type Sighting, TargetError } from '../provisioners/driver.ts'
import type { Drivers } from '../provisioners/drivers.ts'
import { pagesInTime } from '../provisioners/in-time.ts'
import {
  endOrphans,
  forgetForeign,
  forgetGone,
  hasOrphansToEnd,
  saveForeign,
  saveGivenAgain,
  seeAgain,
} from './orphan-store.ts'
import {
  checkedDays,
  longSweeps,
  maxCompared,
  type Sweep,
  spreadSeconds,
  sweepAgainSeconds,
  watchedDays,
} from './sweep.ts'
import {
  type Compared,
  closeSweep,
  findByKey,
  findCompared,
  letOthersSweep,
  openSweep,
  putOffSweep,
  saveStrays,
  suspect,
} from './sweep-store.ts'

type Listing = NonNullable<Driver['discover']>

/** `ended`: the sweep gives way to others. */
type SweepCtx = WorkCtx & { ended: AbortSignal | undefined }

/** A page of a list may wait for the target's own rate limit. */
const maxPageMs = 120_000

/**
 * Compares what a provisioner's target holds with the ledger, some thousands at once. It decides nothing: where they differ,
 * it makes the entitlement due for a check that reads the target itself. If the target has no list, each entitlement is checked.
 */
export function sweepProvisioner(drivers: Drivers): DueWork {
  return {
    table: 'sweep',
    bounds: { width: 8, perTenant: 4, long: longSweeps },
    async run(workCtx, item, ended) {
      const ctx = { ...workCtx, ended }
      const sweep = await openSweep(ctx.tx, item)
      if (sweep === undefined) return
      const beganAt = performance.now()
      try {
        const isClaimed = await drivers.beat(ctx.tx, sweep)
        const driver = await drivers.of(ctx.tx, sweep)
        const differs = await compareAll(ctx, item, sweep, driver)
        const hasOrphans = await handleOrphans(ctx, item, sweep, { isClaimed, lists: driver.discover !== null })
        // What is ours is ended first: the list may take long.
        const isListed = !hasOrphans && (await listForeign(ctx, item, sweep, driver))
        const epoch = isListed ? sweep.epoch : undefined
        const isNeeded = differs || !isListed
        await closeSweep(ctx.tx, item, sweep.began_at, { isNeeded, wakesSweep: driver.wakesSweep === true, epoch })
      } catch (error) {
        const seconds = sweepAgainSeconds(sweep.failures)
        if (error instanceof NotNow) await putOffSweep(ctx.tx, item, seconds, undefined)
        else if (error instanceof TargetError) await putOffSweep(ctx.tx, item, seconds, error.message)
        else throw error
      }
      // Otherwise a tenant with many slow targets takes each place again that it leaves.
      if (performance.now() - beganAt > slowAfterMs) await letOthersSweep(ctx.tx, item)
    },
  }
}

/**
 * Returns whether another sweep is needed: there was something to compare; or, if the target makes its sweep due by itself, something that differs
 * or has drifted. For the rest, nothing can differ before the target or the ledger changes.
 */
async function compareAll(ctx: SweepCtx, item: WorkItem, sweep: Sweep, driver: Driver): Promise<boolean> {
  const list = driver.discover?.bind(driver)
  const days = list === undefined ? checkedDays : watchedDays
  let after: string | undefined
  let isNeeded = false
  for (;;) {
    const known = await findCompared(ctx.tx, sweep, after, days)
    const last = known.at(-1)
    // Where history was lost, a target may hold what is not known.
    const isListed = (sweep.is_whole || sweep.has_orphans) && list !== undefined && after === undefined
    if (last === undefined && !isListed) return isNeeded
    const suspects = list === undefined ? known.map(({ id }) => id) : await findAtOdds(ctx, item, sweep, known, list)
    if (suspects.length > 0) await suspect(ctx.tx, item, suspects, spreadSeconds(suspects.length))
    isNeeded ||= !driver.wakesSweep || suspects.length > 0 || known.some(({ drifted }) => drifted)
    if (last === undefined || known.length < maxCompared) return isNeeded
    after = last.id
  }
}

/** Returns whether another sweep is needed for what an earlier epoch gave: to see it again, or to see it gone. */
async function handleOrphans(
  ctx: WorkCtx,
  item: WorkItem,
  sweep: Sweep,
  { isClaimed, lists }: { isClaimed: boolean; lists: boolean },
): Promise<boolean> {
  if (!sweep.is_whole && !sweep.has_orphans) return false
  // Without a claim, another one that acts there is not seen, and what it gave would look lost.
  if (isClaimed || sweep.is_adopted) await endOrphans(ctx, item, sweep)
  await forgetGone(ctx, item, sweep, lists)
  return hasOrphansToEnd(ctx.tx, sweep.provisioner_id)
}

/** Lists what sets of others give, once in an epoch. False: the target does not let us, and the next sweep tries again. */
async function listForeign({ tx, ended }: SweepCtx, item: WorkItem, sweep: Sweep, driver: Driver): Promise<boolean> {
  const list = sweep.is_whole ? driver.discoverForeign?.bind(driver) : undefined
  if (list === undefined) return true
  try {
    for await (const page of pagesInTime(maxPageMs, (signal) => list(signal), ended)) {
      if (page.length > 0) await saveForeign(tx, item, sweep, page)
    }
  } catch (error) {
    // Nothing is ended by this list: it must not stop the sweep, unless that gives way to others.
    if (ended?.aborted || !(error instanceof TargetError || error instanceof NotNow)) throw error
    return false
  }
  await forgetForeign(tx, item, sweep)
  return true
}

/** The ids of entitlements whose state at the target differs from the ledger. Only a list that was read to its end counts. */
async function findAtOdds(
  ctx: SweepCtx,
  item: WorkItem,
  sweep: Sweep,
  known: readonly Compared[],
  list: Listing,
): Promise<string[]> {
  const byKey = new Map(known.map((one) => [one.key, one]))
  const missing = new Map(byKey)
  const added: string[] = []
  for await (const page of pages(ctx, known, list)) {
    const others: Sighting[] = []
    for (const sighting of page) {
      const one = missing.get(sighting.key)
      if (one === undefined) others.push(sighting)
      else if (!one.present || one.due || sighting.changed) added.push(one.id)
      missing.delete(sighting.key)
    }
    await saveGivenAgain(ctx.tx, item, sweep, doubtfulAmong(page, byKey))
    if (sweep.has_orphans && page.length > 0) await seeAgain(ctx.tx, item, sweep, page.map(keyOf))
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
  const byKey = new Map(inLedger.map((one) => [one.key, one]))
  const strays = others.filter(({ key }) => !byKey.has(key))
  if (strays.length > 0) await saveStrays(ctx, item, sweep, strays)
  await saveGivenAgain(ctx.tx, item, sweep, doubtfulAmong(others, byKey))
  return inLedger.filter(({ present }) => !present).map(({ id }) => id)
}

/** The pages of the target's list, each with a time limit. */
function pages(
  { tx, ended }: SweepCtx,
  known: readonly Compared[],
  list: Listing,
): AsyncGenerator<readonly Sighting[]> {
  const wanted = known.map((one) => {
    const { key, target, given_until_ms = null } = one
    const given_until = given_until_ms === null ? null : new Date(given_until_ms)
    return { key, target, given_until, is_doubtful: isDoubtful(one) }
  })
  return pagesInTime(maxPageMs, (signal) => list(tx, wanted, signal), ended)
}

function keyOf({ key }: Sighting): string {
  return key
}

/** A grant that history lost may have given it. */
function isDoubtful({ present, foreign }: Compared): boolean {
  return !present || foreign
}

/** What was seen of entitlements that a lost grant may have given, under their ids. */
function doubtfulAmong(page: readonly Sighting[], kept: ReadonlyMap<string, Compared>): (Sighting & { id: string })[] {
  return page.flatMap((one) => {
    const entitlement = kept.get(one.key)
    return entitlement !== undefined && isDoubtful(entitlement) ? { ...one, id: entitlement.id } : []
  })
}
