import type { Database } from '../db/transaction.ts'
import { systemActor, type WorkCtx } from '../kernel/context.ts'
import { withinDeadline } from '../kernel/deadline.ts'
import { claimDue, extendLeases, type Part, postpone, releaseLeases, type WorkItem, type WorkTable } from './claim.ts'
import { type Bounds, type InFlight, trackInFlight } from './in-flight.ts'
import { type Loop, startLoop } from './loop.ts'

/** What is done about the rows of one list. INVARIANT: every write of `run` is guarded by the item's generation. */
export type DueWork = {
  table: WorkTable
  /** Where the table is two lists. What takes access away goes first. */
  part?: Part
  /** Where more or fewer are in hand at once than is usual. */
  bounds?: Bounds
  run(ctx: WorkCtx, item: WorkItem): Promise<void>
}

export type FailedWork = (table: WorkTable, item: WorkItem, error: unknown) => void

/** `isBehind`: more access is to be taken away than is in hand. What can wait lets that go first. */
export type DueWorkLoop = Loop & { isBehind(): boolean }

/** What takes access away has connections of its own, so that no other work delays it. */
export type WorkDatabases = { takes: Database; others: Database }

/** A list with what is in hand of it. */
type Worked = { work: DueWork; database: Database; hand: InFlight }

/** Against a lease of 20 s. */
const heartbeatMs = 5_000

/** What is not done so long after the stop is given back. */
const maxFinishMs = 5_000

/** However much there is to take away, the other lists come up every so many turns. */
const ticksUntilOthers = 16

/** Rows that are due and locked by somebody's transaction are looked for again after this. */
const lockedMs = 10

/**
 * Does what is due, in every list, at most `width` rows of one at a time where it does not say otherwise; a slow row holds
 * up no other, and a slow tenant no other. `wake` it when something was written; by itself it checks at the next moment
 * that a row is due, when a row is done, and every second for what other processes wrote. `onDone`: after each row.
 */
export function startDueWork(
  databases: WorkDatabases,
  works: readonly DueWork[],
  width: number,
  onFault: (error: unknown) => void,
  onFailure: FailedWork,
  onDone: () => void = () => undefined,
): DueWorkLoop {
  const worked: Worked[] = works.map((work) => {
    const bounds = work.bounds ?? { width, perTenant: width }
    const database = work.part === 'takes' ? databases.takes : databases.others
    return { work, database, hand: trackInFlight(bounds, database.tenant, () => loop.wake()) }
  })
  const first = worked.filter(({ work }) => work.part === 'takes')
  const others = worked.filter(({ work }) => work.part !== 'takes')
  const start = ({ work, hand }: Worked, item: WorkItem) =>
    hand.add(item, async (tx) => {
      await doItem({ tx, actor: systemActor, request_id: `${work.table}:${item.id}` }, work, item, onFailure)
      // The claim that took it could not know when it is due again, nor what else it made due.
      loop.wakeSoon()
      onDone()
    })
  /** Whether more is to be taken away than was claimed, and the tenants of which no more is claimed for now. */
  let left = true
  let backedUp: string[] = []
  let ticksWithoutOthers = 0

  const takeAway = async () => {
    ticksWithoutOthers += 1
    const taken = await takeUp(databases.takes, first, [], start)
    left = taken.left
    backedUp = first.flatMap(({ hand }) => hand.fullTenants())
    otherLoop.wake()
    return taken.wait
  }
  const doOthers = async () => {
    if (left && ticksWithoutOthers < ticksUntilOthers) return Number.MAX_SAFE_INTEGER
    ticksWithoutOthers = 0
    return (await takeUp(databases.others, others, backedUp, start)).wait
  }
  // Two loops: where there is no connection for the others, what takes access away does not wait for one.
  const otherLoop = startLoop(doOthers, onFault)
  const loop = startLoop(takeAway, onFault)
  const heartbeat = setInterval(() => {
    for (const { work, database, hand } of worked) {
      const items = hand.olderThan(heartbeatMs - 1_000)
      if (items.length > 0) extendLeases(database, work.table, items).catch(onFault)
    }
  }, heartbeatMs)

  return {
    wake: loop.wake,
    wakeSoon: loop.wakeSoon,
    isBehind: () => left || backedUp.length > 0,
    async stop() {
      await Promise.all([loop.stop(), otherLoop.stop()])
      const allDone = () => Promise.all(worked.map(({ hand }) => hand.allDone()))
      await withinDeadline<unknown>(maxFinishMs, allDone, () => undefined)
      clearInterval(heartbeat)
      for (const { work, database, hand } of worked) {
        const items = hand.olderThan(0)
        if (items.length > 0) await releaseLeases(database, work.table, items).catch(onFault)
      }
    },
  }
}

/**
 * Claims of each list what there is room for, and starts on it. Answers whether more is due, and milliseconds until it is
 * worth another look. `backedUp`: tenants that have so much to take away that nothing is given to them meanwhile.
 */
async function takeUp(
  database: Database,
  worked: readonly Worked[],
  backedUp: readonly string[],
  start: (worked: Worked, item: WorkItem) => void,
): Promise<{ left: boolean; wait: number }> {
  const asked = worked.flatMap((one) => {
    const { table, part } = one.work
    const without = [...one.hand.fullTenants(), ...(part === 'gives' ? backedUp : [])]
    const ask = { table, part, ...one.hand.room(), without }
    return ask.max > 0 ? [{ one, ask }] : []
  })
  const claimRequests = asked.map(({ ask }) => ask)
  const claims = claimRequests.length > 0 ? await claimDue(database, claimRequests) : []
  for (const [index, { one }] of asked.entries()) for (const item of claims[index]?.items ?? []) start(one, item)
  const waits = claims.map(({ items, left, ms }) => {
    if (left) return items.length > 0 ? 0 : lockedMs
    return ms === null ? Number.MAX_SAFE_INTEGER : Math.max(0, Math.ceil(ms))
  })
  return { left: claims.some(({ left }) => left), wait: Math.min(Number.MAX_SAFE_INTEGER, ...waits) }
}

async function doItem(ctx: WorkCtx, work: DueWork, item: WorkItem, onFailure: FailedWork): Promise<void> {
  try {
    await work.run(ctx, item)
  } catch (error) {
    onFailure(work.table, item, error)
    await ctx.tx.write([postpone(work.table, item)]).catch((again: unknown) => onFailure(work.table, item, again))
  }
}
