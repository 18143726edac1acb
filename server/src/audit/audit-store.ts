import { allOf, sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { AuditEvent, AuditFilters } from './audit-event.ts'

type EventRow = Omit<AuditEvent, 'actor' | 'subject'> & {
  xid: string
  seq: string
  actor_kind: AuditEvent['actor']['kind']
  actor_id: string | null
  api_key_id: string | null
  subject_type: string
  subject_id: string
}

/** The place of an event: `seq` is the order of writing, `(xid, seq)` that of the commits. */
export type Place = { xid: string; seq: string }

export type PlacedEvent = { place: Place; event: AuditEvent }

/** At most `limit` events that were written before `before`, newest first: all that are committed. */
export function listEvents(
  tx: Tx,
  filters: AuditFilters,
  before: string | undefined,
  limit: number,
): Promise<PlacedEvent[]> {
  const place = before === undefined ? sql`true` : sql`seq < ${before}::bigint`
  return readEvents(tx, filters, place, sql`order by event.seq desc limit ${limit}`)
}

/**
 * At most `limit` events after a place, in the order of the commits, and only those that no open transaction can still precede. So
 * a reader that goes on after the last event it got misses none.
 */
export function followEvents(
  tx: Tx,
  filters: AuditFilters,
  after: Place | undefined,
  limit: number,
): Promise<PlacedEvent[]> {
  const { xid, seq } = after ?? { xid: '0', seq: '0' }
  const place = sql`(xid, seq) > (${xid}::xid8, ${seq}::bigint) and xid < pg_snapshot_xmin(pg_current_snapshot())`
  return readEvents(tx, filters, place, sql`order by event.xid, event.seq limit ${limit}`)
}

/** Where an event of this tenant is; undefined where there is none with this id. */
export async function findPlace(tx: Tx, id: string): Promise<Place | undefined> {
  const [place] = await tx.read(
    sql<Place>`select xid::text, seq::text from event where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return place
}

async function readEvents(tx: Tx, filters: AuditFilters, place: Statement, order: Statement): Promise<PlacedEvent[]> {
  const conditions = [sql`tenant_id = ${tx.tenant_id}`, ...conditionsOf(filters), place]
  const rows = await tx.read(sql<EventRow>`select id, xid::text, seq::text, type, at, actor_kind, actor_id,
      api_key_id, subject_type, subject_id, data, request_id
    from event where ${allOf(conditions)} ${order}`)
  return rows.map(({ xid, seq, actor_kind, actor_id, api_key_id, subject_type, subject_id, ...row }) => ({
    place: { xid, seq },
    event: {
      ...row,
      actor: { kind: actor_kind, id: actor_id, api_key_id },
      subject: { type: subject_type, id: subject_id },
    },
  }))
}

function conditionsOf({ type, actor, subject, from, to }: AuditFilters): Statement[] {
  const conditions: Statement[] = []
  if (type !== undefined) conditions.push(sql`type = ${type}`)
  if (actor !== undefined) conditions.push(sql`actor_id = ${actor}`)
  if (subject !== undefined) conditions.push(sql`subject_id = ${subject}`)
  if (from !== undefined) conditions.push(sql`at >= ${from}`)
  if (to !== undefined) conditions.push(sql`at < ${to}`)
  return conditions
}
