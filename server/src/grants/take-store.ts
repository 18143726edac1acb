import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Ending, Failure } from './convergence.ts'
import {
  emitOfGrants,
  holdEntitlements,
  isLeaving,
  isMade,
  isOfMine,
  isWaitedFor,
  isWanted,
  lateEffectFor,
  leaseOf,
  mine,
} from './entitlement-store.ts'
import { assign, isBefore } from './grant-transition-store.ts'

/** Records that the access of many entitlements is about to be revoked. False: the lease was lost. */
export async function beginRevokes(tx: Tx, items: readonly WorkItem[]): Promise<boolean[]> {
  const wrapped = items.map((item) => ({ item }))
  const [begun] = await tx.write([
    sql<Pick<WorkItem, 'id' | 'generation'>>`with ${mine(tx, wrapped)}
      update entitlement e set act = 'revoke', act_reference = null, act_polls = 0, observed = 'unknown',
        may_land_until = case when e.act = 'grant' then ${lateEffectFor} else e.may_land_until end, suspected = false,
        updated_at = clock_timestamp()
      from mine where e.tenant_id = ${tx.tenant_id} and e.id = mine.id
      returning e.id, e.generation::text`,
  ])
  const held = new Set(begun.map(leaseOf))
  return items.map((item) => held.has(leaseOf(item)))
}

/** How a run leaves an entitlement. `due_at`: the moment that made it due. */
export type Settling = Ending & { item: WorkItem; due_at: string }

/**
 * Records how the runs of many entitlements ended, and releases the entitlements. One round trip.
 * INVARIANT: an entitlement whose desired and observed state differ always has a next check.
 */
export async function settle(tx: Tx, settlings: readonly Settling[]): Promise<undefined[]> {
  const gone: { item: WorkItem; reference: string | null }[] = []
  const failed: ({ item: WorkItem } & Failure)[] = []
  const leaving: UnderWay[] = []
  const others: Settling[] = []
  const waiting = waitingOf(settlings)
  for (const settling of settlings) {
    const { item, due_at, wait_ms, last } = settling
    if (last !== undefined && 'gone' in last) gone.push({ item, reference: last.gone })
    if (last !== undefined && 'failure' in last) failed.push({ item, ...last.failure })
    const underWay = last !== undefined && 'under_way' in last && !last.wanted ? last.under_way : undefined
    if (underWay === undefined || wait_ms === undefined) others.push(settling)
    else leaving.push({ item, due_at, wait_seconds: wait_ms / 1000, reference: underWay })
  }
  const writes: Statement[] = []
  if (gone.length > 0) writes.push(endLeaving(tx, gone))
  if (failed.length > 0) writes.push(saveFailures(tx, failed))
  if (waiting.length > 0) writes.push(showWhy(tx, waiting))
  if (leaving.length > 0) writes.push(awaitTarget(tx, leaving))
  if (others.length > 0) writes.push(postponeChecks(tx, others))
  const items = settlings.map(({ item }) => item)
  await tx.write(writes.length > 1 ? [holdEntitlements(tx, items), ...writes] : writes)
  return settlings.map(() => undefined)
}

type Shown = { item: WorkItem; why: string }

/** The entitlements whose runs end with a reason to wait. */
function waitingOf(settlings: readonly Settling[]): Shown[] {
  return settlings.flatMap(({ item, last }) => {
    return last !== undefined && 'unbegun' in last && last.why !== null ? [{ item, why: last.why }] : []
  })
}

/** Shows on the entitlements, and on the grants that wait for them, why they wait. That is no failure. */
function showWhy(tx: Tx, items: readonly Shown[]): Statement {
  return sql`with ${mine(tx, items, sql`, why text`)},
    said as (
      update entitlement e set last_error = mine.why from mine
      where e.tenant_id = ${tx.tenant_id} and e.id = mine.id and e.last_error is distinct from mine.why)
    update access_grant g set last_error = mine.why, updated_at = clock_timestamp()
    from mine where ${isOfMine(tx)} and (g.status = 'pending' or ${isLeaving})
      and g.last_error is distinct from mine.why`
}

type UnderWay = { item: WorkItem; due_at: string; wait_seconds: number; reference: string }

/**
 * The target is removing access that no live grant wants: it is polled again after the wait. The result is the same as that of
 * `postponeChecks`, without its subqueries, because each of ten thousand ends at one instant passes here. A grant that began to
 * want the access meanwhile has set another moment.
 */
function awaitTarget(tx: Tx, items: readonly UnderWay[]): Statement {
  const isDue = sql`e.next_look_at is not distinct from mine.due_at`
  return sql`with ${mine(tx, items, sql`, due_at timestamptz, wait_seconds float8, reference text`)}
    update entitlement e set lease_until = null, act_reference = mine.reference, act_polls = e.act_polls + 1,
      gives = e.gives and not ${isDue}, updated_at = clock_timestamp(),
      next_look_at = case when ${isDue} then clock_timestamp() + make_interval(secs => mine.wait_seconds)
        else e.next_look_at end
    from mine where e.tenant_id = ${tx.tenant_id} and e.id = mine.id`
}

/** The access to be revoked is gone. */
function endLeaving(tx: Tx, items: readonly { item: WorkItem; reference: string | null }[]): Statement {
  return sql`with ${mine(tx, items, sql`, reference text`)}
    update access_grant g set ${assign('finish')}, last_error = null, target_reference = mine.reference,
      updated_at = clock_timestamp()
    from mine where ${isOfMine(tx)} and ${isLeaving}`
}

