import { plannedOnce, sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { PlanInput } from '../provisioners/driver.ts'
import type { ProvisionerType } from '../provisioners/provisioner.ts'
import { servingProvisioner } from '../provisioners/serving-store.ts'
import { leaseOf } from './entitlement-store.ts'
import { firstOf } from './extension-store.ts'
import { assign, isBefore } from './grant-transition-store.ts'

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
      cross join lateral (select e.provisioner from entitlement e
        where e.tenant_id = g.tenant_id and e.id = g.entitlement_id offset 0) e
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

type Row = {
  id: string
  generation: string
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

/** The facts that planning needs about due grants; undefined where the lease was lost. One round trip. */
export async function findGrantsToPlan(tx: Tx, items: readonly WorkItem[]): Promise<(GrantToPlan | undefined)[]> {
  const rows = await tx.read(
    plannedOnce(sql<Row>`select g.*
    from unnest(${items.map(({ id }) => id)}::uuid[], ${items.map(({ generation }) => generation)}::bigint[])
      as item (id, generation)
    cross join lateral (
      select g.id, g.generation::text, ${firstOf(sql`g`)} as first_grant_id, g.status,
        g.activate_by <= clock_timestamp() as late, ${isOfRehearsal} as rehearsed, g.failures,
        g.duration_seconds, g.action, r.audit_session, u.subject, served.*, g.resource_type, g.resource_id,
        g.account_id, g.permission_set, g.user_id, u.email, u.name as user_name
      from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
        join access_request r on r.tenant_id = g.tenant_id and r.id = g.request_id
        left join lateral ${servedBy} on true
      where g.tenant_id = ${tx.tenant_id} and g.id = item.id and g.generation = item.generation
      offset 0) g`),
  )
  const found = new Map(rows.map((row) => [leaseOf(row), grantToPlan(row)]))
  return items.map((item) => found.get(leaseOf(item)))
}

function grantToPlan(row: Row): GrantToPlan {
  return {
    live: row.status === 'pending',
    late: row.late,
    rehearsed: row.rehearsed,
    failures: row.failures,
    input: {
      grant_id: row.id,
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
 * The target has no capacity for planning now: the grant is planned again after `wait_ms` milliseconds. `why`: the reason that
 * is shown; null: none.
 */
export async function postponePlan(tx: Tx, item: WorkItem, wait_ms: number, why: string | null = null): Promise<void> {
  await tx.write([
    sql`update access_grant g set lease_until = null, last_error = coalesce(${why}, g.last_error),
        updated_at = clock_timestamp(),
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
