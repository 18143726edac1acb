import { sql } from '../db/sql.ts'
import { emitEach } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { settingSeconds } from '../settings/setting-store.ts'
import { isActive } from '../users/active-store.ts'
import type { Waiting } from './convergence.ts'
import { grantsOf, isWanted, lateEffectFor, ours } from './entitlement-store.ts'
import { assign, assignEither, isBefore } from './grant-transition-store.ts'
import type { PolicyVerdict } from './policy-verdict.ts'

/** Pending grants that policy permits, as long as `rulesUnchanged` is true. */
export type StillPermitted = { grant_ids: readonly string[]; rulesUnchanged: Statement }

/** For a write that concerns no pending grant. */
export const noGrants: StillPermitted = { grant_ids: [], rulesUnchanged: sql`true` }

/**
 * The common table expression of permitted grants that may still be given: they are pending, the rules are those that were
 * evaluated, and the holder is active. A concurrent deactivation of the holder commits either before this, or after it and
 * then ends the grant.
 */
function stillPermitted(tx: Tx, item: WorkItem, { grant_ids, rulesUnchanged }: StillPermitted): Statement {
  return sql`permitted as (
      select g.id from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
      where ${grantsOf(tx, item)} and g.id = any(${[...grant_ids]}::uuid[]) and g.status = 'pending'
        and ${isActive(sql`u`)} and ${rulesUnchanged}
      for share of u)`
}

/**
 * The guard that blocked a write: another worker has the entitlement, the rules changed since the evaluation, or a grant is no
 * longer pending.
 */
export type Blocked = 'lease_lost' | 'rules_changed' | 'not_pending'

/**
 * Records that access is about to be given, to end at `until`. From then on the access is ours. If another worker began a grant
 * before and never recorded its outcome, that worker may be asleep and its call may still have a late effect.
 */
export async function beginGrant(
  tx: Tx,
  item: WorkItem,
  permitted: StillPermitted,
  until: Date,
): Promise<'begun' | Blocked> {
  const count = permitted.grant_ids.length
  const [[row]] = await tx.write([
    sql<{ outcome: 'begun' | Blocked }>`with ${stillPermitted(tx, item, permitted)},
      begun as (
        update entitlement e set act = 'grant', act_reference = null, act_polls = 0, observed = 'unknown',
          may_land_until = case when e.act = 'grant' then ${lateEffectFor} else e.may_land_until end,
          held_before = false, suspected = false, given_until = ${until.toISOString()}::timestamptz,
          updated_at = clock_timestamp()
        where ${ours(tx, item)} and (select count(*) from permitted) = ${count} and ${isWanted} returning e.id),
      attempted as (
        update access_grant g set ${assign('begin')}, updated_at = clock_timestamp()
        from begun, permitted where g.tenant_id = ${tx.tenant_id} and g.id = permitted.id
          and ${isBefore('begin')} and g.provisioning_status <> 'attempting')
      select case when exists (select from begun) then 'begun'
        else ${blockedBy(tx, item, permitted.rulesUnchanged)} end as outcome`,
  ])
  return row?.outcome ?? 'lease_lost'
}

/** The guard that blocked a write about an entitlement, as the statement began. If no other guard explains it, a grant is not pending. */
function blockedBy(tx: Tx, item: WorkItem, rulesUnchanged: Statement): Statement {
  return sql`case when not exists (select from entitlement e where ${ours(tx, item)}) then 'lease_lost'
    when not (${rulesUnchanged}) then 'rules_changed' else 'not_pending' end`
}

/**
 * Fails the grants that policy refuses now, keeps the decision, and emits events. If a guard blocked a write, returns that guard.
 */
