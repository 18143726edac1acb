import { sql } from '../db/sql.ts'
import type { Database } from '../db/transaction.ts'
import { type Statement, systemActor, type WorkCtx } from '../kernel/context.ts'
import { type Loop, startLoop } from './loop.ts'

/**
 * Tables that are their own work list: `next_look_at` says when a row next needs a look, `lease_until` who has it until
 * when, `generation` fences whoever lost it.
 */
export type WorkTable = 'access_request' | 'access_grant' | 'entitlement'

/** A row whose moment has come, claimed: ours until the lease ends, as long as the generation is still this one. */
export type WorkItem = { tenant_id: string; id: string; generation: string }

/** What is done about the rows of one table. INVARIANT: every write of `run` is guarded by the item's generation. */
export type DueWork = {
  table: WorkTable
  run(ctx: WorkCtx, item: WorkItem): Promise<void>
}

export type FailedWork = (table: WorkTable, item: WorkItem, error: unknown) => void

const tables: Record<WorkTable, Statement> = {
  access_request: sql`access_request`,
  access_grant: sql`access_grant`,
  entitlement: sql`entitlement`,
}

const leaseSeconds = 20
const heartbeatMs = 5_000

/** Claims at most `limit` rows that are due; rows that another process holds are passed over. */
async function claimDue(database: Database, table: WorkTable, limit: number): Promise<WorkItem[]> {
  const name = tables[table]
  const [items] = await database.work.write([
    sql<WorkItem>`with due as (
        select tenant_id, id from ${name} where next_look_at <= clock_timestamp()
          and (lease_until is null or lease_until <= clock_timestamp())
        order by next_look_at limit ${limit} for update skip locked)
      update ${name} w set generation = w.generation + 1,
        lease_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      from due where w.tenant_id = due.tenant_id and w.id = due.id
      returning w.tenant_id, w.id, w.generation::text`,
  ])
  return items
}

/** Milliseconds until the next row is due, by the database's clock; undefined when none is. */
async function msToNextDue(database: Database): Promise<number | undefined> {
  const next = (name: Statement) => sql`(select next_look_at from ${name}
    where next_look_at is not null and (lease_until is null or lease_until <= clock_timestamp())
    order by next_look_at limit 1)`
  const [row] = await database.work.read(
    sql<{ ms: number | null }>`select extract(epoch from least(${next(tables.access_request)},
      ${next(tables.access_grant)}, ${next(tables.entitlement)}) - clock_timestamp())::float8 * 1000 as ms`,
  )
  return row?.ms ?? undefined
}

/**
 * Does what is due, in every table, at most `width` rows of one at a time; a slow row holds up no other. `wake` it when
 * something was written; by itself it looks at the next moment, and every second for what other processes wrote.
 */
export function startDueWork(
  database: Database,
  works: readonly DueWork[],
  width: number,
  onFault: (error: unknown) => void,
  onFailure: FailedWork,
): Loop {
  const underWay = new Map<WorkTable, Set<Promise<void>>>(works.map((work) => [work.table, new Set()]))
  const takeUp = async (work: DueWork) => {
    const mine = underWay.get(work.table) ?? new Set()
    const free = width - mine.size
    const items = free > 0 ? await claimDue(database, work.table, free) : []
    for (const item of items) {
      const doing = doItem(database, work, item, onFailure).finally(() => {
        mine.delete(doing)
        loop.wake()
      })
      mine.add(doing)
    }
  }
  const turn = async () => {
    await Promise.all(works.map(takeUp))
    return Math.max(0, Math.ceil((await msToNextDue(database)) ?? Number.MAX_SAFE_INTEGER))
  }
  const loop = startLoop(turn, onFault)
  return {
    wake: loop.wake,
    stop: async () => {
      await loop.stop()
      await Promise.all([...underWay.values()].flatMap((mine) => [...mine]))
    },
  }
}

async function doItem(database: Database, work: DueWork, item: WorkItem, onFailure: FailedWork): Promise<void> {
  const heartbeat = setInterval(() => {
    extendLease(database, work.table, item).catch((error: unknown) => onFailure(work.table, item, error))
  }, heartbeatMs)
  const tx = database.tenant(item.tenant_id)
  try {
    await work.run({ tx, actor: systemActor, request_id: `${work.table}:${item.id}` }, item)
  } catch (error) {
    onFailure(work.table, item, error)
    await tx.write([postpone(work.table, item)]).catch((again: unknown) => onFailure(work.table, item, again))
  } finally {
    clearInterval(heartbeat)
  }
}

async function extendLease(database: Database, table: WorkTable, item: WorkItem): Promise<void> {
  await database.work.write([
    sql`update ${tables[table]} set lease_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      where tenant_id = ${item.tenant_id} and id = ${item.id} and generation = ${item.generation}::bigint
        and lease_until is not null`,
  ])
}

/** After a fault of ours: given back, to be looked at again a little later, so that a broken row does not spin. */
function postpone(table: WorkTable, item: WorkItem): Statement {
  return sql`update ${tables[table]} set lease_until = null, next_look_at = clock_timestamp() + interval '5 seconds'
    where tenant_id = ${item.tenant_id} and id = ${item.id} and generation = ${item.generation}::bigint
      and next_look_at is not null`
}
