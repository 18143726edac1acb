/**
 * What the stores of grants and entitlements write, as functions of a state. Every change of a grant follows the product's own table. Each
 * function here is one statement or transaction of a store, whose name it has.
 */
import type { Ending, EntitlementRow, Failure } from '../../src/grants/convergence.ts'
import { requireExtendable } from '../../src/grants/extension.ts'
import { type GrantChange, transitionsOf } from '../../src/grants/grant-transition.ts'
import { type Entitlement, type Grant, isLive, isWanted, type Row, type Tick } from './state.ts'

/** In milliseconds, as the product has moments: longer than the minute that it calls early. */
const tickMs = 600_000
const ticksOf = (ms: number | null): Tick | null => (ms === null ? null : ms / tickMs)

/** Whether the grant has a status from which the change may start: `isBefore` of the product. */
function isBefore({ status }: Grant, change: GrantChange): boolean {
  return status !== null && transitionsOf(change).some(({ from }) => from.includes(status))
}

/** The grant after the change: `assign` of the product, which treats a pair that is not listed like the last row. */
export function assign(grant: Grant, change: GrantChange): Grant {
  const rows = transitionsOf(change)
  const row = rows.find(({ was }) => was.includes(grant.provisioning)) ?? rows.at(-1)
  if (row === undefined) throw new Error(`no change \`${change}\``)
  return { ...grant, status: row.to ?? grant.status, provisioning: row.becomes }
}

const changed = (grant: Grant, change: GrantChange) => (isBefore(grant, change) ? assign(grant, change) : grant)

const isLeaving = (grant: Grant) =>
  isBefore(grant, 'finish') && ['deprovisioning', 'deprovisioning_failed'].includes(grant.provisioning)

/** The grants of the entitlement after `update` of each that is linked to it. */
function ofLinked(entitlement: Entitlement, update: (grant: Grant) => Grant): Entitlement {
  return { ...entitlement, grants: entitlement.grants.map((grant) => (grant.linked ? update(grant) : grant)) }
}

function withRow(entitlement: Entitlement, row: Partial<Row>): Entitlement {
  return { ...entitlement, row: { ...entitlement.row, ...row } }
}

/** `openEntitlements`: what is due by the clock, then the state as a run begins. `lastGrantRule`: other grants keep the access. */
export function openEntitlement(
  before: Entitlement,
  now: Tick,
  corrects_drift: boolean,
  lastGrantRule: boolean,
): { entitlement: Entitlement; row: EntitlementRow } {
  const onTime = ofLinked(before, (grant) => {
    if (grant.expires !== null && grant.expires <= now && isBefore(grant, 'expire')) return assign(grant, 'expire')
    return grant.activate_by <= now ? changed(grant, 'miss_deadline') : grant
  })
  const isKept = lastGrantRule && isWanted(onTime) && onTime.row.act !== 'revoke'
  const entitlement = isKept ? ofLinked(onTime, (one) => (isLeaving(one) ? assign(one, 'finish') : one)) : onTime
  const { grants, row } = entitlement
  const isHidden = !lastGrantRule && grants.some((one) => one.linked && isLeaving(one))
  const live = isHidden ? [] : grants.filter((one) => one.linked && isLive(one))
  const ends = live.map(({ expires, starts, duration }) => expires ?? (starts ?? now) + duration)
  return {
    entitlement,
    row: {
      ...{ provisioner: 'sandbox', provisioner_id: null, provisioner_version: null, enabled: true, target: {} },
      ...{ act_polls: 0, failures: 0, due_at: '', is_made: false, corrects_drift },
      held: live.some(({ status }) => status === 'active'),
      waiting: live
        .filter(({ status }) => status === 'pending')
        .map(({ id, provisioning }) => ({ id, request_id: id, begun: provisioning === 'attempting' })),
      until_ms: ends.length > 0 ? Math.max(...ends) * tickMs : null,
      given_until_ms: row.given_until === null ? null : row.given_until * tickMs,
      act: row.act,
      act_reference: row.named ? 'operation' : null,
      ...{ held_before: row.held_before, observed: row.observed, suspected: row.suspected, drift: row.drift },
      may_land: mayLand(onTime, now),
      awaited: isAwaited(onTime, now),
    },
  }
}

/** `isAwaited` of the product, for a time that is shorter than a tick: the grant has just expired, and its extension is not linked yet. */
function isAwaited({ grants }: Entitlement, now: Tick): boolean {
  const isExpiring = grants.some(
    (one) => one.linked && one.status === 'expired' && isLeaving(one) && one.expires === now,
  )
  return isExpiring && grants.some((one) => one.starts !== null && one.status === 'pending' && !one.linked)
}