export async function failRefused(
  ctx: WorkCtx,
  item: WorkItem,
  waiting: readonly Waiting[],
  verdict: PolicyVerdict,
): Promise<'failed' | Blocked> {
  const { tx } = ctx
  const failing = [...verdict.refused].map(([request_id, { reason, data, insertDecision: keep }]) => {
    const ids = waiting.filter((grant) => grant.request_id === request_id).map((grant) => grant.id)
    return sql<{ outcome: 'failed' | Blocked }>`with failed as (
        update access_grant g set ${assign('deny', sql`${reason}`)}, updated_at = clock_timestamp()
        from entitlement e where ${ours(tx, item)} and ${grantsOf(tx, item)} and g.id = any(${ids}::uuid[])
          and ${isBefore('deny')} and ${verdict.rulesUnchanged}
        returning g.id, g.request_id),
      kept as (${keep(sql`(select distinct request_id as id from failed) as refused`)}),
      emitted as (${emitEach(ctx, { type: 'grant.failed', subject_type: 'grant', data }, sql`failed`)})
      select case when exists (select from failed) then 'failed'
        else ${blockedBy(tx, item, verdict.rulesUnchanged)} end as outcome`
  })
  const outcomes = (await tx.write(failing)).map(([row]) => row?.outcome ?? 'lease_lost')
  return outcomes.find((outcome) => outcome !== 'failed') ?? 'failed'
}

/**
 * The target shows that it holds the access. Waiting grants become active and their time begins: grants in `begun`, given by our
 * own act, and grants in `joining`, for which the observation is enough. `reference`: the target's own name for that act.
 * `ends_early`: the access ends before the grants do, so it is checked once more. Returns the ids of the activated grants.
 */
export async function savePresent(
  ctx: WorkCtx,
  item: WorkItem,
  begun: readonly string[],
  joining: StillPermitted,
  { reference, ends_early }: { reference: string | null; ends_early: boolean },
): Promise<string[]> {
  const { tx } = ctx
  // The holders are locked before the entitlement; a deactivation locks them in the same order.
  const [rows] = await tx.write([
    sql<{ id: string }>`with ${stillPermitted(tx, item, joining)},
      given as materialized (
        select clock_timestamp() as now, count(g.id) > 0 as some, coalesce(bool_or(g.by_person), false) as by_person
        from (select count(*) from permitted) locked left join access_grant g on ${grantsOf(tx, item)}
          and g.status = 'pending' and (g.id = any(${[...begun]}::uuid[]) or g.id in (select id from permitted))),
      ${seenPresent(tx, item, ends_early)},
      ${activate(ctx, begun, reference)}
      select id from active`,
  ])
  return rows.map((row) => row.id)
}

/** The time that its holder has the access without a gap begins with the first grant, until a grant is linked after it was gone. */
function seenPresent(tx: Tx, item: WorkItem, ends_early: boolean): Statement {
  return sql`seen as (
      update entitlement e set observed = 'present', act = null, act_reference = null,
        held_since = coalesce(e.held_since, case when given.some then given.now end),
        by_person = e.by_person or given.by_person,
        suspected = ${ends_early}::boolean, failures = case when ${isWanted} then 0 else e.failures end,
        last_error = case when ${isWanted} then null else e.last_error end,
        drift = case when e.drift is not null and ${isWanted} then null else e.drift end,
        drifted_at = case when e.drift is not null and ${isWanted} then null else e.drifted_at end,
        updated_at = clock_timestamp()
      from given where ${ours(tx, item)}
      returning e.tenant_id, e.id, e.held_before, e.held_since, e.by_person, given.now)`
}

function activate(ctx: WorkCtx, begun: readonly string[], reference: string | null): Statement {
  const warning = settingSeconds(ctx.tx, 'notifications.expiring_seconds')
  // The time of an extension begins at the end of what it extends, which is still to come, or just over.
  const begins = sql`coalesce(g.starts_at, seen.now)`
  return sql`active as (
      update access_grant g set ${assignEither(sql`seen.held_before`, 'adopt', 'activate')}, activated_at = seen.now,
        last_error = null, updated_at = seen.now,
        expires_at = ${begins} + make_interval(secs => g.duration_seconds),
        expiring_at = ${begins} + make_interval(secs => g.duration_seconds - least(${warning}, g.duration_seconds / 2)),
        held_since = least(g.held_since, seen.held_since), by_person = g.by_person or seen.by_person,
        target_reference = case when g.id = any(${[...begun]}::uuid[]) then ${reference}::text end
      from seen
      where g.tenant_id = seen.tenant_id and g.entitlement_id = seen.id and ${isBefore('activate')}
        and g.activate_by > seen.now and (g.id = any(${[...begun]}::uuid[]) or g.id in (select id from permitted))
      returning g.id, g.request_id),
    emitted as (${emitEach(ctx, { type: 'grant.activated', subject_type: 'grant' }, sql`active`)})`
}
