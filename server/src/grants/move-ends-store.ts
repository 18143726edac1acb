import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { emitEach } from '../events/emit.ts'
import { type Statement, systemActor, type Tx } from '../kernel/context.ts'
import { lateEffectFor } from './entitlement-store.ts'

/** Access whose end is to be moved, of one tenant. */
export type EndsToMove = { tenant_id: string; entitlement_ids: string[] }

const maxInPart = 500

/** The end of the grant `g` is counted as of a total by which the database's clock was set back before. `>= 0`: as the index says. */
const isToMove = sql`(g.status = 'active' and g.clock_back_ms >= 0 and g.clock_back_ms < (select back_ms from total))`
const total = sql`total as materialized (select clock_back_ms() as back_ms)`

/** Some of them by tenant, those that come first, of other tenants than these. Run it as `sallyport_work`. */
export function findEndsToMove(work: UnrestrictedTx, without: readonly string[]): Promise<EndsToMove[]> {
  return work.read(sql<EndsToMove>`with ${total},
      found as (
        select g.tenant_id, g.entitlement_id, g.expires_at from access_grant g
        where ${isToMove} and g.tenant_id <> all(${[...without]}::uuid[])
        order by g.clock_back_ms, g.expires_at limit ${maxInPart})
    select tenant_id, array_agg(distinct entitlement_id) as entitlement_ids
    from found group by tenant_id order by min(expires_at)`)
}

/** What is missing to a total, as an interval. */
export const missingTo = (back_ms: Statement, g: Statement) =>
  sql`make_interval(secs => (${back_ms} - ${g}.clock_back_ms)::float8 / 1000)`

/**
 * Moves the ends of the grants by which the access is held, each by what the clock was set back since they were counted. Access that another
 * transaction holds stays as it is, for the next time. Returns how many it moved. A run that began before knows nothing of it: the look is moved,
 * too, so that the run does not put it off to the former end.
 */
export async function moveEnds(tx: Tx, entitlement_ids: readonly string[]): Promise<number> {
  const ctx = { tx, actor: systemActor, request_id: 'clock' }
  const back = (moment: Statement) => sql`${moment} - moving.back`
  const facts = sql`jsonb_build_object('expires_at', expires_at,
    'clock_back_seconds', extract(epoch from back)::integer)`
  const [moved] = await tx.write([
    sql`with ${total},
      held as materialized (
        select e.id from entitlement e
        where e.tenant_id = ${tx.tenant_id} and e.id = any(${[...entitlement_ids]}::uuid[])
        order by e.id for no key update skip locked),
      moving as materialized (
        select g.id, g.clock_back_ms as former, ${missingTo(sql`total.back_ms`, sql`g`)} as back
        from held join access_grant g on g.tenant_id = ${tx.tenant_id} and g.entitlement_id = held.id
        cross join total where ${isToMove}),
      moved as (
        update access_grant g set clock_back_ms = total.back_ms,
          starts_at = ${back(sql`g.starts_at`)}, activated_at = ${back(sql`g.activated_at`)},
          held_since = ${back(sql`g.held_since`)}, expiring_at = ${back(sql`g.expiring_at`)},
          expires_at = ${back(sql`g.expires_at`)}, updated_at = clock_timestamp()
        from moving, total where g.tenant_id = ${tx.tenant_id} and g.id = moving.id
          and g.status = 'active' and g.clock_back_ms = moving.former
        returning g.id, g.request_id, g.entitlement_id, g.expires_at, moving.back,
          coalesce(g.held_since, g.activated_at) as held_since, least(g.expires_at, g.expiring_at) as due_at),
      due as (
        update entitlement e set next_look_at = least(e.next_look_at - m.back, m.due_at),
          may_land_until = case when e.may_land_until is not null then least(e.may_land_until, ${lateEffectFor}) end,
          held_since = case when e.held_since is not null then least(e.held_since, m.held_since) end
        from (select entitlement_id, min(due_at) as due_at, min(held_since) as held_since, max(back) as back from moved
          group by entitlement_id) m
        where e.tenant_id = ${tx.tenant_id} and e.id = m.entitlement_id and e.next_look_at is not null)
      ${emitEach(ctx, { type: 'grant.end_moved', subject_type: 'grant', facts }, sql`moved`)}
      returning id`,
  ])
  return moved.length
}
