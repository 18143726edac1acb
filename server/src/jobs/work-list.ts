import type { Database } from '../db/transaction.ts'
import { systemActor, type WorkCtx } from '../kernel/context.ts'
import { withinDeadline } from '../kernel/deadline.ts'
import { claimDue, extendLeases, type Part, postpone, releaseLeases, type WorkItem, type WorkTable } from './claim.ts'
import { type Bounds, type InFlight, trackInFlight } from './in-flight.ts'
import { type Loop, startLoop } from './loop.ts'

/** The job that processes the rows of one list. INVARIANT: every write of `run` is guarded by the item's generation. */
export type DueWork = {
  table: WorkTable
  /** Set if the table holds several lists. Revokes go first. */
  part?: Part
  /** Set if more or fewer rows than usual are in flight at once. */
  bounds?: Bounds
  /** Set if people wait for its rows: the list never rests. */
  isPrompt?: true
  /** `ended`: others wait, and the run gives way to them. Only with `bounds.long`. */
  run(ctx: WorkCtx, item: WorkItem, ended?: AbortSignal): Promise<void>
}

export type FailedWork = (table: WorkTable, item: WorkItem, error: unknown) => void

/** `isBehind`: more revokes are due than are in flight. Work that can wait lets them go first. */
export type DueWorkLoop = Loop & { isBehind(): boolean }

/** Revokes have connections of their own, so that no other work delays them. */
export type WorkDatabases = { takes: Database; others: Database }

/**
 * A list with its rows in flight; by the clock of `performance`: when it was last claimed, when rows of it were last found, when its
 * next row is due, and since when one waits for which there is no place.
 */
type WorkList = {
  work: DueWork
  database: Database
  inFlight: InFlight
  claimedAt: number
  foundAt: number
  dueAt: number
  waitsSince: number | undefined
}

/**
 * A list where nothing was found for `restingMs`, and nothing is due, is claimed at most once in `restMs`, however often the loop is woken
 * for others.
 */
const [restingMs, restMs] = [200, 50]

const never = Number.NEGATIVE_INFINITY

/** The lease lasts 20 s. */
const heartbeatMs = 5_000

/** Rows that are not done this long after the stop are released. */
const maxFinishMs = 5_000

/** The other lists run at least once in this many ticks, even if many revokes are due. */
const ticksUntilOthers = 16

/** A due row without a place here for so long was not claimed by another process either. */
const waitsMs = 900

/** Due rows that another transaction has locked are claimed again after this. */
const lockedMs = 10

/**
 * Processes the due rows of every list, at most `width` rows of a list at a time unless the list has its own bounds. A slow row
 * delays no other row, and a slow tenant delays no other tenant. Call `wake` after a write. By itself the loop runs when the
 * next row is due, when a row is done, and every second for rows that other processes wrote. `onDone` is called after each row.
 */
export function startDueWork(
  databases: WorkDatabases,
  works: readonly DueWork[],
  width: number,
  onFault: (error: unknown) => void,
  onFailure: FailedWork,
  onDone: () => void = () => undefined,
): DueWorkLoop {
  const lists: WorkList[] = works.map((work) => {
    const bounds = work.bounds ?? { width, perTenant: width }
    const database = work.part === 'takes' ? databases.takes : databases.others
    const inFlight = trackInFlight(bounds, database.tenant, () => loop.wake())
    return { work, database, inFlight, claimedAt: never, foundAt: never, dueAt: never, waitsSince: undefined }
  })
  const revokes = lists.filter(({ work }) => work.part === 'takes')
  const others = lists.filter(({ work }) => work.part !== 'takes')
  const start = ({ work, inFlight }: WorkList, item: WorkItem) =>
    inFlight.add(item, async (tx, ended) => {
      const ctx = { tx, actor: systemActor, request_id: `${work.table}:${item.id}` }
      await runItem(ctx, work, { item, ended }, onFailure)
      // At its claim it was unknown when the row is due again and what else it makes due.
      loop.wakeSoon()
      onDone()
    })
  /** Whether more revokes are due than were claimed, and the tenants of which no more are claimed for now. */
  let left = true
  let backedUp: string[] = []
  let ticksWithoutOthers = 0

  const runRevokes = async () => {
    ticksWithoutOthers += 1
    const claimed = await claimAndStart(databases.takes, revokes, [], start)
    left = claimed.left
    backedUp = revokes.flatMap(({ inFlight }) => inFlight.fullTenants())
    otherLoop.wake()
    return claimed.wait
  }
  const runOthers = async () => {
    if (left && ticksWithoutOthers < ticksUntilOthers) return Number.MAX_SAFE_INTEGER
    ticksWithoutOthers = 0
    return (await claimAndStart(databases.others, others, backedUp, start)).wait
  }
  // Two loops: if no connection is free for the other lists, revokes do not wait for one.
  const otherLoop = startLoop(runOthers, onFault)
  const loop = startLoop(runRevokes, onFault)
  const heartbeat = setInterval(() => {
    for (const { work, database, inFlight } of lists) {
      const items = inFlight.olderThan(heartbeatMs - 1_000)
      if (items.length > 0) extendLeases(database, work.table, items).catch(onFault)
    }
  }, heartbeatMs)

  return {
    wake: loop.wake,
    wakeInTurn: loop.wakeInTurn,
    wakeSoon: loop.wakeSoon,
    isBehind: () => left || backedUp.length > 0,
    async stop() {
      await Promise.all([loop.stop(), otherLoop.stop()])
      const allDone = () => Promise.all(lists.map(({ inFlight }) => inFlight.allDone()))
      await withinDeadline<unknown>(maxFinishMs, allDone, () => undefined)
      clearInterval(heartbeat)
      for (const { work, database, inFlight } of lists) {
        const items = inFlight.olderThan(0)
        if (items.length > 0) await releaseLeases(database, work.table, items).catch(onFault)
      }
    },
  }
}

