import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { Plan, PlanInput } from '../provisioners/driver.ts'
import type { ProvisionerRef } from '../provisioners/drivers.ts'
import type { ProvisionerType } from '../provisioners/provisioner.ts'
import { servingProvisioner } from '../provisioners/serving-store.ts'
import { firstOf } from './extension-store.ts'
import type { GrantStatus } from './grant.ts'
import { assign, isBefore } from './grant-transition-store.ts'
import { keepSwept } from './sweep-store.ts'

/** The provisioner that serves a grant; null if none of the tenant's own does. */
export type Serving = {
  provisioner: ProvisionerType | null
  provisioner_id: string | null
  provisioner_version: number | null
  enabled: boolean | null
  /** What no provisioner serves is given in the sandbox: the tenant is in rehearsal. */
  by_sandbox: boolean
}

/** The provisioner that serves the grant `g`. */
const servedBy = sql`(
    select p.provisioner_type as provisioner, p.id as provisioner_id, p.version as provisioner_version, p.enabled,
      exists (select from tenant t where t.id = g.tenant_id and t.mode = 'rehearsal') as by_sandbox
    from (select) one left join provisioner p on p.tenant_id = g.tenant_id and p.id = ${servingProvisioner(
      sql`g.tenant_id`,
      { type: sql`g.resource_type`, id: sql`g.resource_id`, account_id: sql`g.account_id` },
    )}) served`

/**
 * The grant `g` was approved in the rehearsal, which is over. INVARIANT: nothing real follows from a rehearsal, whose people anybody may
 * be. The grant's insert and this read the mode in their own snapshots, and a real target serves only a tenant that is live.
 */
export const isOfRehearsal = sql`(g.rehearsed
  and exists (select from tenant t where t.id = g.tenant_id and t.mode = 'live'))`

/** Whether a grant of the request was planned for a provisioner of another type: it will be given there, whatever serves it now. */
export function isPlannedOutside(
  { tenant_id }: Tx,
  request_id: Statement,
  types: readonly ProvisionerType[],
): Statement {
  return sql`exists (select from access_grant g
      join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
    where g.tenant_id = ${tenant_id} and g.request_id = ${request_id}
      and e.provisioner <> all(${[...types]}::text[]))`
}

type GrantToPlan = {
  input: PlanInput
  serving: Serving
  live: boolean
  late: boolean
  /** It was approved in the rehearsal, which is over. */
  rehearsed: boolean
  failures: number
}

/** The facts that planning needs about a due grant; undefined when the lease was lost. */
export async function findGrantToPlan(tx: Tx, item: WorkItem): Promise<GrantToPlan | undefined> {
  type Row = {
    first_grant_id: string
    status: string
    late: boolean
    rehearsed: boolean
    failures: number
    duration_seconds: number
    action: string
    resource_type: string
    resource_id: string
    account_id: string | null
    permission_set: string | null
    user_id: string
    email: string
    user_name: string
    audit_session: boolean
    subject: string | null
  } & Serving
  const [row] = await tx.read(sql<Row>`select ${firstOf(sql`g`)} as first_grant_id, g.status,
      g.activate_by <= clock_timestamp() as late,
      ${isOfRehearsal} as rehearsed, g.failures,
      g.duration_seconds, g.action, r.audit_session, u.subject, served.*, g.resource_type, g.resource_id, g.account_id,
      g.permission_set, g.user_id, u.email, u.name as user_name
    from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
      join access_request r on r.tenant_id = g.tenant_id and r.id = g.request_id
      left join lateral ${servedBy} on true
    where ${oursToPlan(tx, item)}`)
  if (row === undefined) return undefined
  return {
    live: row.status === 'pending',
    late: row.late,
    rehearsed: row.rehearsed,
    failures: row.failures,
    input: {
      grant_id: item.id,
      first_grant_id: row.first_grant_id,
      user: { id: row.user_id, email: row.email, name: row.user_name, external_id: row.subject },
      resource: { type: row.resource_type, id: row.resource_id },
      account_id: row.account_id,
      permission_set: row.permission_set,
      action: row.action,
      duration_seconds: row.duration_seconds,
      audit_session: row.audit_session,
    },
    serving: {
      provisioner: row.provisioner,
      provisioner_id: row.provisioner_id,
      provisioner_version: row.provisioner_version,
      enabled: row.enabled,
      by_sandbox: row.by_sandbox,
    },
  }
}

function oursToPlan(tx: Tx, item: WorkItem): Statement {
  return sql`g.tenant_id = ${tx.tenant_id} and g.id = ${item.id} and g.generation = ${item.generation}::bigint`
}

/**
 * Links the grant to the entitlement that the plan names and inserts that entitlement if it is new. The entitlement is due now
 * and swept from now on. Whether the access was at the target before us is taken from the plan again whenever nothing of ours is
 * there and no late effect is possible. Access that was added there by hand is not ours. What the target said with an act about how to
 * connect is kept as long as that act's access is there.
 *
 * A concurrent end of the grant locks the same holder: it commits before this, or after it and then finds the grant linked.
 * Nothing is written if the provisioner changed or was deleted since planning, if the grant has ended, or if the lease was lost.
 * A concurrent change or deletion of the provisioner commits before this, or after it and then finds the provisioner in use.
 */
