import type { Statement } from '../kernel/context.ts'
import { sql } from './sql.ts'

/** The oldest transaction that is open anywhere on the server. All before it are over. */
const oldestOpen = sql`pg_snapshot_xmin(pg_current_snapshot())`

/** A row that waits this long waits for a long transaction. Only then is it worth a look at who that is. */
const late = sql`interval '100 milliseconds'`

/**
 * The open transactions of other databases, which cannot have written here: numbers modulo 2^32, as `pg_locks` has them. A transaction without
 * its entry yet is not among them, so it counts as one of this database.
 */
const elsewhere = sql`select l.transactionid::text::bigint from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted and a.datname <> current_database()`

/**
 * The oldest transaction that is open in this database. It costs about 0.2 ms.
 *
 * That all before it are over stays true, but a later evaluation may give less: one of another database that ends after the snapshot and before
 * `pg_locks` is read has no entry either. So who tells another of a row tells the value, too.
 */
export const oldestOpenHere = sql`select coalesce(min(open.xid), pg_snapshot_xmax(pg_current_snapshot()))
    from pg_snapshot_xip(pg_current_snapshot()) as open (xid)
    where open.xid::text::bigint % 4294967296 <> all(array(${elsewhere}))`

/**
 * The transaction, an `xid8`, before which the order of the commits of this database is final: no row that is not visible yet can come
 * before it. A transaction that is open in another database of the server holds up nothing. `firstAhead`: the time of the first row, in
 * that order, that is not before `oldestOpen`.
 *
 * Use it once in a statement: a second evaluation may know of more, or of less.
 */
function settledTo(firstAhead: Statement): Statement {
  return sql`(select case when (${firstAhead}) < statement_timestamp() - ${late}
    then (${oldestOpenHere}) else ${oldestOpen} end)`
}

/** The same for the events of one tenant; without a tenant, for those of all, as `sallyport_work` sees them. */
export function eventsSettledTo(tenant_id?: string): Statement {
  const ofTenant = tenant_id === undefined ? sql`` : sql`tenant_id = ${tenant_id}::uuid and`
  return settledTo(sql`select at from event where ${ofTenant} xid >= ${oldestOpen} order by xid, seq limit 1`)
}