/**
 * Claims as many rows of each list as there is room for, and starts them. Returns whether more is due, and the milliseconds
 * until the next claim. `backedUp`: tenants with so many revokes due that no access is given to them meanwhile.
 */
async function claimAndStart(
  database: Database,
  lists: readonly WorkList[],
  backedUp: readonly string[],
  start: (list: WorkList, item: WorkItem) => void,
): Promise<{ left: boolean; wait: number }> {
  const now = performance.now()
  const resting = lists.filter((list) => isResting(list, now))
  const asked = lists.flatMap((list) => {
    if (resting.includes(list)) return []
    const { table, part } = list.work
    const without = [...list.inFlight.fullTenants(), ...(part === 'gives' ? backedUp : [])]
    const claimRequest = { table, part, ...list.inFlight.room(), without }
    // A list whose rows may give way is asked in any case whether others wait.
    return claimRequest.max > 0 || list.work.bounds?.long !== undefined ? [{ list, claimRequest }] : []
  })
  const claimRequests = asked.map(({ claimRequest }) => claimRequest)
  const claims = claimRequests.length > 0 ? await claimDue(database, claimRequests) : []
  const claimedAt = performance.now()
  const waits = asked.map(({ list, claimRequest }, index) => {
    const { items = [], left = false, ms = null } = claims[index] ?? {}
    const isWaitedFor = left && claimRequest.max === 0
    noteWaiting(list, isWaitedFor, claimedAt)
    list.claimedAt = claimedAt
    list.dueAt = claimedAt + (ms ?? Number.MAX_SAFE_INTEGER)
    if (items.length > 0) list.foundAt = claimedAt
    for (const item of items) start(list, item)
    // The end of a row wakes the loop.
    if (isWaitedFor) return Number.MAX_SAFE_INTEGER
    if (left) return items.length > 0 ? 0 : lockedMs
    return ms === null ? Number.MAX_SAFE_INTEGER : Math.max(0, Math.ceil(ms))
  })
  const rests = resting.map((list) => Math.ceil(restOf(list) - now))
  return { left: claims.some(({ left }) => left), wait: Math.min(Number.MAX_SAFE_INTEGER, ...waits, ...rests) }
}

/** Makes room in the list where a row has waited for a place long enough. */
function noteWaiting(list: WorkList, isWaitedFor: boolean, now: number): void {
  if (!isWaitedFor) {
    list.waitsSince = undefined
    return
  }
  list.waitsSince ??= now
  if (now - list.waitsSince > waitsMs) list.inFlight.makeRoom()
}

/** When the list's rest is over. */
function restOf({ claimedAt, dueAt }: WorkList): number {
  return Math.min(dueAt, claimedAt + restMs)
}

function isResting(list: WorkList, now: number): boolean {
  return !list.work.isPrompt && now - list.foundAt > restingMs && now < restOf(list)
}

async function runItem(
  ctx: WorkCtx,
  work: DueWork,
  { item, ended }: { item: WorkItem; ended: AbortSignal },
  onFailure: FailedWork,
): Promise<void> {
  try {
    await work.run(ctx, item, ended)
  } catch (error) {
    onFailure(work.table, item, error)
    await ctx.tx.write([postpone(work.table, item)]).catch((again: unknown) => onFailure(work.table, item, again))
  }
}
