import { allOf, sql } from '../db/sql.ts'
import { emit, emitEach } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { PageAsk } from '../kernel/page.ts'
import type { GrantAsk, Plan } from '../provisioners/driver.ts'
import type { ProvisionerRef } from '../provisioners/drivers.ts'
import type { ProvisionerType } from '../provisioners/provisioner.ts'
import { isWaitedFor } from './entitlement-store.ts'
import { activateWithinSeconds, type Grant, grantName } from './grant.ts'

/** Where a grant gives access, as its request fixed it. */
type Place = { type: string; id: string; account_id?: string; permission_set?: string }

/** A row of the table as it comes; `asGrant` makes the reply of it. */
type GrantRow = Omit<Grant, 'resource' | 'approved' | 'expires_at' | 'activated_at' | 'ended_at'> & {
  resource_type: string
  resource_id: string
  expires_at: string | null
  activated_at: string | null
  ended_at: string | null
}

const columns = sql`id, name, status, provisioning_status, request_id, user_id, resource_type, resource_id, action,
  duration_seconds, activated_at, expires_at, ended_at, ended_by, end_reason, last_error, created_at, updated_at`

function asGrant(row: GrantRow): Grant {
  const { resource_type, resource_id, expires_at, activated_at, ended_at, ...rest } = row
  return {
    ...rest,
    approved: true,
    resource: { type: resource_type, id: resource_id },
    ...(expires_at !== null && { expires_at }),
    ...(activated_at !== null && { activated_at }),
    ...(ended_at !== null && { ended_at }),
  }
}

/**
 * The insert of the grants of an approved request, to stand in the statement that approves it: `approved` names its
 * common table expression, which has the columns of access_request. One grant a place, due at once.
 */
export function insertGrants(places: readonly Place[], action: string, approved: Statement): Statement {
  const rows = places.map((place) => ({
    ...place,
    id: newId(),
    place_id: place.id,
    name: grantName(action, place),
  }))
  return sql`insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, account_id,
      permission_set, action, duration_seconds, status, provisioning_status, activate_by, next_look_at)
    select a.tenant_id, g.id, a.id, a.requester_id, g.name, g.type, g.place_id, g.account_id,
      g.permission_set, a.action, a.duration_seconds,
      'pending', 'not_attempted', clock_timestamp() + make_interval(secs => ${activateWithinSeconds}), clock_timestamp()
    from ${approved} a, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as g (id uuid, type text, place_id text, name text, account_id text, permission_set text)`
}

/** One page, newest first; `user_id` narrows it to one holder. */
export async function listGrantsPage(
  tx: Tx,
  filters: { user_id?: string | undefined; request_id?: string | undefined; status?: string | undefined },
  page: PageAsk,
): Promise<Grant[]> {
  const conditions = [sql`tenant_id = ${tx.tenant_id}`]
  if (filters.user_id !== undefined) conditions.push(sql`user_id = ${filters.user_id}`)
  if (filters.request_id !== undefined) conditions.push(sql`request_id = ${filters.request_id}`)
  if (filters.status !== undefined) conditions.push(sql`status = ${filters.status}`)
  if (page.after !== undefined) conditions.push(sql`id < ${page.after[0]}`)
  const rows = await tx.read(sql<GrantRow>`select ${columns} from access_grant where ${allOf(conditions)}
    order by id desc limit ${page.limit + 1}`)
  return rows.map(asGrant)
}

