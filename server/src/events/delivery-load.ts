import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'

/** How far behind a subscriber is, counted up to `maxCounted` events. */
export type DeliveryLoad = { subscriber: string; behind: number; lag_seconds: number; parked: number }

const maxCounted = 10_000

/** How far behind these subscribers are, for monitoring; read it as `sallyport_work`. */
export function deliveryLoad(subscribers: readonly string[]): Statement<DeliveryLoad> {
  const ahead = (limit: number) =>
    sql`select at from event where (xid, seq) > (c.xid, c.seq) order by xid, seq limit ${limit}`
  // Of each queue, as many events. Of all queues, at most `maxCounted`.
  const queued = (limit: number) => sql`select e.at from event_queue q cross join lateral (
      select at from event where tenant_id = q.tenant_id
        and (xid, seq) > (q.xid, q.seq) and (xid, seq) <= (q.until_xid, q.until_seq)
      order by xid, seq limit ${limit}) e
    where q.subscriber = c.subscriber and q.next_look_at is not null limit ${maxCounted}`
  const waiting = (limit: number) => sql`((${ahead(limit)}) union all (${queued(limit)}))`
  return sql<DeliveryLoad>`select c.subscriber, counted.behind, oldest.lag_seconds,
      (select count(*)::int from (
        select from event_parked p where p.subscriber = c.subscriber limit ${maxCounted}) parked) as parked
    from event_cursor c
      cross join lateral (select least(count(*), ${maxCounted})::int as behind from ${waiting(maxCounted)} each) counted
      cross join lateral (
        select coalesce(greatest(extract(epoch from statement_timestamp() - min(at)), 0), 0)::float8 as lag_seconds
        from ${waiting(1)} first) oldest
    where c.subscriber = any(${[...subscribers]}::text[])`
}
