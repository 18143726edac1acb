import type { Ending, Run } from '../../src/grants/convergence.ts'
import type { Drift, Observed } from '../../src/grants/entitlement.ts'
import type { GrantStatus, ProvisioningStatus } from '../../src/grants/grant.ts'

/** Time is a small number of ticks of some minutes: every retry and every check after a wait comes within one. */
export type Tick = number

/**
 * The guards that can be taken out of the model, each with what then happens. Without `next-check` alone, every property still holds:
 * `due-moment` does the same, and only without both is an entitlement forgotten.
 */
export const guards = {
  'last-grant': 'the end of a grant revokes the access, although another grant wants it',
  generation: 'a worker that lost its lease still writes',
  'late-effect': 'nothing remembers that an unanswered call may still take effect',
  'begin-record': 'an act is not recorded before it begins',
  'pending-only': 'a grant becomes active also if it is no longer pending',
  'due-moment': 'the end of a run overwrites a moment of the next check that was set meanwhile',
  'sweep-moment': 'a sweep leaves the moment of an entitlement with a run, which then overwrites it',
  'next-check': 'an entitlement is left without a next check where desired and observed state differ',
} as const
export type Guard = keyof typeof guards

/** A row of `access_grant`. `status` is null until its request is approved. */
export type Grant = {
  readonly id: string
  readonly duration: number
  status: GrantStatus | null
  provisioning: ProvisioningStatus
  /** What planning read at the target, until the grant is linked. */
  plan: 'held' | 'absent' | null
  linked: boolean
  /** It extends the grant that ends then. */
  starts: Tick | null
  activate_by: Tick
  expires: Tick | null
  /** It was active once. */
  activated: boolean
}

/** A row of `entitlement`, with its lease. A moment of `next` that has come makes it due. */
export type Row = {
  exists: boolean
  held_before: boolean
  observed: Observed
  suspected: boolean
  drift: Drift | null
  act: 'grant' | 'revoke' | null
  /** The target has named the act. */
  named: boolean
  may_land_until: Tick
  given_until: Tick | null
  next: Tick | null
  leased: boolean
}

type Act = 'grant' | 'revoke'

/** What the target holds. `by`: whose change that is; it is no part of the product, the properties need it. */
export type Target = {
  held: boolean
  by: 'act' | 'late' | 'hand'
  /** The operation that the target carries out, and that can be polled. */
  operation: Act | null
  /** Calls that nobody waits for any more and that still take effect, with the ticks in which they do. */
  late: readonly { act: Act; left: number }[]
  /** The ledger has reported the access gone, and no act that gives it has begun since; for the properties, too. */
  reported_gone: boolean
}

/** Where a worker stands: before each of its calls and writes. */
export type Place =
  | 'verify'
  | 'poll'
  | 'begin grant'
  | 'begin revoke'
  | 'call grant'
  | 'call revoke'
  | 'save drift'
  | 'save presence'
  | 'settle'

/** A worker with an entitlement. */
export type Worker = {
  at: Place
  run: Run | null
  /** How the run ends, before it is written. */
  ending: Ending | null
  /** What it observed, before the drift is saved. */
  saw: { observed: 'absent' | 'present'; drift: Drift } | null
  /** Another worker has claimed the entitlement since. */
  fenced: boolean
  /** The moment of the next check was set since the run began. */
  moved: boolean
  /** In how many ticks its run, or an act that it has recorded, is over: a call has a time limit. */
  left: number
}

/** An entitlement with its grants and its target. */
export type Entitlement = { row: Row; target: Target; grants: readonly Grant[] }

/**
 * Everything. `left`: disturbances that may still happen. The first entitlement is walked step by step, by `workers`; that of the other
 * user is converged in one step.
 */
export type State = {
  now: Tick
  left: number
  corrects_drift: boolean
  entitlement: Entitlement
  other: Entitlement | null
  workers: readonly Worker[]
}

/** How large the model is, and what it lacks. */
export type Options = {
  /** The last tick. */
  ticks: number
  /** Crashes, lost leases, failures, refusals, changes by hand and retries, in all. */
  disturbances: number
  /** Another user has a grant, too. */
  otherUser: boolean
  /** Time may pass while a check is due: no process runs. */
  outages: boolean
  without: readonly Guard[]
}

/** Ticks within which a call takes effect after its begin was recorded, also if nobody waits for it. The product relies on less than the window. */
export const lateTicks = 2
/** The product checks for a late effect this long: `lateEffectFor`. */
export const lateWindow = lateTicks + 1

/** The last tick in which access is requested. */
export const lastRequest = 1

const newGrant = (id: string, duration: number): Grant => ({
  ...{ id, duration, status: null, provisioning: 'not_attempted', plan: null, linked: false, starts: null },
  ...{ activate_by: 0, expires: null, activated: false },
})

const newEntitlement = (grants: readonly Grant[], held: boolean): Entitlement => ({
  row: {
    ...{
      exists: false,
      held_before: false,
      observed: 'unknown',
      suspected: false,
      drift: null,
      act: null,
      named: false,
    },
    ...{ may_land_until: -1, given_until: null, next: null, leased: false },
  },
  target: { held, by: held ? 'hand' : 'act', operation: null, late: [], reported_gone: false },
  grants,
})

/** Where the walk begins: access that was there before or not, drift that is corrected or not. */
export function initialStates({ disturbances, otherUser }: Options): State[] {
  return [false, true].flatMap((corrects_drift) =>
    [false, true].map((held) => ({
      ...{ now: 0, left: disturbances, corrects_drift, workers: [] },
      entitlement: newEntitlement([newGrant('grant 1', 2), newGrant('grant 2', 1)], held),
      other: otherUser ? newEntitlement([newGrant("the other user's grant", 1)], false) : null,
    })),
  )
}

/** A live grant: pending or active. */
export const isLive = ({ status }: Grant): boolean => status === 'pending' || status === 'active'

/** A live grant wants the access: what `isWanted` is in SQL. */
export const isWanted = ({ grants }: Entitlement): boolean => grants.some((one) => one.linked && isLive(one))

/** The entitlement has a check that is due. */
export const isDue = ({ next }: Row, now: Tick): boolean => next !== null && next <= now
