import { type List, readListPage, testOf } from '../db/list-page.ts'
import { eventsSettledTo } from '../db/settled.ts'
import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import type { AuditEvent, AuditFilters } from './audit-event.ts'

type EventRow = Omit<AuditEvent, 'actor' | 'subject'> & {
  actor_kind: AuditEvent['actor']['kind']
  actor_id: string | null
  api_key_id: string | null
  subject_type: string
  subject_id: string
}

const record = {
  table: sql`event r`,
  partitioned: true as const,
  columns: sql`r.id, r.type, r.at, r.actor_kind, r.actor_id, r.api_key_id, r.subject_type, r.subject_id, r.data,
    r.request_id`,
}

/** One page of the events that are committed, newest first: in the order of writing, `seq`. */
export function listEventsPage(tx: Tx, filters: AuditFilters, page: PageRequest): Promise<PageRows<AuditEvent>> {
  const [seq, bigint] = [sql`r.seq`, sql`bigint`]
  return readEvents(
    tx,
    filters,
    {
      ...record,
      order: { by: seq, id: seq, types: [bigint, bigint], descending: true },
      range: rangeOf(tx, filters),
      filters: filtersOf(filters),
      tested: momentsOf(filters),
    },
    page,
  )
}

/**
 * One batch of events in the order of the commits, `(xid, seq)`, and only those that no open transaction can still precede. So a
 * reader that goes on after the last event it got misses none. Where few events match, a batch reads no more than others and is
 * short: `next` says where the next one begins.
 */
export function followEvents(tx: Tx, filters: AuditFilters, page: PageRequest): Promise<PageRows<AuditEvent>> {
  return readEvents(
    tx,
    filters,
    {
      ...record,
      order: { by: sql`r.xid`, id: sql`r.seq`, types: [sql`xid8`, sql`bigint`], descending: false },
      // Of a tenant that has nearly all events, PostgreSQL would read those of the others too, and drop them. Here it does not know.
      range: [
        sql`r.tenant_id = any(array[(select ${tx.tenant_id}::uuid)])`,
        sql`r.xid < ${eventsSettledTo(tx.tenant_id)}`,
      ],
      filters: [],
      tested: [...filtersOf(filters).map(testOf), ...momentsOf(filters)],
    },
    page,
  )
}

/** Where an event of this tenant is in the order of the commits; undefined where there is none with this id. */
export async function findPlace(tx: Tx, id: string): Promise<readonly string[] | undefined> {
  const [place] = await tx.read(
    sql<{ xid: string; seq: string }>`select xid::text, seq::text from event
      where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return place && [place.xid, place.seq]
}

async function readEvents(
  tx: Tx,
  { actor }: AuditFilters,
  list: List,
  page: PageRequest,
): Promise<PageRows<AuditEvent>> {
  // `me` of a key that no user made.
  if (actor?.length === 0) return { rows: [], next: undefined }
  const { rows, next } = await readListPage<EventRow>(tx, list, page)
  const events = rows.map(({ actor_kind, actor_id, api_key_id, subject_type, subject_id, ...row }) => ({
    ...row,
    actor: { kind: actor_kind, id: actor_id, api_key_id },
    subject: { type: subject_type, id: subject_id },
  }))
  return { rows: events, next }
}

/** Each has an index in the order of writing. */
function filtersOf({ subject, actor, type }: AuditFilters) {
  const [text, uuid] = [sql`text`, sql`uuid`]
  return [
    subject === undefined ? [] : [{ column: sql`r.subject_id`, type: text, values: [...new Set(subject)] }],
    actor === undefined ? [] : [{ column: sql`r.actor_id`, type: uuid, values: [...new Set(actor)] }],
    type === undefined ? [] : [{ column: sql`r.type`, type: text, values: [...new Set<string>(type)] }],
  ].flat()
}

function momentsOf({ from, to }: AuditFilters): Statement[] {
  return [
    ...(from === undefined ? [] : [sql`r.at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql`r.at < ${to}::timestamptz`]),
  ]
}

/** By how much the database's clock may go back. */
const tolerance = sql`interval '1 minute'`

/**
 * The part of the order of writing in which events of these moments are. `at` follows that order but roughly: an event may get its
 * number before another and its moment after it, and the clock may be set back. So the part begins and ends a minute away, at
 * events that the index of `at` gives, and each event in it is tested. Under row-level security an index answers a comparison with the
 * value of a subquery, but none with an expression.
 */
function rangeOf(tx: Tx, { from, to }: AuditFilters): Statement[] {
  const event = sql`select e.seq from event e where e.tenant_id = ${tx.tenant_id}`
  const before = sql`${event} and e.at < ${from}::timestamptz - ${tolerance} order by e.at desc, e.seq desc limit 1`
  const after = sql`${event} and e.at >= ${to}::timestamptz + ${tolerance} order by e.at, e.seq limit 1`
  return [
    ...(from === undefined ? [] : [sql`r.seq > (select coalesce((${before}), 0))`]),
    ...(to === undefined ? [] : [sql`r.seq < (select coalesce((${after}), 9223372036854775807))`]),
  ]
}
