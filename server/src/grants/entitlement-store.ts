import { sql } from '../db/sql.ts'
import { emitEach } from '../events/emit.ts'
import type { WorkItem } from '../jobs/work-list.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { settingSeconds } from '../settings/setting-store.ts'
import type { EntitlementState } from './entitlement.ts'
import type { PolicyWord } from './policy-word.ts'

/** A pending grant. `begun`: an act that gives it was begun, with policy's word. */
export type Waiting = { id: string; request_id: string; begun: boolean }

/** An entitlement as a look at it begins. */
export type EntitlementRow = Omit<EntitlementState, 'seen_now' | 'told_now' | 'wanted' | 'joining'> & {
  /** An active grant wants it. */
  held: boolean
  /** The oldest pending grants that want it, at most `mostWaiting`. */
  waiting: Waiting[]
  provisioner: string
  target: Record<string, unknown>
  act_polls: number
  failures: number
  /** The moment that made it due, to the microsecond: whoever sets another one meanwhile is not overruled. */
  due_at: string
}

/** So many pending grants of one entitlement are given in one turn; the rest come in the next. */
export const mostWaiting = 50

/** Pending grants that policy permits, as long as `still` is true. */
export type Permitted = { grant_ids: readonly string[]; still: Statement }

/** For where no pending grant is concerned. */
export const nobody: Permitted = { grant_ids: [], still: sql`true` }

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
        exists (select from access_grant g where ${grantsOf(tx, item)} and g.status = 'active') as held,
        coalesce((select jsonb_agg(jsonb_build_object('id', p.id, 'request_id', p.request_id,
            'begun', p.provisioning_status = 'attempting') order by p.id)
          from (select g.id, g.request_id, g.provisioning_status from access_grant g
            where ${grantsOf(tx, item)} and g.status = 'pending' order by g.id limit ${mostWaiting}) p), '[]') as waiting
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
 * The common table expression of permitted grants that may still be given: they wait, the rules are those that were asked,
 * the holder is active. Whoever shuts the holder out at the same moment comes before it, or after it and ends it.
 */
function stillPermitted(tx: Tx, item: WorkItem, { grant_ids, still }: Permitted): Statement {
  return sql`permitted as (
      select g.id from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
      where ${grantsOf(tx, item)} and g.id = any(${[...grant_ids]}::uuid[]) and g.status = 'pending' and u.active
        and ${still}
      for share of u)`
}

/**
 * Writes down that access is about to be given. What we give is ours from then on. False, and nothing is written: the
 * rules changed since they were asked, a permitted grant waits no more, nobody wants it, or the lease was lost.
 */
export async function beginGrant(tx: Tx, item: WorkItem, permitted: Permitted): Promise<boolean> {
  const count = permitted.grant_ids.length
  const [rows] = await tx.write([
    sql`with ${stillPermitted(tx, item, permitted)},
      begun as (
        update entitlement e set act = 'grant', act_reference = null, act_polls = 0, observed = 'unknown',
          held_before = false, updated_at = clock_timestamp()
        where ${ours(tx, item)} and (select count(*) from permitted) = ${count} and ${liveGrant(tx, item)} returning e.id),
      attempted as (
        update access_grant g set provisioning_status = 'attempting', updated_at = clock_timestamp()
        from begun, permitted where g.tenant_id = ${tx.tenant_id} and g.id = permitted.id
          and g.status = 'pending' and g.provisioning_status <> 'attempting')
      select id from begun`,
  ])
  return rows.length > 0
}

/** Writes down that access is about to be taken away. False: the lease was lost. */
export async function beginRevoke(tx: Tx, item: WorkItem): Promise<boolean> {
  const [rows] = await tx.write([
    sql`update entitlement e set act = 'revoke', act_reference = null, act_polls = 0, observed = 'unknown',
        updated_at = clock_timestamp()
      where ${ours(tx, item)} returning e.id`,
  ])
  return rows.length > 0
}

