import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { type WorkTable, workTables } from '../jobs/claim.ts'
import type { Statement } from '../kernel/context.ts'

/** `seen_ms`: the latest moment at which a process of the service was there, null if none is known. */
export type ClockRow = { clock_ms: number; back_ms: number; ends_to_move: boolean; seen_ms: number | null }

const asMs = (moment: Statement) => sql`(extract(epoch from ${moment}) * 1000)::float8`

/** Reads the clock, and what is known of it, in one round trip. As the ordinary role without a tenant. */
export async function readClock(service: UnrestrictedTx): Promise<ClockRow> {
  const [row] = await service.read(sql<ClockRow>`select ${asMs(sql`clock_timestamp()`)} as clock_ms,
      i.clock_back_ms::float8 as back_ms, i.ends_to_move, (select ${asMs(sql`max(seen_at)`)} from process) as seen_ms
    from installation i`)
  if (row === undefined) throw new Error('the table `installation` has no row; restore the database from a backup')
  return row
}

/**
 * The clock went back by that many whole milliseconds: adds them to the total, and moves as far what waits for its moment. The ends of grants, and
 * what waits for them, are moved after it. Returns false, and does nothing, where the total is not the one that was read: another process was
 * faster. Run it as `sallyport_work`.
 */
export async function setBack(work: UnrestrictedTx, seen_back_ms: number, ms: number): Promise<boolean> {
  const [[added]] = await work.write([
    sql<{ added: true }>`update installation set clock_back_ms = clock_back_ms + ${ms}::bigint, ends_to_move = true,
        clock_back_xid = pg_current_xact_id()
      where clock_back_ms = ${seen_back_ms}::bigint returning true as added`,
    ...workTableNames.map((name) => moveLooks(name, ms)),
  ])
  return added !== undefined
}

const workTableNames = Object.keys(workTables) as WorkTable[]

const nextLease = sql`clock_timestamp() + interval '20 seconds'`

/** Access that a grant holds waits for the end of the grant. */
const holdsGrants = sql`exists (select from access_grant g where g.tenant_id = w.tenant_id and g.entitlement_id = w.id
  and g.status in ('pending', 'active'))`

/** A lease lasts no longer than one that begins now. `least` skips what is null. */
function moveLooks(name: WorkTable, ms: number): Statement {
  const waits = sql`w.next_look_at > clock_timestamp() ${name === 'entitlement' ? sql`and not ${holdsGrants}` : sql``}`
  return sql`update ${workTables[name]} w set
      next_look_at = case when ${waits} then w.next_look_at - make_interval(secs => ${ms}::float8 / 1000)
        else w.next_look_at end,
      lease_until = case when w.lease_until is not null then least(w.lease_until, ${nextLease}) end
    where exists (select from installation where clock_back_xid = pg_current_xact_id()) and w.next_look_at is not null
      and (w.lease_until > ${nextLease} or ${waits})`
}

/** All ends are moved, as of that total. Run it as `sallyport_work`. */
export function endsAreMoved(back_ms: number): Statement {
  return sql`update installation set ends_to_move = false where clock_back_ms = ${back_ms}::bigint and ends_to_move`
}