/** `mayLand` of the product; less than 0: null. */
function mayLand(entitlement: Entitlement, now: Tick): boolean {
  const { may_land_until } = entitlement.row
  return may_land_until >= 0 && (may_land_until > now || !isWanted(entitlement))
}

/** The moment of a write, and for how long a late effect is then checked for: `lateEffectFor` of the product. */
export type Clock = { now: Tick; window: Tick }

/** `beginGrants`: the access is about to be given to these grants. Undefined: one of them is no longer pending. */
export function beginGrant(
  entitlement: Entitlement,
  { ids, until_ms, ...clock }: { ids: readonly string[]; until_ms: number | null } & Clock,
): Entitlement | undefined {
  const permitted = entitlement.grants.filter(
    ({ id, linked, status }) => linked && ids.includes(id) && status === 'pending',
  )
  if (permitted.length < ids.length || !isWanted(entitlement)) return undefined
  const acting = withRow(beginAct(entitlement, 'grant', clock), { held_before: false, given_until: ticksOf(until_ms) })
  const begun = { ...acting, target: { ...acting.target, reported_gone: false } }
  return ofLinked(begun, (grant) =>
    permitted.includes(grant) ? changed(grant, 'begin') : isLeaving(grant) ? assign(grant, 'finish') : grant,
  )
}

/** `beginRevokes`: the access is about to be revoked. */
export const beginRevoke = (entitlement: Entitlement, clock: Clock) => beginAct(entitlement, 'revoke', clock)

/** An act over a grant that nobody finished: the call of the other worker may still have a late effect. */
function beginAct(entitlement: Entitlement, act: 'grant' | 'revoke', { now, window }: Clock): Entitlement {
  const { may_land_until } = entitlement.row
  return withRow(entitlement, {
    ...{ act, named: false, observed: 'unknown', suspected: false },
    may_land_until: entitlement.row.act === 'grant' ? now + window : may_land_until,
  })
}

/** `failRefused`: policy refuses the grant. Undefined: it is no longer pending. */
export function failRefused(entitlement: Entitlement, id: string): Entitlement | undefined {
  const isPending = entitlement.grants.some((one) => one.id === id && isBefore(one, 'deny'))
  return isPending ? ofLinked(entitlement, (one) => (one.id === id ? assign(one, 'deny') : one)) : undefined
}

/** `saveDrift`. */
export const saveDrift = (entitlement: Entitlement, drift: 'removed' | 'added') =>
  withRow(entitlement, { drift, suspected: false })

/** `savePresences`: the target holds the access, and these grants become active. `pendingOnly`: unless they have ended. */
export function savePresent(
  entitlement: Entitlement,
  {
    ids,
    ends_early,
    now,
    pendingOnly,
  }: { ids: readonly string[]; ends_early: boolean; now: Tick; pendingOnly: boolean },
): { entitlement: Entitlement; activated: string[] } {
  const { row } = entitlement
  const seen = withRow(entitlement, {
    ...{ observed: 'present', act: null, named: false, suspected: ends_early },
    drift: isWanted(entitlement) ? null : row.drift,
  })
  const isToActivate = (grant: Grant) =>
    ids.includes(grant.id) && (!pendingOnly || isBefore(grant, 'activate')) && grant.activate_by > now
  const active = ofLinked(seen, (grant) =>
    isToActivate(grant)
      ? {
          ...assign(grant, row.held_before ? 'adopt' : 'activate'),
          ...{ activated: true, expires: (grant.starts ?? now) + grant.duration },
        }
      : grant,
  )
  const activated = seen.grants.filter((one) => one.linked && isToActivate(one)).map(({ id }) => id)
  return { entitlement: active, activated }
}

/** `settle`. `moved`: the moment of the next check was set meanwhile, and stays. `nextCheck`: what is not settled is checked again. */
export function settle(
  before: Entitlement,
  { wait_ms, last }: Ending,
  { moved, nextCheck, ...clock }: { moved: boolean; nextCheck: boolean } & Clock,
): Entitlement {
  const isGone = last !== undefined && 'gone' in last
  let entitlement = isGone ? ofLinked(before, (one) => (isLeaving(one) ? assign(one, 'finish') : one)) : before
  if (last !== undefined && 'failure' in last) entitlement = saveFailure(entitlement, last.failure, clock)
  const { row } = entitlement
  const isCleared = isGone || (last !== undefined && 'unbegun' in last)
  const after: Row = {
    ...row,
    ...{ leased: false, act: isCleared ? null : row.act },
    named: !isCleared && (row.named || (last !== undefined && 'under_way' in last)),
    observed: isGone ? 'absent' : row.observed,
    suspected: row.suspected && !isGone,
    drift: isGone && !isWanted(entitlement) ? null : row.drift,
    may_land_until: isGone && !moved && wasDueAfter(row) ? -1 : row.may_land_until,
  }
  const isAgain = wait_ms !== undefined || (nextCheck && !isSettled({ ...entitlement, row: after }))
  const target = isGone ? { ...entitlement.target, reported_gone: true } : entitlement.target
  const next = moved ? row.next : nextLook({ ...entitlement, row: after }, isAgain, clock.now)
  return { ...entitlement, target, row: { ...after, next } }
}

