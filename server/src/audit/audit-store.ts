import { allOf, sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { AuditEvent, AuditFilters } from './audit-event.ts'

type EventRow = Omit<AuditEvent, 'actor' | 'subject'> & {
  seq: string
  actor_kind: AuditEvent['actor']['kind']
  actor_id: string | null
  api_key_id: string | null
  subject_type: string
  subject_id: string
}

/** An event and its place in the order of writing. */
export type PlacedEvent = { seq: string; event: AuditEvent }

/** At most `limit` events on one side of `after` (exclusive), newest or oldest first. */
export async function listEvents(
  tx: Tx,
  filters: AuditFilters,
  order: 'newest first' | 'oldest first',
  after: string | undefined,
  limit: number,
): Promise<PlacedEvent[]> {
  const newest = order === 'newest first'
  const conditions = [sql`tenant_id = ${tx.tenant_id}`, ...conditionsOf(filters)]
  if (after !== undefined) conditions.push(newest ? sql`seq < ${after}::bigint` : sql`seq > ${after}::bigint`)
  const rows = await tx.read(sql<EventRow>`select id, seq::text, type, at, actor_kind, actor_id, api_key_id,
      subject_type, subject_id, data, request_id
    from event where ${allOf(conditions)} order by event.seq ${newest ? sql`desc` : sql`asc`} limit ${limit}`)
  return rows.map(({ seq, actor_kind, actor_id, api_key_id, subject_type, subject_id, ...row }) => ({
    seq,
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
