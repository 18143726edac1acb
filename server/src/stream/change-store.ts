import { eventsSettledTo, oldestOpenHere } from '../db/settled.ts'
import { inMergedOrder, sql, sqlInteger } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { notifiedSince } from '../notifications/notification-store.ts'
import { feedLength, type Place, type PlacedSubject } from './change-feed.ts'

export type News = { whole_to: string; notified: string[]; changed: string[] }

/**
 * The position up to which the order is final, which of these users got notifications from `since` up to it, and which tenants have
 * events after their place.
 */
export async function findNews(
  work: Pick<Tx, 'read'>,
  { since, user_ids }: { since: string | undefined; user_ids: readonly string[] },
  places: readonly (Place & { tenant_id: string })[],
): Promise<News> {
  const column = <Name extends keyof Place | 'tenant_id'>(name: Name) => places.map((place) => place[name])
  // One probe of the index of commits for each tenant, however many events there are.
  const [found] = await work.read(sql<News>`
    with settled as materialized (select (${oldestOpenHere}) as xid)
    select settled.xid::text as whole_to, ${notifiedSince(since, sql`settled.xid`, user_ids)} as notified,
      array(
        select place.tenant_id
        from unnest(${column('tenant_id')}::uuid[], ${column('xid')}::xid8[], ${column('seq')}::bigint[])
          as place (tenant_id, xid, seq)
        cross join lateral (
          select from event
          where event.tenant_id = place.tenant_id and (event.xid, event.seq) > (place.xid, place.seq)
            and event.xid < settled.xid
          order by event.xid, event.seq limit 1) as newer) as changed
    from settled`)
  if (found === undefined) throw new Error('a select without a table answered no row')
  return found
}

/** An id that a cast to uuid accepts. */
const uuidForm = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/**
 * The tenant's events after a place in the order of the commits, or its newest: what they are about and to whom that belongs, never
 * their content. At most `feedLength`, in their order.
 */
export async function listSubjects(tx: Tx, after: Place | undefined): Promise<PlacedSubject[]> {
  const range =
    after === undefined ? sql`true` : sql`(event.xid, event.seq) > (${after.xid}::xid8, ${after.seq}::bigint)`
  const order = after === undefined ? sql`event.xid desc, event.seq desc` : sql`event.xid, event.seq`
  const statement = sql<PlacedSubject>`
    select e.id, e.xid::text as xid, e.seq::text as seq, e.type, e.subject_type, e.subject_id,
      case e.subject_type
        when 'request' then (select requester_id from access_request
          where tenant_id = ${tx.tenant_id}::uuid and id = e.record_id)
        when 'grant' then (select user_id from access_grant
          where tenant_id = ${tx.tenant_id}::uuid and id = e.record_id)
        end as owner,
      case when e.type = 'request.approved' then array(select id from access_grant
        where tenant_id = ${tx.tenant_id}::uuid and request_id = e.record_id) end as grants
    from (
      select id, xid, seq, type, subject_type, subject_id,
        case when subject_type in ('request', 'grant') and subject_id ~ ${uuidForm}
          then subject_id::uuid end as record_id
      from event where tenant_id = ${tx.tenant_id}::uuid and ${range}
        and event.xid < ${eventsSettledTo(tx.tenant_id)}
      order by ${order} limit ${sqlInteger(feedLength)}) as e
    order by e.xid, e.seq`
  return tx.read(inMergedOrder(statement))
}
