/** What must hold in every state and in every step, and what must stay possible. */
import { foreseenSteps } from '../support/grant-steps.ts'
import { type Entitlement, type Grant, isDue, isLive, isWanted, type State } from './state.ts'
import type { Step } from './world.ts'

/** The properties, each with what it says. */
export const properties = {
  'lost access':
    'while a grant is active and its end has not come, the target holds the access, unless a hand or a late call took it',
  'forgotten access':
    'where an active grant lacks its access, a check is due, the drift is reported, or a sweep compares the entitlement',
  'access never back':
    'where an active grant lacks its access, it comes back or is reported as drift, by steps that happen by themselves',
  'access after its end':
    'where the target holds access of ours, or a call of ours may still give it, and no live grant wants it, a check is due',
  'access never gone':
    'where the target holds access of ours that no live grant wants, it is gone after steps that happen by themselves',
  'late end': 'a live grant whose end or deadline has come has a check that is due',
  'begins again': 'a grant that has ended is never live again; one that failed is, by a retry, if it never was active',
  'held after it was gone':
    'access that was reported gone is not held later, unless an act for another grant began, by a hand or by a late call',
  'unforeseen change': 'each change of a grant is a row of the table of its life cycle',
} as const
export type Property = keyof typeof properties

/** Steps of the table, and two of them in one transaction: a grant expires and is finished because another keeps the access. */
const foreseen = new Set<string>(foreseenSteps())
for (const one of foreseenSteps()) {
  const [before, middle] = one.split(' ')
  for (const other of foreseenSteps())
    if (other.startsWith(`${middle} `)) foreseen.add(`${before} ${other.split(' ')[1]}`)
}

/** The property that the step breaks. */
export function brokenBy(from: State, { to }: Step): Property | undefined {
  for (const which of ['entitlement', 'other'] as const) {
    const [before, after] = [from[which], to[which]]
    if (before === null || after === null) continue
    const broken = before.grants === after.grants ? undefined : brokenByGrants(before.grants, after.grants)
    if (broken !== undefined) return broken
  }
  return undefined
}

function brokenByGrants(before: readonly Grant[], after: readonly Grant[]): Property | undefined {
  for (const [index, was] of before.entries()) {
    const is = after[index]
    if (is === undefined || was.status === null) continue
    if (!isLive(was) && isLive(is) && (was.status !== 'failed' || was.activated)) return 'begins again'
    const [one, other] = [`${was.status}/${was.provisioning}`, `${is.status}/${is.provisioning}`]
    if (one !== other && !foreseen.has(`${one} ${other}`)) return 'unforeseen change'
  }
  return undefined
}

/** The property that the state itself breaks. */
export function brokenIn(state: State): Property | undefined {
  return brokenOf(state.entitlement, state) ?? (state.other === null ? undefined : brokenOf(state.other, state))
}

function brokenOf(entitlement: Entitlement, state: State): Property | undefined {
  const { row, target } = entitlement
  const { now } = state
  if (lacksAccess(entitlement, now)) {
    if (target.by === 'act') return 'lost access'
    const isCompared = row.act === null && row.observed === 'present' && !row.suspected
    if (!isDue(row, now) && row.drift !== 'removed' && !isCompared) return 'forgotten access'
  }
  if (target.reported_gone && target.held && target.by === 'act') return 'held after it was gone'
  if (isDue(row, now)) return undefined
  if (entitlement.grants.some((one) => one.linked && isOverdue(one, now))) return 'late end'
  const mayBeGiven = entitlement === state.entitlement && mayStillGive(state)
  return !isWanted(entitlement) && (isHeldByUs(entitlement) || mayBeGiven) ? 'access after its end' : undefined
}

const isHeldByUs = ({ target }: Entitlement) => target.held && target.by !== 'hand'

function mayStillGive({ entitlement: { target }, workers }: State): boolean {
  if (target.held) return false
  return (
    target.operation === 'grant' ||
    target.late.some(({ act }) => act === 'grant') ||
    workers.some(({ at }) => at === 'call grant')
  )
}

function isOverdue({ status, expires, activate_by }: Grant, now: number): boolean {
  return (status === 'active' && expires !== null && expires <= now) || (status === 'pending' && activate_by <= now)
}

/** An active grant whose end has not come has no access at the target. */
function lacksAccess({ target, grants }: Entitlement, now: number): boolean {
  return !target.held && grants.some(({ status, expires }) => status === 'active' && expires !== null && expires > now)
}

/** Conditions that must be able to end by steps that happen by themselves, without time or people. */
export const mustEnd: readonly { property: Property; holds(state: State): boolean }[] = [
  {
    property: 'access never back',
    holds: ({ entitlement, now, corrects_drift }) => {
      const { drift, held_before } = entitlement.row
      const isReported = drift === 'removed' && (!corrects_drift || held_before)
      return lacksAccess(entitlement, now) && !isReported
    },
  },
  {
    property: 'access never gone',
    holds: ({ entitlement }) => !isWanted(entitlement) && isHeldByUs(entitlement),
  },
]
