import { sql } from '../db/sql.ts'
import { emitEach } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { settingSeconds } from '../settings/setting-store.ts'
import { isActive } from '../users/active-store.ts'
import type { Waiting } from './convergence.ts'
import {
  emitOfGrants,
  grantsOf,
  holdEntitlements,
  isLeaving,
  isOfMine,
  isWanted,
  lateEffectFor,
  leaseOf,
  mine,
  ours,
} from './entitlement-store.ts'
import { assign, assignEither, isBefore } from './grant-transition-store.ts'
import { missingTo } from './move-ends-store.ts'
import type { PolicyVerdict } from './policy-verdict.ts'

/** Pending grants that policy permits, as long as `rulesUnchanged` is true. */
export type StillPermitted = { grant_ids: readonly string[]; rulesUnchanged: Statement }

/** For a write that concerns no pending grant. */
export const noGrants: StillPermitted = { grant_ids: [], rulesUnchanged: sql`true` }

type WorkRow = Pick<WorkItem, 'id' | 'generation'>

/** Rows of a batch, and the pending grants of each that policy permits. */
type Permitted = { item: WorkItem; permitted: StillPermitted }

/**
 * The batch in parts with the same rules: in nearly every batch all rows were evaluated by the same version. One transaction, which locks
 * the holders of all permitted grants first, then all entitlements, each in the order of their ids: a concurrent deactivation of a holder
 * commits either before this, or after it and then ends the grant.
 */
async function writeByRules<Row extends Permitted, Answer>(
  tx: Tx,
  rows: readonly Row[],
  write: (part: readonly Row[], rulesUnchanged: Statement) => Statement<Answer>,
): Promise<Answer[]> {
  const ids = rows.flatMap(({ permitted }) => permitted.grant_ids)
  const holdHolders = sql`select from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = any(array(
    select g.user_id from access_grant g where g.tenant_id = ${tx.tenant_id} and g.id = any(${ids}::uuid[])))
    order by u.id for share`
  const parts = Map.groupBy(rows, ({ permitted }) => wholeText(permitted.rulesUnchanged))
  const writes = [...parts.values()].map((part) => write(part, part[0]?.permitted.rulesUnchanged ?? sql`false`))
  const items = rows.map(({ item }) => item)
  const locks = [...(ids.length > 0 ? [holdHolders] : []), ...(parts.size > 1 ? [holdEntitlements(tx, items)] : [])]
  const answers = await tx.write([...locks, ...writes])
  return answers.slice(-writes.length).flat() as Answer[]
}

const wholeText = ({ text, values }: Statement) => `${text} ${values.join()}`

/**
 * The common table expression of permitted grants that may still be given: they are pending, the rules are those that were
 * evaluated, and the holder, who is locked, is active. `mine` has the ids of the grants.
 */
function stillPermitted(tx: Tx, rulesUnchanged: Statement): Statement {
  return sql`permitted as materialized (
      select g.id, mine.id as entitlement_id from mine, unnest(mine.grant_ids) as want (id)
      cross join lateral (
        select g.id from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
        where g.tenant_id = ${tx.tenant_id} and g.id = want.id and g.entitlement_id = mine.id
          and g.status = 'pending' and ${isActive(sql`u`)} offset 0) g
      where ${rulesUnchanged})`
}

/**
 * The guard that blocked a write: another worker has the entitlement, the rules changed since the evaluation, or a grant is no
 * longer pending.
 */
export type Blocked = 'lease_lost' | 'rules_changed' | 'not_pending'

/** Access that is about to be given to these grants, and to end at `until`. */
export type Beginning = { item: WorkItem; permitted: StillPermitted; until: Date }

/**
 * Records that access is about to be given. From then on the access is ours. If another worker began a grant
 * before and never recorded its outcome, that worker may be asleep and its call may still have a late effect. Grants whose access was revoked
 * before it is given again have ended. One round trip.
 */
export async function beginGrants(tx: Tx, rows: readonly Beginning[]): Promise<('begun' | Blocked)[]> {
  const outcomes = await writeByRules(tx, rows, (part, rulesUnchanged) => beginPart(tx, part, rulesUnchanged))
  const found = new Map(outcomes.map((row) => [leaseOf(row), row.outcome]))
  return rows.map(({ item }) => found.get(leaseOf(item)) ?? 'lease_lost')
}

/**
 * `ready` is a common table expression: PostgreSQL takes plans for equal whose costs differ by less than 1 %. Beside the cost of counting, a scan
 * of a table of some hundred rows is as cheap to it as an index.
 */
