import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Tx } from '../kernel/context.ts'
import { type EntitlementRow, maxWaiting } from './convergence.ts'
import { alarmAfterSeconds } from './entitlement.ts'
import { emitOfGrants, isLeaving, isMade, isOfMine, isWanted, leaseOf, mayLand, mine } from './entitlement-store.ts'
import { assign, isBefore } from './grant-transition-store.ts'
import { missingTo } from './move-ends-store.ts'

/**
 * Makes the changes of many entitlements that are due by the clock alone, then returns their desired and observed state.
 * It ends expired grants, fails grants that missed their deadline, announces ends that come soon, and alarms about access that
 * is long overdue for removal. Undefined where the lease was lost. One round trip.
 */
export async function openEntitlements(tx: Tx, items: readonly WorkItem[]): Promise<(EntitlementRow | undefined)[]> {
  const wrapped = items.map((item) => ({ item }))
  const failing = sql`(select * from late union all select * from overdue) failing`
  const answers = await tx.write([
    // All that this transaction changes is locked here, in one order.
    sql`with ${mine(tx, wrapped, sql``, sql`(${clockDemands} or ${sharedEnd})`)}, ${dueGrants(tx)},
      ${endOnTime(tx)}, ${failLate(tx)}, ${emitExpiringSoon(tx)}, ${emitOverdue(tx)},
      emitted_expired as (${emitOfGrants(tx, 'grant.expired', sql`ended`)}),
      emitted_failed as (${emitOfGrants(tx, 'grant.failed', failing)})
      ${emitOfGrants(tx, 'grant.expiring', sql`ending`)}`,
    sql`with ${mine(tx, wrapped, sql``, sharedEnd)}
      update access_grant g set ${assign('finish')}, updated_at = clock_timestamp()
      from mine where ${isOfMine(tx)} and ${isLeaving}`,
    sql<EntitlementRow & Pick<WorkItem, 'id' | 'generation'>>`select e.*
      from unnest(${items.map(({ id }) => id)}::uuid[], ${items.map(({ generation }) => generation)}::bigint[])
        as item (id, generation)
      cross join lateral (
        select e.id, e.generation::text, e.provisioner, e.provisioner_id, e.target, e.held_before, e.observed,
          e.act, e.act_reference, e.act_polls, e.failures, p.version as provisioner_version,
          coalesce(p.enabled, true) as enabled,
          coalesce(p.corrects_drift, false) as corrects_drift, ${isMade(sql`e.target`)} as is_made,
          e.suspected, e.drift, (extract(epoch from e.given_until) * 1000)::float8 as given_until_ms,
          e.next_look_at::text as due_at, ${mayLand} as may_land,
          (select true from access_grant g where g.tenant_id = e.tenant_id and g.entitlement_id = e.id
            and g.status = 'active' limit 1) is not null as held, ${isAwaited} as awaited,
          (select 1000 * extract(epoch from
              max(coalesce(g.expires_at,
                coalesce(g.starts_at - ${missingTo(sql`clock_back_ms()`, sql`g`)}, now())
                  + make_interval(secs => g.duration_seconds))))
            from access_grant g where g.tenant_id = e.tenant_id and g.entitlement_id = e.id
              and g.status in ('pending', 'active'))::float8 as until_ms,
          coalesce((select jsonb_agg(jsonb_build_object('id', w.id, 'request_id', w.request_id,
              'begun', w.provisioning_status = 'attempting') order by w.id)
            from (select g.id, g.request_id, g.provisioning_status from access_grant g where g.tenant_id = e.tenant_id
              and g.entitlement_id = e.id and g.status = 'pending' order by g.id limit ${maxWaiting}
              ) w), '[]') as waiting
        from entitlement e left join provisioner p on p.tenant_id = e.tenant_id and p.id = e.provisioner_id
        where e.tenant_id = ${tx.tenant_id} and e.id = item.id and e.generation = item.generation
        offset 0) e`,
  ])
  const rows = new Map(answers[2].map((row) => [leaseOf(row), row]))
  return items.map((item) => rows.get(leaseOf(item)))
}

/** The grant `g` ended long ago, its access is still there, and nobody was notified. */
const isOverdue = sql`(${isLeaving} and g.alarmed_at is null
  and g.ended_at <= now() - make_interval(secs => ${alarmAfterSeconds}))`

