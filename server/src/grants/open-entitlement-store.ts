import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Tx } from '../kernel/context.ts'
import { type EntitlementRow, maxWaiting } from './convergence.ts'
import { alarmAfterSeconds } from './entitlement.ts'
import { emitOfGrants, isLeaving, isWanted, mine } from './entitlement-store.ts'
import { assign, isBefore } from './grant-transition-store.ts'

/**
 * Does what the clock alone demands of many entitlements (ends what is over, fails what did not begin in time, tells of a
 * coming end, and of what is over for long and still there), then answers how desired and observed stand; undefined where the lease was lost. One trip.
 */
export async function openEntitlements(tx: Tx, items: readonly WorkItem[]): Promise<(EntitlementRow | undefined)[]> {
  const asked = items.map((item) => ({ item }))
  const answers = await tx.write([
    sql`with ${mine(tx, asked, sql``, clockDemands)}, ${dueGrants(tx)}, ${endOnTime(tx)}, ${failLate(tx)}, ${emitExpiringSoon(tx)}, ${emitOverdue(tx)},
      told_expired as (${emitOfGrants(tx, 'grant.expired', sql`ended`)}),
      told_failed as (${emitOfGrants(tx, 'grant.failed', sql`(select * from late union all select * from overdue) failing`)})
      ${emitOfGrants(tx, 'grant.expiring', sql`ending`)}`,
    sql`with ${mine(tx, asked, sql``, sharedEnd)}
      update access_grant g set ${assign('finish')}, updated_at = clock_timestamp()
      from mine where g.tenant_id = ${tx.tenant_id} and g.entitlement_id = mine.id and ${isLeaving}`,
    sql<EntitlementRow & { id: string }>`select e.*
      from unnest(${items.map(({ id }) => id)}::uuid[], ${items.map(({ generation }) => generation)}::bigint[])
        as item (id, generation)
      cross join lateral (
        select e.id, e.provisioner, e.provisioner_id, e.target, e.held_before, e.observed, e.act, e.act_reference, e.act_polls, e.failures,
          p.version as provisioner_version, coalesce(p.enabled, true) as enabled,
          coalesce(p.corrects_drift, false) as corrects_drift,
          e.suspected, e.drift, (extract(epoch from e.given_until) * 1000)::float8 as given_until_ms,
          e.next_look_at::text as due_at, coalesce(e.may_land_until > now(), false) as may_land,
          (select true from access_grant g where g.tenant_id = e.tenant_id and g.entitlement_id = e.id
            and g.status = 'active' limit 1) is not null as held,
          (select extract(epoch from max(coalesce(g.expires_at, now() + make_interval(secs => g.duration_seconds)))) * 1000
            from access_grant g where g.tenant_id = e.tenant_id and g.entitlement_id = e.id
              and g.status in ('pending', 'active'))::float8 as until_ms,
          coalesce((select jsonb_agg(jsonb_build_object('id', w.id, 'request_id', w.request_id,
              'begun', w.provisioning_status = 'attempting') order by w.id)
            from (select g.id, g.request_id, g.provisioning_status from access_grant g where g.tenant_id = e.tenant_id
              and g.entitlement_id = e.id and g.status = 'pending' order by g.id limit ${maxWaiting}) w), '[]') as waiting
        from entitlement e left join provisioner p on p.tenant_id = e.tenant_id and p.id = e.provisioner_id
        where e.tenant_id = ${tx.tenant_id} and e.id = item.id and e.generation = item.generation
        offset 0) e`,
  ])
  const rows = new Map(answers[2].map((row) => [row.id, row]))
  return items.map(({ id }) => rows.get(id))
}

/** The grant `g` is over for long, its access still there, and nobody was told. */
const isOverdue = sql`(${isLeaving} and g.alarmed_at is null
  and g.ended_at <= now() - make_interval(secs => ${alarmAfterSeconds}))`

const isEnding = sql`(${isBefore('expire')} and g.expires_at <= now())`
const isLate = sql`(${isBefore('miss_deadline')} and g.activate_by <= now())`
const endsSoon = sql`(g.status = 'active' and g.expiring_at <= now() and g.expires_at > now())`

/** The clock demands something. `now()`: one moment for all of it, so that what was locked is what is changed. */
const clockDemands = sql`exists (select from access_grant g where g.tenant_id = e.tenant_id and g.entitlement_id = e.id
  and (${isEnding} or ${isLate} or ${endsSoon} or ${isOverdue}))`

/** What it demands of which grants: found once, each by its entitlement, for the writes that follow. */
const dueGrants = (tx: Tx) => sql`due as materialized (
    select g.id, g.what from mine cross join lateral (
      select g.id, case when ${isEnding} then 'end' when ${isLate} then 'fail' when ${endsSoon} then 'tell'
        when ${isOverdue} then 'alarm' end as what
      from access_grant g where g.tenant_id = ${tx.tenant_id} and g.entitlement_id = mine.id offset 0) g
    where g.what is not null)`

/** A grant has ended, and the access stays for another. */
const sharedEnd = sql`exists (select from access_grant g where g.tenant_id = e.tenant_id and g.entitlement_id = e.id
    and ${isLeaving}) and ${isWanted}`

const endOnTime = (tx: Tx) => sql`ended as (
    update access_grant g set ${assign('expire')}, expiring_at = null, target_reference = null,
      updated_at = clock_timestamp()
    from due where g.tenant_id = ${tx.tenant_id} and g.id = due.id and due.what = 'end' and ${isEnding}
    returning g.id, g.request_id, g.entitlement_id)`

const failLate = (tx: Tx) => sql`late as (
    update access_grant g set ${assign('miss_deadline')}, updated_at = clock_timestamp()
    from due where g.tenant_id = ${tx.tenant_id} and g.id = due.id and due.what = 'fail' and ${isLate}
    returning g.id, g.request_id, g.entitlement_id)`

const emitExpiringSoon = (tx: Tx) => sql`ending as (
    update access_grant g set expiring_at = null, updated_at = clock_timestamp()
    from due where g.tenant_id = ${tx.tenant_id} and g.id = due.id and due.what = 'tell' and ${endsSoon}
    returning g.id, g.request_id, g.entitlement_id)`

/** Whatever the reason: the target hangs, has no room, or is at it for ever. Once for each grant. */
const emitOverdue = (tx: Tx) => sql`overdue as (
    update access_grant g set alarmed_at = clock_timestamp(), ${assign('alarm')},
      last_error = coalesce(g.last_error, 'the target has not taken it away yet'), updated_at = clock_timestamp()
    from due where g.tenant_id = ${tx.tenant_id} and g.id = due.id and due.what = 'alarm' and ${isOverdue}
      and (select true from access_grant live where live.tenant_id = g.tenant_id and live.entitlement_id = g.entitlement_id
        and live.status in ('pending', 'active') limit 1) is null
    returning g.id, g.request_id, g.entitlement_id)`