/**
 * Fails the grants that policy refuses now, keeps why, tells of it. Answers whether all of them are settled: false where
 * the rules changed since they were asked.
 */
export async function failRefused(
  ctx: WorkCtx,
  item: WorkItem,
  waiting: readonly Waiting[],
  word: PolicyWord,
): Promise<boolean> {
  const { tx } = ctx
  const failing = [...word.refused].map(([request_id, { reason, data, keep }]) => {
    const ids = waiting.filter((grant) => grant.request_id === request_id).map((grant) => grant.id)
    return sql`with failed as (
        update access_grant g set status = 'failed', provisioning_status = 'failed', ended_at = clock_timestamp(),
          end_reason = ${reason}, updated_at = clock_timestamp()
        from entitlement e where ${ours(tx, item)} and ${grantsOf(tx, item)} and g.id = any(${ids}::uuid[])
          and g.status = 'pending' and ${word.still}
        returning g.id, g.request_id),
      kept as (${keep(sql`(select distinct request_id as id from failed) as refused`)}),
      told as (${emitEach(ctx, { type: 'grant.failed', subject_type: 'grant', data }, sql`failed`)})
      select id from failed`
  })
  const failed = await tx.write(failing)
  return failed.every((rows) => rows.length > 0)
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
 * The target itself says that it holds it. Grants that wait become active, their time begins: those of `begun`, given by
 * our own act, and those of `joining`, which the target's word alone is enough for. Answers the ids of the activated.
 */
export async function savePresent(
  ctx: WorkCtx,
  item: WorkItem,
  begun: readonly string[],
  joining: Permitted,
): Promise<string[]> {
  const { tx } = ctx
  // The holders are locked before the entitlement, in the order of whoever shuts them out.
  const [rows] = await tx.write([
    sql<{ id: string }>`with ${stillPermitted(tx, item, joining)},
      ${seen(tx, item, 'present', sql`(select count(*) from permitted) >= 0`)},
      ${activate(ctx, begun)}
      select id from active`,
  ])
  return rows.map((row) => row.id)
}

/** The target itself says that it does not hold it: what was to be taken away is gone. */
export async function saveAbsent(ctx: WorkCtx, item: WorkItem): Promise<void> {
  await ctx.tx.write([sql`with ${seen(ctx.tx, item, 'absent', sql`true`)} ${settleGone}`])
}

function seen(tx: Tx, item: WorkItem, observed: 'present' | 'absent', condition: Statement): Statement {
  const agrees = sql`(${liveGrant(tx, item)}) = ${observed === 'present'}::boolean`
  return sql`seen as (
      update entitlement e set observed = ${observed}, act = null, act_reference = null, updated_at = clock_timestamp(),
        failures = case when ${agrees} then 0 else e.failures end,
        last_error = case when ${agrees} then null else e.last_error end
      where ${ours(tx, item)} and ${condition} returning e.tenant_id, e.id, e.held_before)`
}

function activate(ctx: WorkCtx, begun: readonly string[]): Statement {
  const warning = settingSeconds(ctx.tx, 'notifications.expiring_seconds')
  return sql`active as (
      update access_grant g set status = 'active', activated_at = t.now, last_error = null, updated_at = t.now,
        expires_at = t.now + make_interval(secs => g.duration_seconds),
        expiring_at = t.now + make_interval(secs => g.duration_seconds - least(${warning}, g.duration_seconds / 2)),
        provisioning_status = case when seen.held_before then 'not_attempted' else 'successful' end
      from seen, (select clock_timestamp() as now) t
      where g.tenant_id = seen.tenant_id and g.entitlement_id = seen.id and g.status = 'pending'
        and g.activate_by > t.now and (g.id = any(${[...begun]}::uuid[]) or g.id in (select id from permitted))
      returning g.id, g.request_id),
    told as (${emitEach(ctx, { type: 'grant.activated', subject_type: 'grant' }, sql`active`)})`
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