export async function linkGrant(
  tx: Tx,
  item: WorkItem,
  ref: ProvisionerRef,
  plan: Plan,
): Promise<'linked' | 'lease_lost' | 'not_pending' | 'provisioner_changed'> {
  const { provisioner, provisioner_id, provisioner_version } = ref
  const served = sql`served as materialized (
      select from provisioner p where p.tenant_id = ${tx.tenant_id} and p.id = ${provisioner_id}::uuid
        and p.version = ${provisioner_version}::integer
      for key share)`
  const isServed = sql`(${provisioner_id}::uuid is null or exists (select from served))`
  const [, , linked, , [ours]] = await tx.write([
    // A statement of its own, so that the next ones see what the lock waited for.
    sql`select from tenant_user u where u.tenant_id = ${tx.tenant_id}
      and u.id = (select g.user_id from access_grant g where ${oursToPlan(tx, item)}) for share`,
    sql`with ${served}
      insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, session_seconds,
        recorded_as, connect, held_before, observed, next_look_at, gives)
      select ${tx.tenant_id}::uuid, ${newId()}::uuid, ${provisioner}::text, ${provisioner_id}::uuid, ${plan.key}::text,
        ${JSON.stringify(plan.target)}::jsonb, ${plan.session_seconds}::integer, ${plan.recorded_as ?? null}::text,
        ${plan.connect && JSON.stringify(plan.connect)}::jsonb, ${plan.held}::boolean, 'unknown',
        clock_timestamp(), true
      from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
      where ${oursToPlan(tx, item)} and g.status = 'pending' and ${isServed}
      for share of u
      on conflict (tenant_id, provisioner, target_key) do update set target = excluded.target,
        provisioner_id = excluded.provisioner_id, session_seconds = excluded.session_seconds,
        recorded_as = excluded.recorded_as, session_note = null,
        connect = case when ${isNotOurs} then excluded.connect else coalesce(excluded.connect, entitlement.connect) end,
        next_look_at = clock_timestamp(), gives = true, updated_at = clock_timestamp(),
        held_before = case when ${isNotOurs}
          then excluded.held_before and coalesce(entitlement.may_land_until <= clock_timestamp(), true)
          else entitlement.held_before end,
        observed = case when ${isNotOurs} then 'unknown' else entitlement.observed end,
        held_since = case when not ${isHeldByNobody} then entitlement.held_since end,
        by_person = entitlement.by_person and not ${isHeldByNobody},
        drift = case when not ${isNotOurs} then entitlement.drift end,
        drifted_at = case when not ${isNotOurs} then entitlement.drifted_at end`,
    sql`with ${served}
      update access_grant g set entitlement_id = e.id, next_look_at = null, lease_until = null, failures = 0,
        last_error = null, updated_at = clock_timestamp()
      from entitlement e where ${oursToPlan(tx, item)} and g.status = 'pending' and ${isServed}
        and e.tenant_id = g.tenant_id and e.provisioner = ${provisioner} and e.target_key = ${plan.key}
      returning g.id`,
    sql`with ${served} ${keepSwept(tx, ref, isServed)}`,
    sql<{ status: GrantStatus }>`select g.status from access_grant g where ${oursToPlan(tx, item)}`,
  ])
  if (linked.length > 0) return 'linked'
  if (ours === undefined) return 'lease_lost'
  return ours.status === 'pending' ? 'provisioner_changed' : 'not_pending'
}

/** The ledger's row says that nothing of ours is at the target. */
const isNotOurs = sql`(entitlement.act is null and (entitlement.observed = 'absent'
  or coalesce(entitlement.drift = 'added', false)))`

/**
 * The time that its holder has the access begins again: it was gone, or it was there before us, where it stays when its grants have
 * ended, and none wants it.
 */
const isHeldByNobody = sql`(${isNotOurs} or entitlement.held_before and not exists (select from access_grant live
  where live.tenant_id = entitlement.tenant_id and live.entitlement_id = entitlement.id
    and live.status in ('pending', 'active')))`

/** The target has no capacity for planning now: the grant is planned again after `wait_ms` milliseconds. */
export async function postponePlan(tx: Tx, item: WorkItem, wait_ms: number): Promise<void> {
  await tx.write([
    sql`update access_grant g set lease_until = null, updated_at = clock_timestamp(),
        next_look_at = clock_timestamp() + make_interval(secs => ${wait_ms / 1000}::float8)
      where ${oursToPlan(tx, item)} and g.status = 'pending'`,
  ])
}

/** Planning failed permanently: the grant's deadline is over, or its target refuses it. */
export async function giveUpPlan(
  ctx: WorkCtx,
  item: WorkItem,
  change: 'miss_deadline' | 'reject',
  message: string,
): Promise<void> {
  const { tx } = ctx
  const failed = { type: 'grant.failed', subject_type: 'grant', subject_id: item.id } as const
  await tx.write([
    sql`with failed as (
        update access_grant g set ${assign(change)}, last_error = ${message}, next_look_at = null, lease_until = null,
          failures = g.failures + 1, updated_at = clock_timestamp()
        where ${oursToPlan(tx, item)} and ${isBefore(change)} returning g.id)
      ${emit(ctx, failed, sql`failed`)}`,
  ])
}

/** Planning failed for now: it is retried after `wait_ms` milliseconds. */
export async function savePlanFailure(tx: Tx, item: WorkItem, message: string, wait_ms: number): Promise<void> {
  await tx.write([
    sql`update access_grant g set last_error = ${message}, failures = g.failures + 1, lease_until = null,
        next_look_at = clock_timestamp() + make_interval(secs => ${wait_ms / 1000}::float8),
        updated_at = clock_timestamp()
      where ${oursToPlan(tx, item)} and g.status = 'pending'`,
  ])
}
