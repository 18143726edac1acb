import { sql } from '../../db/sql.ts'
import type { Statement } from '../../kernel/context.ts'
import { channelTypes } from './delivery.ts'

const maxCounted = 10_000

/** Deliveries that wait to be sent, across tenants: at most `maxCounted` are counted. */
export type WaitingDeliveries = { waiting: number; oldest_seconds: number }

/** For the database role `sallyport_work`. */
export function waitingDeliveries(): Statement<WaitingDeliveries> {
  return sql<WaitingDeliveries>`select count(*)::integer as waiting,
      coalesce(extract(epoch from statement_timestamp() - min(created_at))::float8, 0) as oldest_seconds
    from (select created_at from delivery where finished_at is null order by created_at limit ${maxCounted}) waiting`
}

export type HeldUpQueues = { channel_type: string; held_up: number }

/** Recipient queues whose last attempt failed; for the database role `sallyport_work`. */
export function heldUpQueues(): Statement<HeldUpQueues> {
  return sql<HeldUpQueues>`select t.channel_type, count(l.held)::integer as held_up
    from unnest(${channelTypes}::text[]) t (channel_type)
    left join lateral (select true as held from delivery_lane l
      where l.channel_type = t.channel_type and l.failures > 0 limit ${maxCounted}) l on true
    group by t.channel_type`
}