export async function findGrant(tx: Tx, id: string): Promise<Grant | undefined> {
  const [row] = await tx.read(
    sql<GrantRow>`select ${columns} from access_grant where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return row && asGrant(row)
}

/**
 * Ends a live grant early, tells of it and has its entitlement looked at now. Undefined when it was not live any more.
 */
export async function revokeLiveGrant(ctx: WorkCtx, id: string, reason: string | null): Promise<Grant | undefined> {
  const [, [revoked]] = await ctx.tx.write(revoking(ctx, sql`g.id = ${id}`, reason))
  return revoked && asGrant(revoked)
}

/** The statements that end whatever somebody holds, to stand in the transaction that shuts them out, after that. */
export function revokeGrantsOf(ctx: WorkCtx, user_id: string, reason: string): Statement[] {
  return [...revoking(ctx, sql`g.user_id = ${user_id}`, reason)]
}

/**
 * Ends live grants of a tenant. Their entitlements are due first, in the order of their ids, since workers too lock
 * entitlements so before their grants; and once more afterwards, for one that a grant was linked to while this waited for it.
 */
function revoking(ctx: WorkCtx, which: Statement, reason: string | null) {
  const { tx, actor } = ctx
  const ours = sql`g.tenant_id = ${tx.tenant_id} and ${which}`
  const live = sql`g.status in ('pending', 'active')`
  // `now()` is when the transaction began: those that it has ended itself.
  const due = sql`with due as (
      select e.id from entitlement e where e.tenant_id = ${tx.tenant_id} and e.id in (
        select g.entitlement_id from access_grant g where ${ours} and (${live} or g.ended_at >= now()))
      order by e.id for no key update)
    update entitlement e set next_look_at = clock_timestamp(), gives = ${isWaitedFor}
    from due where e.tenant_id = ${tx.tenant_id} and e.id = due.id`
  const revoke = sql<GrantRow>`with revoked as (
      update access_grant g set status = 'revoked', ended_at = clock_timestamp(), ended_by = ${actor.user_id},
        end_reason = ${reason}, next_look_at = null, expiring_at = null, updated_at = clock_timestamp(),
        provisioning_status = case when g.provisioning_status = 'not_attempted' then 'not_attempted' else 'deprovisioning' end
      where ${ours} and ${live}
      returning g.*),
    told as (${emitEach(ctx, { type: 'grant.revoked', subject_type: 'grant' }, sql`revoked`)})
    select ${columns} from revoked`
  return [due, revoke, due] as const
}

/**
 * failed → pending, as an approval would begin it again: planned anew, asked about anew, its deadline the same as before.
 * Undefined where it did not fail, its deadline is over, or its holder is shut out; whoever shuts them out at the same
 * moment comes before it, or after it and ends it. INVARIANT: what has been active is never begun again.
 */
export async function retryFailedGrant(ctx: WorkCtx, id: string): Promise<Grant | undefined> {
  const { tx } = ctx
  const [[retried]] = await tx.write([
    sql<GrantRow>`with holder as (
        select u.id from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
        where g.tenant_id = ${tx.tenant_id} and g.id = ${id} and u.active for share of u),
      retried as (
        update access_grant g set status = 'pending', provisioning_status = 'not_attempted', entitlement_id = null,
          ended_at = null, ended_by = null, end_reason = null, last_error = null, failures = 0,
          next_look_at = clock_timestamp(), lease_until = null, updated_at = clock_timestamp()
        where g.tenant_id = ${tx.tenant_id} and g.id = ${id} and g.status = 'failed' and g.activated_at is null
          and g.activate_by > clock_timestamp() and exists (select from holder)
        returning g.*),
      told as (${emitEach(ctx, { type: 'grant.retried', subject_type: 'grant' }, sql`retried`)})
      select ${columns} from retried`,
  ])
  return retried && asGrant(retried)
}

/** What serves a grant: null where none of the tenant's own does. */
export type Serving = {
  provisioner: ProvisionerType | null
  provisioner_id: string | null
  provisioner_version: number | null
  enabled: boolean | null
  /** The tenant has provisioners of its own. */
  has_own: boolean
}

/** What serves the grant `g`: the line of its account before the one of all accounts. */
const servedBy = sql`(
    select p.provisioner_type as provisioner, p.id as provisioner_id, p.version as provisioner_version, p.enabled,
      (select true from provisioner own where own.tenant_id = g.tenant_id limit 1) is not null as has_own
    from (select) one left join lateral (
      select s.provisioner_id from served_resource s where s.tenant_id = g.tenant_id and s.resource_type = g.resource_type
        and s.account_id in ('', coalesce(g.account_id, '')) order by s.account_id desc limit 1) s on true
    left join provisioner p on p.tenant_id = g.tenant_id and p.id = s.provisioner_id) served`

/** What planning needs to know of a grant whose moment has come; undefined when the lease was lost. */
export async function findGrantToPlan(
  tx: Tx,
  item: WorkItem,
): Promise<{ ask: GrantAsk; serving: Serving; live: boolean; late: boolean; failures: number } | undefined> {
  type Row = {
    status: string
    late: boolean
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
  const [row] = await tx.read(sql<Row>`select g.status, g.activate_by <= clock_timestamp() as late, g.failures,
      g.duration_seconds, g.action, r.audit_session, u.subject, served.*, g.resource_type, g.resource_id, g.account_id, g.permission_set, g.user_id,
      u.email, u.name as user_name
    from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
      join access_request r on r.tenant_id = g.tenant_id and r.id = g.request_id
      left join lateral ${servedBy} on true
    where ${oursToPlan(tx, item)}`)
  if (row === undefined) return undefined
  return {
    live: row.status === 'pending',
    late: row.late,
    failures: row.failures,
    ask: {
      grant_id: item.id,
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
      has_own: row.has_own,
    },
  }
}

function oursToPlan(tx: Tx, item: WorkItem): Statement {
  return sql`g.tenant_id = ${tx.tenant_id} and g.id = ${item.id} and g.generation = ${item.generation}::bigint`
}

/**
 * Hangs the grant on the entitlement that the plan names, made where it is new, and has that looked at now. Whether it was
 * at the target before us is asked anew whenever nothing of ours is there, nor may land there still.
 *
 * False, and nothing is written, where its provisioner is not any more as it was when this was planned, or is gone; whoever
 * changes or deletes it at the same moment comes before this, or after it and finds it in use. Or the lease was lost.
 */
export async function linkGrant(tx: Tx, item: WorkItem, ref: ProvisionerRef, plan: Plan): Promise<boolean> {
  const { provisioner, provisioner_id, provisioner_version } = ref
  const served = sql`served as materialized (
      select from provisioner p where p.tenant_id = ${tx.tenant_id} and p.id = ${provisioner_id}::uuid
        and p.version = ${provisioner_version}::integer
      for key share)`
  const isServed = sql`(${provisioner_id}::uuid is null or exists (select from served))`
  const [, linked] = await tx.write([
    sql`with ${served}
      insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, session_seconds, held_before,
        observed, next_look_at, gives)
      select ${tx.tenant_id}::uuid, ${newId()}::uuid, ${provisioner}::text, ${provisioner_id}::uuid, ${plan.key}::text,
        ${JSON.stringify(plan.target)}::jsonb, ${plan.session_seconds}::integer, ${plan.held}::boolean, 'unknown', clock_timestamp(), true
      from access_grant g where ${oursToPlan(tx, item)} and g.status = 'pending' and ${isServed}
      on conflict (tenant_id, provisioner, target_key) do update set target = excluded.target,
        provisioner_id = excluded.provisioner_id, session_seconds = excluded.session_seconds,
        next_look_at = clock_timestamp(), gives = true, updated_at = clock_timestamp(),
        held_before = case when entitlement.observed = 'absent' and entitlement.act is null
          then excluded.held_before and coalesce(entitlement.may_land_until <= clock_timestamp(), true)
          else entitlement.held_before end,
        observed = case when entitlement.observed = 'absent' and entitlement.act is null
          then 'unknown' else entitlement.observed end`,
    sql`with ${served}
      update access_grant g set entitlement_id = e.id, next_look_at = null, lease_until = null, failures = 0,
        last_error = null, updated_at = clock_timestamp()
      from entitlement e where ${oursToPlan(tx, item)} and g.status = 'pending' and ${isServed}
        and e.tenant_id = g.tenant_id and e.provisioner = ${provisioner} and e.target_key = ${plan.key}
      returning g.id`,
  ])
  return linked.length > 0
}

/** Its target has no room for the questions of a plan just now: asked again after so many milliseconds. */
export async function postponePlan(tx: Tx, item: WorkItem, wait_ms: number): Promise<void> {
  await tx.write([
    sql`update access_grant g set lease_until = null, updated_at = clock_timestamp(),
        next_look_at = clock_timestamp() + make_interval(secs => ${wait_ms / 1000}::float8)
      where ${oursToPlan(tx, item)} and g.status = 'pending'`,
  ])
}

/** Planning failed: tried again after `wait_ms`, or given up for good where `wait_ms` is undefined. */
export async function savePlanFailure(
  ctx: WorkCtx,
  item: WorkItem,
  message: string,
  wait_ms: number | undefined,
): Promise<void> {
  const { tx } = ctx
  const failed = { type: 'grant.failed', subject_type: 'grant', subject_id: item.id } as const
  await tx.write([
    wait_ms === undefined
      ? sql`with failed as (
          update access_grant g set status = 'failed', provisioning_status = 'failed', ended_at = clock_timestamp(),
            end_reason = 'its target refused it', last_error = ${message}, next_look_at = null, lease_until = null,
            failures = g.failures + 1, updated_at = clock_timestamp()
          where ${oursToPlan(tx, item)} and g.status = 'pending' returning g.id)
        ${emit(ctx, failed, sql`failed`)}`
      : sql`update access_grant g set last_error = ${message}, failures = g.failures + 1, lease_until = null,
          next_look_at = clock_timestamp() + make_interval(secs => ${wait_ms / 1000}::float8),
          updated_at = clock_timestamp()
        where ${oursToPlan(tx, item)} and g.status = 'pending'`,
  ])
}
