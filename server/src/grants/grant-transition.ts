import type { GrantStatus, ProvisioningStatus } from './grant.ts'

/**
 * A row of the life cycle of a grant. `from` and `was` are its status and provisioning status before, `to` and `becomes` those
 * after; without `to` the status stays. `reason` is why it ended: `given` means that the caller states it, else this text.
 */
type GrantTransition = {
  change: string
  from: readonly GrantStatus[]
  was: readonly ProvisioningStatus[]
  to?: GrantStatus
  becomes: ProvisioningStatus
  reason?: string
}

const notGiven = ['not_attempted', 'attempting'] as const
const leaving = ['deprovisioning', 'deprovisioning_failed'] as const

/**
 * The life cycle of a grant, as one table: every change, with the pairs of status and provisioning status before and after it.
 * The SQL of each change (`grant-transition-store.ts`) and the trigger that guards both columns are generated from it.
 */
export const grantTransitions = [
  // An act that gives access is about to begin, for the first time or again.
  { change: 'begin', from: ['pending'], was: notGiven, becomes: 'attempting' },
  { change: 'activate', from: ['pending'], was: notGiven, to: 'active', becomes: 'successful' },
  // The access was at the target before any act of ours, and stays there when the grant ends.
  { change: 'adopt', from: ['pending'], was: notGiven, to: 'active', becomes: 'not_attempted' },

  { change: 'expire', from: ['active'], was: ['not_attempted'], to: 'expired', becomes: 'not_attempted' },
  { change: 'expire', from: ['active'], was: ['successful'], to: 'expired', becomes: 'deprovisioning' },
  {
    ...{ change: 'revoke', from: ['pending', 'active'], was: ['not_attempted'] },
    ...{ to: 'revoked', becomes: 'not_attempted', reason: 'given' },
  },
  {
    ...{ change: 'revoke', from: ['pending'], was: ['attempting'] },
    ...{ to: 'revoked', becomes: 'deprovisioning', reason: 'given' },
  },
  {
    ...{ change: 'revoke', from: ['active'], was: ['successful'] },
    ...{ to: 'revoked', becomes: 'deprovisioning', reason: 'given' },
  },

  {
    ...{ change: 'miss_deadline', from: ['pending'], was: notGiven },
    ...{ to: 'failed', becomes: 'failed', reason: 'access could not be given in time' },
  },
  {
    ...{ change: 'reject', from: ['pending'], was: notGiven },
    ...{ to: 'failed', becomes: 'failed', reason: 'its target refused it' },
  },
  // Policy refuses an approved grant right before it is given.
  { change: 'deny', from: ['pending'], was: notGiven, to: 'failed', becomes: 'failed', reason: 'given' },
  {
    ...{ change: 'retry', from: ['failed'], was: ['failed', 'deprovisioning_failed', 'deprovisioned'] },
    ...{ to: 'pending', becomes: 'not_attempted' },
  },

  { change: 'finish', from: ['expired', 'revoked'], was: leaving, becomes: 'deprovisioned' },
  { change: 'finish', from: ['failed'], was: ['deprovisioning_failed'], becomes: 'deprovisioned' },
  { change: 'alarm', from: ['expired', 'revoked'], was: leaving, becomes: 'deprovisioning_failed' },
  // Giving the access failed, and what the attempt may have left at the target cannot be revoked.
  { change: 'alarm', from: ['failed'], was: ['failed', 'deprovisioning_failed'], becomes: 'deprovisioning_failed' },
] as const satisfies readonly GrantTransition[]

/** One change of a grant. */
export type GrantChange = (typeof grantTransitions)[number]['change']

/** The rows of one change, in the order of the table. */
export function transitionsOf(change: GrantChange): readonly GrantTransition[] {
  return grantTransitions.filter((one) => one.change === change)
}
