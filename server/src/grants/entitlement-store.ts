import { sql } from '../db/sql.ts'
import { emitEach } from '../events/emit.ts'
import type { WorkItem } from '../jobs/work-list.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { settingSeconds } from '../settings/setting-store.ts'
import type { EntitlementState, Observed } from './entitlement.ts'

/** An entitlement as a look at it begins. */
export type EntitlementRow = Omit<EntitlementState, 'seen_now' | 'told_now'> & {
  provisioner: string
  target: Record<string, unknown>
  act_polls: number
  failures: number
  /** The moment that made it due, to the microsecond: whoever sets another one meanwhile is not overruled. */
  due_at: string
}

/** INVARIANT: stands in the `where` of every write about an entitlement: a worker that lost its lease writes nothing. */
function ours(tx: Tx, item: WorkItem): Statement {
  return sql`e.tenant_id = ${tx.tenant_id} and e.id = ${item.id} and e.generation = ${item.generation}::bigint`
}

/** Whether a live grant wants it. */
function liveGrant(tx: Tx, item: WorkItem): Statement {
  return sql`exists (select from access_grant g where ${grantsOf(tx, item)} and g.status in ('pending', 'active'))`
}

function grantsOf(tx: Tx, item: WorkItem): Statement {
  return sql`g.tenant_id = ${tx.tenant_id} and g.entitlement_id = ${item.id}`
}

/**
 * Does what the clock alone demands (ends what is over, fails what did not begin in time, tells of a coming end), then
 * answers how desired and observed stand; undefined when the lease was lost. One trip.
 */
export async function openLook(ctx: WorkCtx, item: WorkItem): Promise<EntitlementRow | undefined> {
  const { tx } = ctx
  const answers = await tx.write([
    endOnTime(ctx, item),
    failLate(ctx, item),
    tellOfComingEnd(ctx, item),
    sql`update access_grant g set provisioning_status = 'deprovisioned', updated_at = clock_timestamp()
      where ${grantsOf(tx, item)} and g.provisioning_status in ('deprovisioning', 'deprovisioning_failed')
        and exists (select from access_grant l where l.tenant_id = g.tenant_id and l.entitlement_id = g.entitlement_id
          and l.status in ('pending', 'active'))`,
    sql<EntitlementRow>`select e.provisioner, e.target, e.held_before, e.observed, e.act, e.act_reference, e.act_polls,
        e.failures, e.next_look_at::text as due_at,
        ${liveGrant(tx, item)} as wanted,
        exists (select from access_grant g where ${grantsOf(tx, item)} and g.status = 'pending') as joining
      from entitlement e where ${ours(tx, item)}`,
  ])
  return answers[4][0]
}

function endOnTime(ctx: WorkCtx, item: WorkItem): Statement {
  return sql`with ended as (
      update access_grant g set status = 'expired', ended_at = clock_timestamp(), expiring_at = null,
        provisioning_status = case when g.provisioning_status = 'not_attempted' then 'not_attempted' else 'deprovisioning' end,
        updated_at = clock_timestamp()
      where ${grantsOf(ctx.tx, item)} and g.status = 'active' and g.expires_at <= clock_timestamp()
      returning g.id, g.request_id)
    ${emitEach(ctx, { type: 'grant.expired', subject_type: 'grant' }, sql`ended`)}`
}

function failLate(ctx: WorkCtx, item: WorkItem): Statement {
  return sql`with late as (
      update access_grant g set status = 'failed', ended_at = clock_timestamp(), provisioning_status = 'failed',
        end_reason = 'access could not be given in time', updated_at = clock_timestamp()
      where ${grantsOf(ctx.tx, item)} and g.status = 'pending' and g.activate_by <= clock_timestamp()
      returning g.id, g.request_id)
    ${emitEach(ctx, { type: 'grant.failed', subject_type: 'grant' }, sql`late`)}`
}