const isEnding = sql`(${isBefore('expire')} and g.expires_at <= now())`
const isLate = sql`(${isBefore('miss_deadline')} and g.activate_by <= now())`
const endsSoon = sql`(g.status = 'active' and g.expiring_at <= now() and g.expires_at > now())`

/** A change is due by the clock. `now()` is one moment for all statements, so the locked rows are the changed rows. */
const clockDemands = sql`exists (select from access_grant g where g.tenant_id = e.tenant_id and g.entitlement_id = e.id
  and (${isEnding} or ${isLate} or ${endsSoon} or ${isOverdue}))`

/** The due change of each grant: found once, by its entitlement, for the writes that follow. */
const dueGrants = (tx: Tx) => sql`due as materialized (
    select g.id, g.what from mine cross join lateral (
      select g.id, case when ${isEnding} then 'end' when ${isLate} then 'fail' when ${endsSoon} then 'tell'
        when ${isOverdue} then 'alarm' end as what
      from access_grant g where g.tenant_id = ${tx.tenant_id} and g.entitlement_id = mine.id offset 0) g
    where g.what is not null)`

/** A grant has ended, and the access stays for another grant. Where its revocation has begun, it is revoked, and given again. */
const sharedEnd = sql`e.act is distinct from 'revoke' and exists (select from access_grant g
    where g.tenant_id = e.tenant_id and g.entitlement_id = e.id and ${isLeaving}) and ${isWanted}`

/** How long the access of a grant that has ended stays for its approved extension, which is still to be planned: its sessions go on meanwhile. */
const awaitedSeconds = 60

const isAwaited = sql`exists (select from access_grant g
  cross join lateral (select from access_request r
      join access_grant x on x.tenant_id = r.tenant_id and x.request_id = r.id
    where r.tenant_id = g.tenant_id and r.extends = g.id and x.status = 'pending' and x.entitlement_id is null
      and x.activate_by > now() offset 0) later
  where g.tenant_id = e.tenant_id and g.entitlement_id = e.id and g.status = 'expired' and ${isLeaving}
    and g.ended_at > now() - make_interval(secs => ${awaitedSeconds}) and g.ended_at <= clock_timestamp())`

const endOnTime = (tx: Tx) => sql`ended as (
    update access_grant g set ${assign('expire')}, expiring_at = null, target_reference = null,
      updated_at = clock_timestamp()
    from due where g.tenant_id = ${tx.tenant_id} and g.id = due.id and due.what = 'end' and ${isEnding}
    returning g.id, g.request_id, g.entitlement_id)`

const failLate = (tx: Tx) => sql`late as (
    update access_grant g set ${assign('miss_deadline')}, updated_at = clock_timestamp()
    from due where g.tenant_id = ${tx.tenant_id} and g.id = due.id and due.what = 'fail' and ${isLate}
    returning g.id, g.request_id, g.entitlement_id)`

/** The holder is notified of the end once more, five minutes before, unless it is about as near already. */
const lastWarning = sql`case when g.expires_at - interval '6 minutes' > now()
    then g.expires_at - interval '5 minutes' end`

const emitExpiringSoon = (tx: Tx) => sql`ending as (
    update access_grant g set expiring_at = ${lastWarning}, updated_at = clock_timestamp()
    from due where g.tenant_id = ${tx.tenant_id} and g.id = due.id and due.what = 'tell' and ${endsSoon}
    returning g.id, g.request_id, g.entitlement_id)`

/** For any reason: the target hangs, has no capacity, or never finishes. Once for each grant. */
const emitOverdue = (tx: Tx) => sql`overdue as (
    update access_grant g set alarmed_at = clock_timestamp(), ${assign('alarm')},
      last_error = coalesce(g.last_error, 'the target has not taken it away yet'), updated_at = clock_timestamp()
    from due where g.tenant_id = ${tx.tenant_id} and g.id = due.id and due.what = 'alarm' and ${isOverdue}
      and (select true from access_grant live where live.tenant_id = g.tenant_id
        and live.entitlement_id = g.entitlement_id and live.status in ('pending', 'active') limit 1) is null
    returning g.id, g.request_id, g.entitlement_id)`
