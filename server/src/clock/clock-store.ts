import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { leaseSeconds, listRows, partsOf, type WorkTable, workTables } from '../jobs/claim.ts'
import type { Statement } from '../kernel/context.ts'

/** The database's clock, and what is known of it. */
export type ClockRow = {
  clock_ms: number
  /** By how much it was set back in all. */
  back_ms: number
  /** The latest moment that a process has read before, and the total at that time besides. */
  steady_ms: number
  ends_to_move: boolean
}

/** How far what was read last may be behind what is noted. */
const notedEveryMs = 5_000

/** Reads the clock, and notes from time to time how far it has come. Run it as `sallyport_work`. */
export async function readClock(work: UnrestrictedTx): Promise<ClockRow> {
  const [[row]] = await work.write([
    sql<ClockRow>`with clock as materialized (select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms),
      noted as (
        update installation i set clock_steady_ms = clock.now_ms + i.clock_back_ms from clock
        where i.clock_steady_ms < clock.now_ms + i.clock_back_ms - ${notedEveryMs}::float8)
      select clock.now_ms as clock_ms, i.clock_back_ms::float8 as back_ms, i.clock_steady_ms::float8 as steady_ms,
        i.ends_to_move
      from installation i, clock`,
  ])
  if (row === undefined) throw new Error('the table `installation` has no row; restore the database from a backup')
  return row
}

/**
 * The clock was set back by that many whole milliseconds: adds them to the total, so that ends are to be moved. Does nothing where the total is not
 * the one that was read: another process was faster. Run it as `sallyport_work`.
 */
export function addSetBack(seen_back_ms: number, ms: number): Statement {
  return sql`update installation set clock_back_ms = clock_back_ms + ${ms}::bigint, ends_to_move = true
    where clock_back_ms = ${seen_back_ms}::bigint`
}

/** All ends are moved, as of that total. Run it as `sallyport_work`. */
export function endsAreMoved(back_ms: number): Statement {
  return sql`update installation set ends_to_move = false where clock_back_ms = ${back_ms}::bigint and ends_to_move`
}

/** The most rows of a list that are looked at, those that are due first: what runs and what is retried is among them. */
const maxLookedAt = 20_000

/**
 * What waits by a clock that was set back waits no longer than by the new one: leases of processes that are gone, retries, and what comes again and
 * again. Safe to repeat: where nothing was set back, it changes little. One statement for each list, which skips rows that are being changed. Run
 * each as `sallyport_work`.
 */
export function shortenWaits(): Statement[] {
  return (Object.keys(workTables) as WorkTable[]).flatMap((table) =>
    (partsOf[table].length === 0 ? [undefined] : partsOf[table]).map((part) => {
      const { seconds, which, also } = waits[table] ?? {}
      const waitsLong = seconds !== undefined && sql`w.next_look_at > ${inSeconds(seconds)} and ${which ?? sql`true`}`
      const sooner =
        waitsLong && sql`, next_look_at = case when ${waitsLong} then ${inSeconds(seconds)} else w.next_look_at end`
      return sql`with clock as materialized (select clock_timestamp() as now),
        waiting as materialized (
          select w.tenant_id, w.id
          from (select tenant_id, id, next_look_at, lease_until from ${listRows(table, part)} next_look_at is not null
            order by next_look_at limit ${maxLookedAt}) first
          join ${workTables[table]} w on w.tenant_id = first.tenant_id and w.id = first.id, clock
          where w.lease_until > ${inSeconds(leaseSeconds)} or ${waitsLong || sql`false`}
          order by w.tenant_id, w.id for no key update of w skip locked)
        update ${workTables[table]} w set lease_until = case when w.lease_until is not null
            then least(w.lease_until, ${inSeconds(leaseSeconds)}) end ${sooner || sql``} ${also ?? sql``}
        from waiting, clock where w.tenant_id = waiting.tenant_id and w.id = waiting.id`
    }),
  )
}

const inSeconds = (seconds: number) => sql`clock.now + make_interval(secs => ${seconds})`

/** How long a row waits at most, and which rows those are. Access that a grant holds waits for the grant's end. */
const waits: Partial<Record<WorkTable, { seconds: number; which?: Statement; also?: Statement }>> = {
  access_grant: { seconds: 10 },
  entitlement: {
    seconds: 10,
    which: sql`not exists (select from access_grant g where g.tenant_id = w.tenant_id and g.entitlement_id = w.id
      and g.status = 'active')`,
    // A late effect is checked for no longer than after a call that ends now.
    also: sql`, may_land_until = case when w.may_land_until is not null
      then least(w.may_land_until, clock.now + interval '15 minutes') end`,
  },
  event_queue: { seconds: 10 },
  sync_run: { seconds: 60 },
  sweep: { seconds: 240 },
}
