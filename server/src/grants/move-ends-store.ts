import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { emitEach } from '../events/emit.ts'
import { type Statement, systemActor, type Tx } from '../kernel/context.ts'

/** The moments of the grant `g` are counted as of a former setting of the database's clock. */
const isBefore = sql`(g.status in ('pending', 'active')
  and g.clock_back_ms < (select i.clock_back_ms from installation i))`

/** Access whose end is to be moved, of one tenant. `last_at`: when the last of all that were found would be looked at. */
export type EndsToMove = { tenant_id: string; entitlement_ids: string[]; last_at: string }

const maxInPart = 500

/** Some of them by tenant, those that end first, from that moment on. Run it as `sallyport_work`. */
export function findEndsToMove(work: UnrestrictedTx, from: string): Promise<EndsToMove[]> {
  return work.read(sql<EndsToMove>`select tenant_id, array_agg(id) as entitlement_ids,
      max(max(next_look_at)) over ()::text as last_at
    from (
      select e.tenant_id, e.id, e.next_look_at from entitlement e
      where e.next_look_at >= ${from}::timestamptz and exists (select from access_grant g
        where g.tenant_id = e.tenant_id and g.entitlement_id = e.id and ${isBefore})
      order by e.next_look_at limit ${maxInPart}) found
    group by tenant_id order by min(next_look_at)`)
}

/** Whether a grant is to be moved whose access is not known yet. Run it as `sallyport_work`. */
export async function hasUnplacedEnds(work: UnrestrictedTx): Promise<boolean> {
  const rows = await work.read(sql`select from access_grant g where g.next_look_at is not null and ${isBefore} limit 1`)
  return rows.length > 0
}

/** Moves the moments of the grants by which the access is held, each by how far the clock went back since they were counted. */
export async function moveEnds(tx: Tx, entitlement_ids: readonly string[]): Promise<void> {
  const ctx = { tx, actor: systemActor, request_id: 'clock' }
  const back = (moment: Statement) => sql`${moment} - moving.back`
  await tx.write([
    sql`with held as materialized (
        select e.id from entitlement e
        where e.tenant_id = ${tx.tenant_id} and e.id = any(${[...entitlement_ids]}::uuid[])
        order by e.id for no key update),
      moving as materialized (
        select g.id, i.clock_back_ms, make_interval(secs => (i.clock_back_ms - g.clock_back_ms)::float8 / 1000) as back
        from held join access_grant g on g.tenant_id = ${tx.tenant_id} and g.entitlement_id = held.id
        cross join installation i where ${isBefore}),
      moved as (
        update access_grant g set clock_back_ms = moving.clock_back_ms,
          starts_at = ${back(sql`g.starts_at`)}, activate_by = ${back(sql`g.activate_by`)},
          activated_at = ${back(sql`g.activated_at`)}, held_since = ${back(sql`g.held_since`)},
          expiring_at = ${back(sql`g.expiring_at`)}, expires_at = ${back(sql`g.expires_at`)},
          updated_at = clock_timestamp()
        from moving where g.tenant_id = ${tx.tenant_id} and g.id = moving.id and ${isBefore}
        returning g.id, g.request_id, g.entitlement_id, g.expires_at, moving.back,
          least(g.expires_at, g.expiring_at, case when g.status = 'pending' then g.activate_by end) as due_at),
      due as (
        update entitlement e set next_look_at = least(e.next_look_at - m.back, m.due_at),
          held_since = e.held_since - m.back
        from (select entitlement_id, min(due_at) as due_at, max(back) as back from moved group by entitlement_id) m
        where e.tenant_id = ${tx.tenant_id} and e.id = m.entitlement_id and e.next_look_at is not null)
      ${emitEach(
        ctx,
        {
          type: 'grant.end_moved',
          subject_type: 'grant',
          facts: sql`jsonb_build_object('expires_at', expires_at,
            'clock_back_seconds', extract(epoch from back)::integer)`,
        },
        sql`(select * from moved where expires_at is not null) ends`,
      )}`,
  ])
}