/** Records failures on the entitlements and on the grants that they concern. */
function saveFailures(tx: Tx, items: readonly ({ item: WorkItem } & Failure)[]): Statement {
  const facts = sql`, message text, giving boolean, permanent boolean, clears_act boolean, repeats_act boolean,
    alarm boolean, may_land boolean, reference text`
  const rejects = sql`(mine.giving and mine.permanent)`
  return sql`with ${mine(tx, items, facts)},
    failing as (
      update entitlement e set failures = e.failures + 1, last_error = mine.message, updated_at = clock_timestamp(),
        act = case when not mine.clears_act or mine.repeats_act then e.act end,
        act_reference = case when not mine.clears_act then e.act_reference end,
        observed = case when mine.clears_act then 'unknown' else e.observed end,
        may_land_until = case when mine.may_land then ${lateEffectFor} else e.may_land_until end
      from mine where e.tenant_id = ${tx.tenant_id} and e.id = mine.id),
    waiting as (
      update access_grant g set last_error = mine.message, target_reference = mine.reference,
        updated_at = clock_timestamp()
      from mine where ${isOfMine(tx)} and g.status = 'pending'
        and not ${rejects}),
    rejected as (
      update access_grant g set ${assign('reject')}, last_error = mine.message, target_reference = mine.reference,
        updated_at = clock_timestamp()
      from mine where ${isOfMine(tx)} and ${isBefore('reject')}
        and ${rejects}
      returning g.id, g.request_id, g.entitlement_id),
    leaving as (
      update access_grant g set last_error = mine.message, target_reference = mine.reference,
        ${assign('alarm')}, updated_at = clock_timestamp(),
        alarmed_at = case when mine.alarm then coalesce(g.alarmed_at, clock_timestamp()) else g.alarmed_at end
      from mine where ${isOfMine(tx)} and not mine.giving
        and (${isLeaving}
          or (${isBefore('alarm')} and g.provisioning_status = 'failed' and not exists (select from access_grant later
            where later.tenant_id = g.tenant_id and later.entitlement_id = g.entitlement_id and later.id > g.id)))
      returning g.id, g.request_id, g.entitlement_id, g.alarmed_at >= now() as alarm),
    alarming as (
      select id, request_id, entitlement_id from rejected
      union all select id, request_id, entitlement_id from leaving where alarm)
    ${emitOfGrants(tx, 'grant.failed', sql`alarming`)}`
}

/**
 * Releases entitlements with the moment of their next check: after the wait, or when one of their live grants next needs a
 * check, whichever is first. It never overwrites a moment that was set meanwhile.
 */
function postponeChecks(tx: Tx, settlings: readonly Settling[]): Statement {
  const items = settlings.map(({ item, due_at, wait_ms, last }) => ({
    item,
    due_at,
    wait_seconds: wait_ms === undefined ? null : wait_ms / 1000,
    reference: last !== undefined && 'under_way' in last ? last.under_way : null,
    gone: last !== undefined && 'gone' in last,
    unbegun: last !== undefined && 'unbegun' in last && last.unbegun,
  }))
  const facts = sql`, due_at timestamptz, wait_seconds float8, reference text, gone boolean, unbegun boolean`
  return sql`with ${mine(tx, items, facts)}
    update entitlement e set lease_until = null, gives = ${isWaitedFor}, updated_at = clock_timestamp(),
      act = case when not mine.gone and not mine.unbegun then e.act end,
      act_reference = case when not mine.gone and not mine.unbegun then coalesce(mine.reference, e.act_reference) end,
      act_polls = e.act_polls + (mine.reference is not null)::integer,
      observed = case when mine.gone then 'absent' else e.observed end,
      suspected = e.suspected and not mine.gone,
      drift = case when ${driftIsOver} then null else e.drift end,
      drifted_at = case when ${driftIsOver} then null else e.drifted_at end,
      failures = case when mine.gone and not ${isWanted} then 0 else e.failures end,
      last_error = case when not mine.gone or ${isWanted} then e.last_error end,
      next_look_at = case when e.next_look_at is distinct from mine.due_at then e.next_look_at else least(
        clock_timestamp() + coalesce(make_interval(secs => mine.wait_seconds),
          case when not (${isSettled}) then interval '1 second' end),
        case when mine.gone and e.may_land_until is not null and not ${noneLanded} and not ${isWanted}
          then least(clock_timestamp() + interval '1 minute', greatest(clock_timestamp(), e.may_land_until)) end,
        (select min(least(g.expires_at, g.expiring_at, case when g.status = 'pending' then g.activate_by end))
          from access_grant g where g.tenant_id = e.tenant_id and g.entitlement_id = e.id
            and g.status in ('pending', 'active'))) end,
      may_land_until = case when not ${noneLanded} then e.may_land_until end
    from mine where e.tenant_id = ${tx.tenant_id} and e.id = mine.id`
}

/** Evaluated in this order because drift is rare. */
const driftIsOver = sql`e.drift is not null and mine.gone and not ${isWanted}`

/** The state of `e` after `mine` agrees with what live grants want, or it was there before us, or it drifted and is left. */
const isSettled = sql`(mine.gone or e.act is null)
  and (case when mine.gone then 'absent' else e.observed end = case when ${isWanted} then 'present' else 'absent' end
    or (e.held_before and (mine.gone or e.observed <> 'unknown'))
    or (e.drift is not null and not (e.drift = 'added' and ${isMade(sql`e.target`)})
      and e.drift = case when ${isWanted} then 'removed' else 'added' end))`

/**
 * No late effect can have come unseen: the access is gone, as a check saw that was due after the time for it. A moment that is still to come was
 * due by a clock that was set back since.
 */
const noneLanded = sql`(mine.gone and e.may_land_until <= least(mine.due_at, clock_timestamp()))`