function tellOfComingEnd(ctx: WorkCtx, item: WorkItem): Statement {
  return sql`with ending as (
      update access_grant g set expiring_at = null, updated_at = clock_timestamp()
      where ${grantsOf(ctx.tx, item)} and g.status = 'active' and g.expiring_at <= clock_timestamp()
      returning g.id, g.request_id)
    ${emitEach(ctx, { type: 'grant.expiring', subject_type: 'grant' }, sql`ending`)}`
}

/**
 * Writes an act down before it begins. What we give is ours from then on. False: the lease was lost, or nobody wants it
 * given any more; do nothing.
 */
export async function beginAct(tx: Tx, item: WorkItem, act: 'grant' | 'revoke'): Promise<boolean> {
  const attempted: Statement =
    act === 'grant'
      ? sql`update access_grant g set provisioning_status = 'attempting', updated_at = clock_timestamp()
          from begun where ${grantsOf(tx, item)} and g.status = 'pending' and g.provisioning_status <> 'attempting'`
      : sql`select 1`
  const [rows] = await tx.write([
    sql`with begun as (
        update entitlement e set act = ${act}, act_reference = null, act_polls = 0, observed = 'unknown',
          held_before = e.held_before and ${act} <> 'grant', updated_at = clock_timestamp()
        where ${ours(tx, item)} and (${act} <> 'grant' or ${liveGrant(tx, item)}) returning e.id),
      attempted as (${attempted})
      select id from begun`,
  ])
  return rows.length > 0
}

/** The act goes on at the target; it is asked about by this reference. */
export async function saveProgress(tx: Tx, item: WorkItem, reference: string): Promise<void> {
  await tx.write([
    sql`update entitlement e set act_reference = ${reference}, act_polls = e.act_polls + 1, updated_at = clock_timestamp()
      where ${ours(tx, item)}`,
  ])
}

/** The target says that the act is done; only a look at it will say what it holds. */
export async function endAct(tx: Tx, item: WorkItem): Promise<void> {
  await tx.write([
    sql`update entitlement e set act = null, act_reference = null, observed = 'unknown', updated_at = clock_timestamp()
      where ${ours(tx, item)}`,
  ])
}

/**
 * What the target itself says it holds. Present: grants that wait become active, their time begins. Absent: what was to
 * be taken away is gone.
 */
export async function saveObserved(
  ctx: WorkCtx,
  item: WorkItem,
  observed: Exclude<Observed, 'unknown'>,
): Promise<void> {
  const agrees = sql`(${liveGrant(ctx.tx, item)}) = ${observed === 'present'}::boolean`
  const seen = sql`with seen as (
      update entitlement e set observed = ${observed}, act = null, act_reference = null, updated_at = clock_timestamp(),
        failures = case when ${agrees} then 0 else e.failures end,
        last_error = case when ${agrees} then null else e.last_error end
      where ${ours(ctx.tx, item)} returning e.tenant_id, e.id, e.held_before)`
  await ctx.tx.write([observed === 'present' ? sql`${seen}, ${activate(ctx)}` : sql`${seen} ${settleGone}`])
}

function activate(ctx: WorkCtx): Statement {
  const warning = settingSeconds(ctx.tx, 'notifications.expiring_seconds')
  return sql`active as (
      update access_grant g set status = 'active', activated_at = t.now, last_error = null, updated_at = t.now,
        expires_at = t.now + make_interval(secs => g.duration_seconds),
        expiring_at = t.now + make_interval(secs => g.duration_seconds - least(${warning}, g.duration_seconds / 2)),
        provisioning_status = case when seen.held_before then 'not_attempted' else 'successful' end
      from seen, (select clock_timestamp() as now) t
      where g.tenant_id = seen.tenant_id and g.entitlement_id = seen.id and g.status = 'pending'
        and g.activate_by > t.now
      returning g.id, g.request_id)
    ${emitEach(ctx, { type: 'grant.activated', subject_type: 'grant' }, sql`active`)}`
}