function beginPart(tx: Tx, part: readonly Beginning[], rulesUnchanged: Statement) {
  const items = part.map(({ item, permitted: { grant_ids }, until }) => ({ item, grant_ids, until }))
  return sql<WorkRow & { outcome: 'begun' | Blocked }>`with
    ${mine(tx, items, sql`, grant_ids uuid[], until timestamptz`)}, ${stillPermitted(tx, rulesUnchanged)},
    ready as materialized (select mine.id, mine.until from mine
      where (select count(*) from permitted where entitlement_id = mine.id) = cardinality(mine.grant_ids)),
    begun as (
      update entitlement e set act = 'grant', act_reference = null, act_polls = 0, observed = 'unknown',
        may_land_until = case when e.act = 'grant' then ${lateEffectFor} else e.may_land_until end,
        held_before = false, suspected = false, given_until = ready.until, updated_at = clock_timestamp()
      from ready where e.tenant_id = ${tx.tenant_id} and e.id = ready.id and ${isWanted}
      returning e.id),
    taken_away as (
      update access_grant g set ${assign('finish')}, last_error = null, updated_at = clock_timestamp()
      from mine where ${isOfMine(tx)} and ${isLeaving} and mine.id in (select id from begun)),
    attempted as (
      update access_grant g set ${assign('begin')}, updated_at = clock_timestamp()
      from permitted where g.tenant_id = ${tx.tenant_id} and g.id = permitted.id
        and permitted.entitlement_id in (select id from begun)
        and ${isBefore('begin')} and g.provisioning_status <> 'attempting')
    select mine.id, mine.generation::text, case when mine.id in (select id from begun) then 'begun'
      when not (${rulesUnchanged}) then 'rules_changed' else 'not_pending' end as outcome from mine`
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
 * What the target shows: it holds the access. Waiting grants become active and their time begins: grants in `begun`, given by our
 * own act, and those in `permitted`, for which the observation is enough. `reference`: the target's own name for that act.
 * `ends_early`: the access ends before the grants do, so it is checked once more.
 */
export type Presence = {
  item: WorkItem
  begun: readonly string[]
  permitted: StillPermitted
  reference: string | null
  ends_early: boolean
}

/** Records what targets show, and returns the ids of the activated grants of each. One round trip. */
export async function savePresences(tx: Tx, rows: readonly Presence[]): Promise<string[][]> {
  const activated = await writeByRules(tx, rows, (part, rulesUnchanged) => presentPart(tx, part, rulesUnchanged))
  const found = Map.groupBy(activated, leaseOf)
  return rows.map(({ item }) => (found.get(leaseOf(item)) ?? []).map(({ grant_id }) => grant_id))
}

function presentPart(tx: Tx, part: readonly Presence[], rulesUnchanged: Statement) {
  const items = part.map(({ permitted: { grant_ids }, ...presence }) => ({ ...presence, grant_ids }))
  return sql<WorkRow & { grant_id: string }>`with
    ${mine(tx, items, sql`, begun uuid[], grant_ids uuid[], reference text, ends_early boolean`)},
    ${stillPermitted(tx, rulesUnchanged)}, ${given(tx)}, ${seenPresent(tx)}, ${activate(tx)}
    select id as grant_id, entitlement_id as id, generation::text from active`
}

/** The grants that become active, unless their deadline is over, and the one moment at which they do. */
function given(tx: Tx): Statement {
  return sql`given as materialized (
      select g.id, g.by_person, mine.id as entitlement_id, mine.generation, mine.reference,
        g.id = any(mine.begun) as by_act
      from (select count(*) from permitted) locked, mine
      cross join lateral (
        select g.id, g.by_person from access_grant g where g.tenant_id = ${tx.tenant_id} and g.entitlement_id = mine.id
          and g.status = 'pending' and (g.id = any(mine.begun) or g.id in (select id from permitted)) offset 0) g),
    moment as materialized (select clock_timestamp() as now from (select count(*) from given) found)`
}

/** The time that its holder has the access without a gap begins with the first grant, until a grant is linked after it was gone. */
function seenPresent(tx: Tx): Statement {
  return sql`seen as (
      update entitlement e set observed = 'present', act = null, act_reference = null,
        held_since = coalesce(e.held_since,
          case when exists (select from given where given.entitlement_id = mine.id) then moment.now end),
        by_person = e.by_person
          or exists (select from given where given.entitlement_id = mine.id and given.by_person),
        suspected = mine.ends_early, failures = case when ${isWanted} then 0 else e.failures end,
        last_error = case when ${isWanted} then null else e.last_error end,
        drift = case when e.drift is not null and ${isWanted} then null else e.drift end,
        drifted_at = case when e.drift is not null and ${isWanted} then null else e.drifted_at end,
        updated_at = clock_timestamp()
      from mine, moment where e.tenant_id = ${tx.tenant_id} and e.id = mine.id
      returning e.id, e.held_before, e.held_since, e.by_person, moment.now)`
}

function activate(tx: Tx): Statement {
  const warning = settingSeconds(tx, 'notifications.expiring_seconds')
  // The time of an extension begins at the end of what it extends, which is still to come, or just over: by the clock as it is set now.
  const missing = missingTo(sql`clock_back_ms()`, sql`g`)
  const begins = sql`coalesce(g.starts_at - ${missing}, seen.now)`
  return sql`active as (
      update access_grant g set ${assignEither(sql`seen.held_before`, 'adopt', 'activate')}, activated_at = seen.now,
        last_error = null, updated_at = seen.now,
        expires_at = ${begins} + make_interval(secs => g.duration_seconds),
        expiring_at = ${begins} + make_interval(secs => g.duration_seconds - least(${warning}, g.duration_seconds / 2)),
        clock_back_ms = clock_back_ms(), starts_at = g.starts_at - ${missing},
        held_since = least(g.held_since - ${missing}, seen.held_since), by_person = g.by_person or seen.by_person,
        target_reference = case when given.by_act then given.reference end
      from given join seen on seen.id = given.entitlement_id
      where g.tenant_id = ${tx.tenant_id} and g.id = given.id and ${isBefore('activate')} and g.activate_by > seen.now
      returning g.id, g.request_id, g.entitlement_id, given.generation),
    emitted as (${emitOfGrants(tx, 'grant.activated', sql`active`)})`
}