/** `noneLanded`: the check was due after the time for a late effect. */
const wasDueAfter = ({ next, may_land_until }: Row): boolean => next !== null && may_land_until <= next

/** When the entitlement is next due: every wait is shorter than a tick. A late effect is checked for until its time is over. */
function nextLook(entitlement: Entitlement, isAgain: boolean, now: Tick): Tick | null {
  const { may_land_until, observed } = entitlement.row
  if (isAgain || (observed === 'absent' && may_land_until >= 0 && !isWanted(entitlement))) return now
  const ends = entitlement.grants
    .filter((one) => one.linked && isLive(one))
    .map(({ status, expires, activate_by }) => (status === 'pending' ? activate_by : (expires ?? activate_by)))
  return ends.length > 0 ? Math.min(...ends) : null
}

function isSettled(entitlement: Entitlement): boolean {
  const { act, observed, held_before, drift } = entitlement.row
  if (act !== null) return false
  const wanted = isWanted(entitlement)
  if (observed === (wanted ? 'present' : 'absent') || (held_before && observed !== 'unknown')) return true
  return drift === (wanted ? 'removed' : 'added')
}

function saveFailure(entitlement: Entitlement, failure: Failure, { now, window }: Clock): Entitlement {
  const { giving, permanent, clears_act, repeats_act, may_land } = failure
  const { row, grants } = entitlement
  const failed = withRow(entitlement, {
    ...(clears_act && { act: repeats_act ? row.act : null, named: false, observed: 'unknown' as const }),
    may_land_until: may_land ? now + window : row.may_land_until,
  })
  const last = grants.findLast(({ linked }) => linked)
  return ofLinked(failed, (grant) => {
    if (giving) return permanent ? changed(grant, 'reject') : grant
    const isLeft = grant === last && isBefore(grant, 'alarm') && grant.provisioning === 'failed'
    return isLeaving(grant) || isLeft ? assign(grant, 'alarm') : grant
  })
}

/** The access that the ledger has is not of Sallyport: `isNotOurs` of the product. */
const isNotOurs = ({ act, observed, drift }: Row) => act === null && (observed === 'absent' || drift === 'added')

/** `linkGrants`: the grant is linked to its entitlement, which is due now. */
export function linkGrant({ row, ...rest }: Entitlement, { id, plan }: Grant, now: Tick): Entitlement {
  const held = plan === 'held'
  const isFree = !row.exists || isNotOurs(row)
  const linked: Row = {
    ...row,
    ...{ exists: true, next: now },
    ...(isFree && {
      held_before: held && row.may_land_until < 0,
      observed: 'unknown',
      drift: null,
    }),
  }
  const link = (one: Grant): Grant => (one.id === id ? { ...one, linked: true, plan: null } : one)
  return { ...rest, row: linked, grants: rest.grants.map(link) }
}

/** `revokeLiveGrant`: a person ends the grant, and what extends it. */
export function revokeGrant(entitlement: Entitlement, id: string, now: Tick): Entitlement {
  const grants = entitlement.grants.map((one) =>
    (one.id === id || one.starts !== null) && isBefore(one, 'revoke') ? assign(one, 'revoke') : one,
  )
  const isSet = grants.some((one, index) => one.linked && one !== entitlement.grants[index])
  return { ...withRow(entitlement, isSet ? { next: now } : {}), grants }
}

/** `retryFailedGrant`: undefined where it refuses. */
export function retryGrant(entitlement: Entitlement, grant: Grant, now: Tick): Entitlement | undefined {
  if (!isBefore(grant, 'retry') || grant.activated || grant.activate_by <= now || grant.starts !== null)
    return undefined
  const retried: Grant = { ...assign(grant, 'retry'), linked: false, plan: null }
  return { ...entitlement, grants: entitlement.grants.map((one) => (one === grant ? retried : one)) }
}

/** Whether the product would take a request to extend the grant. */
export function isExtendable({ status, expires, duration }: Grant, now: Tick): boolean {
  if (status === null || expires === null) return false
  try {
    const from = expires - duration / 2
    const is_half_used = from <= now
    requireExtendable({
      ...{ status, is_half_used, extended_by: null },
      is_active: expires > now,
      extendable_from: `${from}`,
    })
    return status === 'active'
  } catch {
    return false
  }
}