const settleGone = sql`update access_grant g set provisioning_status = 'deprovisioned', last_error = null,
    updated_at = clock_timestamp()
  from seen where g.tenant_id = seen.tenant_id and g.entitlement_id = seen.id
    and g.provisioning_status in ('deprovisioning', 'deprovisioning_failed')`

/**
 * An act, a poll or a look failed; said on the grants it concerns. `permanent`: those that wait for it fail. `alarm`: what
 * should be taken away has failed so often that people are told; it is tried on.
 */
export async function saveFailure(
  ctx: WorkCtx,
  item: WorkItem,
  failure: { message: string; giving: boolean; permanent: boolean; clears_act: boolean; alarm: boolean },
): Promise<void> {
  const { tx } = ctx
  const refused = failure.giving && failure.permanent
  const cleared = failure.clears_act ? sql`act = null, act_reference = null, observed = 'unknown',` : sql``
  await tx.write([
    sql`with failing as (
        update entitlement e set ${cleared} failures = e.failures + 1, last_error = ${failure.message},
          updated_at = clock_timestamp()
        where ${ours(tx, item)} returning e.tenant_id, e.id),
      waiting as (
        update access_grant g set last_error = ${failure.message}, updated_at = clock_timestamp(),
          status = case when ${refused} then 'failed' else g.status end,
          provisioning_status = case when ${refused} then 'failed' else g.provisioning_status end,
          ended_at = case when ${refused} then clock_timestamp() else g.ended_at end,
          end_reason = case when ${refused} then 'its target refused it' else g.end_reason end
        from failing where g.tenant_id = failing.tenant_id and g.entitlement_id = failing.id and g.status = 'pending'
        returning g.id, g.request_id, g.status),
      leaving as (
        update access_grant g set last_error = ${failure.message}, provisioning_status = 'deprovisioning_failed',
          updated_at = clock_timestamp()
        from failing where g.tenant_id = failing.tenant_id and g.entitlement_id = failing.id
          and ${!failure.giving} and (g.provisioning_status in ('deprovisioning', 'deprovisioning_failed')
            or (g.provisioning_status = 'failed' and not exists (select from access_grant later
              where later.tenant_id = g.tenant_id and later.entitlement_id = g.entitlement_id and later.id > g.id)))
        returning g.id, g.request_id),
      alarming as (
        select id, request_id from waiting where status = 'failed'
        union all select id, request_id from leaving where ${failure.alarm})
      ${emitEach(ctx, { type: 'grant.failed', subject_type: 'grant' }, sql`alarming`)}`,
  ])
}

/**
 * Gives the entitlement back with the moment of its next look: `wait_ms` from now, or when one of its live grants next
 * needs one, whichever is first; never overruling a moment that somebody else set meanwhile. INVARIANT: one whose desired
 * and observed do not agree always has a next look.
 */
export async function closeLook(tx: Tx, item: WorkItem, due_at: string, wait_ms: number | undefined): Promise<void> {
  const wait = sql`make_interval(secs => ${wait_ms === undefined ? null : wait_ms / 1000}::float8)`
  const settled = sql`e.act is null and (e.observed = case when ${liveGrant(tx, item)} then 'present' else 'absent' end
    or (e.held_before and e.observed <> 'unknown'))`
  await tx.write([
    sql`update entitlement e set lease_until = null,
        next_look_at = case when e.next_look_at is distinct from ${due_at}::timestamptz then e.next_look_at else least(
          clock_timestamp() + coalesce(${wait}, case when not (${settled}) then interval '1 second' end),
          (select min(least(g.expires_at, g.expiring_at, case when g.status = 'pending' then g.activate_by end))
            from access_grant g where ${grantsOf(tx, item)} and g.status in ('pending', 'active'))) end
      where ${ours(tx, item)}`,
  ])
}
