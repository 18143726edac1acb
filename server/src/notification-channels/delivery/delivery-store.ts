import { isExactly } from '../../db/list-page.ts'
import { allOf, inIndexOrder, sql } from '../../db/sql.ts'
import { emit } from '../../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../../kernel/context.ts'
import type { PageRequest } from '../../kernel/page.ts'
import type { DeliveryRecord } from './delivery.ts'
import { deliveriesOf, triedFor } from './fan-out-store.ts'

/** `seq`: the event's sequence number. */
type Row = Omit<DeliveryRecord, 'recipient'> & { recipient: string; seq: string }

/** The records of the newest deliveries (as `d`) that satisfy these conditions. Only their rows are joined with others. */
function records(tx: Tx, conditions: Statement[], limit: number | null): Statement<Row> {
  return sql<Row>`select d.id, d.event_id, e.type as event_type, l.recipient, d.status, d.attempts, d.resends,
      d.last_error, d.last_response, d.created_at, d.attempted_at,
      greatest(d.next_attempt_at, case when d.status = 'pending' then l.next_look_at end) as next_attempt_at,
      case when d.status = 'delivered' then d.finished_at end as delivered_at, d.seq::text
    from (select d.* from delivery d where d.tenant_id = ${tx.tenant_id} and ${allOf(conditions)}
        order by d.seq desc, d.id desc limit ${limit}::bigint) d
      join delivery_lane l on l.tenant_id = d.tenant_id and l.id = d.lane_id
      join event e on e.tenant_id = d.tenant_id and e.id = d.event_id
    order by d.seq desc, d.id desc`
}

function shown({ recipient, seq: _seq, ...rest }: Row): DeliveryRecord {
  return { ...rest, ...(recipient !== '' && { recipient }) }
}

/** One page of a channel's deliveries, newest events first, each with its sort key. */
export async function listDeliveriesPage(
  tx: Tx,
  channel_id: string,
  status: string | undefined,
  page: PageRequest,
): Promise<{ place: [seq: string, id: string]; delivery: DeliveryRecord }[]> {
  const conditions = [sql`d.channel_id = ${channel_id}`]
  if (status !== undefined) conditions.push(isExactly(sql`d.status`, sql`(select ${status}::text)`))
  if (page.after !== undefined) {
    const [seq, id] = page.after
    conditions.push(sql`(d.seq, d.id) < (${seq}::bigint, ${id}::uuid)`)
  }
  const rows = await tx.read(inIndexOrder(records(tx, conditions, page.limit + 1)))
  return rows.map((row) => ({ place: [row.seq, row.id], delivery: shown(row) }))
}

/** One delivery of a channel. */
export async function findDelivery(tx: Tx, channel_id: string, id: string): Promise<DeliveryRecord | undefined> {
  const [row] = await tx.read(records(tx, [sql`d.channel_id = ${channel_id}`, sql`d.id = ${id}`], 1))
  return row && shown(row)
}

/**
 * Sends a finished delivery again at once, and emits an event. Undefined when there is no such delivery, when it is already
 * pending, or when its channel is switched off or no longer has its recipient.
 */
export async function resend(ctx: WorkCtx, channel_id: string, id: string): Promise<DeliveryRecord | undefined> {
  const { tx } = ctx
  const event = {
    type: 'notification_channel.resent',
    subject_type: 'notification_channel',
    subject_id: channel_id,
    data: { delivery_id: id },
  } as const
  const [changed, [row]] = await tx.write([
    // The queue is locked first, in the same order as its own runs.
    sql`with lane as materialized (
        select l.id, l.channel_type from delivery_lane l
        join notification_channel c on c.tenant_id = l.tenant_id and c.id = l.channel_id
        where l.tenant_id = ${tx.tenant_id} and c.id = ${channel_id} and c.enabled
          and (l.recipient = '' or c.config -> 'to_addresses' ? l.recipient)
          and l.id = (select lane_id from delivery where tenant_id = ${tx.tenant_id} and id = ${id})
        for no key update of l),
      changed as (
        update delivery d set status = 'pending', resends = resends + 1, finished_at = null,
          next_attempt_at = clock_timestamp(), give_up_at = clock_timestamp() + ${triedFor(sql`lane.channel_type`)}
        from lane where d.tenant_id = ${tx.tenant_id} and d.id = ${id} and d.lane_id = lane.id
          and d.finished_at is not null
        returning d.id, d.lane_id),
      woken as (
        update delivery_lane l set next_look_at = least(l.next_look_at, clock_timestamp())
        from changed where l.tenant_id = ${tx.tenant_id} and l.id = changed.lane_id),
      emitted as (${emit(ctx, event, sql`changed`)})
      select id from changed`,
    records(tx, [sql`d.channel_id = ${channel_id}`, sql`d.id = ${id}`], 1),
  ])
  return changed.length > 0 && row !== undefined ? shown(row) : undefined
}

/**
 * Makes the deliveries of a test message to an enabled, locked channel, and emits an event. Empty when a test is already
 * in flight.
 */
export async function insertTest(ctx: WorkCtx, channel_id: string): Promise<DeliveryRecord[]> {
  const { tx } = ctx
  const event = {
    type: 'notification_channel.tested',
    subject_type: 'notification_channel',
    subject_id: channel_id,
  } as const
  const events = sql`${emit(ctx, event, sql`free`)} returning id, type, subject_id, xid, seq, at`
  const lastTest = sql`select id from event where tenant_id = ${tx.tenant_id} and subject_id = ${channel_id}
    and type = 'notification_channel.tested' order by seq desc limit 1`
  const [made, rows] = await tx.write([
    sql`with free as (
        select where not exists (select from delivery
          where tenant_id = ${tx.tenant_id} and event_id = (${lastTest}) and finished_at is null)),
      ${deliveriesOf(tx, events, sql`c.id = ${channel_id}`)}
      select id from made`,
    records(tx, [sql`d.event_id = (${lastTest})`], null),
  ])
  return made.length > 0 ? rows.map(shown) : []
}
