import { idInOrder, sql } from '../../db/sql.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import { countOfRecipients, recipientsOf } from '../notification-channel-store.ts'
import { triedForHours } from './delivery.ts'

/** The deliveries that one statement makes at most, unless a single event has more recipients. */
const maxAtOnce = 5_000

/**
 * Makes the deliveries of these events, unless they exist. A channel is notified of events after its creation: of those that
 * its filters name, or of all when it has no filters.
 */
export async function insertDeliveries(tx: Tx, event_ids: readonly string[]): Promise<void> {
  const count = await countRecipients(tx)
  const batchSize = Math.max(1, Math.floor(maxAtOnce / Math.max(1, count)))
  for (let start = 0; count > 0 && start < event_ids.length; start += batchSize) {
    const events = sql`select id, type, subject_id, xid, seq, at from event
      where tenant_id = ${tx.tenant_id} and id = any(${event_ids.slice(start, start + batchSize)}::uuid[])`
    await tx.write([sql`with ${deliveriesOf(tx, events, wants)} select`])
  }
}

const wants = sql`c.created_at < e.at and (c.event_filters = '{}' or e.type = any(c.event_filters))
  and not (e.type = 'notification_channel.created' and e.subject_id = c.id::text)`

async function countRecipients(tx: Tx): Promise<number> {
  const [row] = await tx.read(
    sql<{ count: number }>`select ${countOfRecipients} as count
      from notification_channel c where c.tenant_id = ${tx.tenant_id} and c.enabled`,
  )
  return row?.count ?? 0
}

/**
 * Table expressions for a `with` clause. The last, `made`, has the deliveries of the events `emitted` (as `e`) for the enabled
 * channels (as `c`) that satisfy `isMeant`. A recipient queue without failures is due at once.
 */
export function deliveriesOf(tx: Tx, events: Statement, isMeant: Statement): Statement {
  return sql`emitted as (${events}),
    -- Held: a channel that is deleted at this moment is not notified, or its deletion removes what was made.
    channel as materialized (
      select c.id, c.channel_type, c.event_filters, c.created_at, ${recipientsOf} as recipients
      from notification_channel c where c.tenant_id = ${tx.tenant_id} and c.enabled for key share),
    meant as (
      select c.id as channel_id, c.channel_type, r.recipient, e.id as event_id, e.xid, e.seq
      from emitted e join channel c on ${isMeant}
        cross join lateral jsonb_array_elements_text(c.recipients) r (recipient)),
    lane as (
      insert into delivery_lane (tenant_id, id, channel_id, channel_type, recipient, next_look_at)
      select ${tx.tenant_id}::uuid, gen_random_uuid(), m.*, clock_timestamp()
      from (select distinct channel_id, channel_type, recipient from meant order by channel_id, recipient) m
      on conflict (tenant_id, channel_id, recipient) do update set next_look_at =
        case when delivery_lane.failures > 0 then delivery_lane.next_look_at
          else least(delivery_lane.next_look_at, clock_timestamp()) end
      returning id, channel_id, recipient),
    made as (
      insert into delivery (tenant_id, id, lane_id, channel_id, event_id, xid, seq, give_up_at)
      select ${tx.tenant_id}::uuid, ${idInOrder}, lane.id, m.channel_id, m.event_id, m.xid, m.seq,
        clock_timestamp() + ${triedFor(sql`m.channel_type`)}
      from meant m join lane using (channel_id, recipient)
      on conflict (tenant_id, event_id, lane_id) do nothing
      returning id, lane_id)`
}

/** How long deliveries of this channel type are retried. */
export function triedFor(channel_type: Statement): Statement {
  return sql`make_interval(hours => (${JSON.stringify(triedForHours)}::jsonb ->> ${channel_type})::integer)`
}

/**
 * Makes the recipient queues of channels due now, since the reason for their wait may be gone: the channel was changed,
 * deleted or tested. Locks them in the same order as the fan-out of events, to avoid a deadlock.
 */
export async function wakeQueues(tx: Tx, channel_ids: readonly string[]): Promise<void> {
  await tx.write([
    sql`with lane as (
        select id from delivery_lane
        where tenant_id = ${tx.tenant_id} and (channel_id = any(${[...channel_ids]}::uuid[]) or channel_id is null)
        order by channel_id, recipient for no key update)
      update delivery_lane l set next_look_at = least(l.next_look_at, clock_timestamp())
      from lane where l.tenant_id = ${tx.tenant_id} and l.id = lane.id`,
  ])
}
