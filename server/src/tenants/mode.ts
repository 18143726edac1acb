import type { Statement, WorkCtx } from '../kernel/context.ts'

/**
 * A tenant in rehearsal may try everything without effect: what no provisioner serves is given in the sandbox. A live tenant gives
 * real access, and refuses what nothing serves. It goes live once, and never back.
 */
export type Mode = 'rehearsal' | 'live'

/** By whom, or by what, a tenant goes live. */
export type LiveCause = 'operator' | 'owner' | 'provisioner'

/**
 * Has the tenant go live without its rehearsal, if the condition holds: in one transaction, or in the caller's. False if it does not hold,
 * or if the tenant is live already. It is passed in, because what the rehearsal made is of many slices.
 * @throws Problem 409 `case_broken` if a case requires a rule of the rehearsal
 */
export type GoLive = (ctx: WorkCtx, cause: LiveCause, condition?: Statement) => Promise<boolean>

/** How many tenants are in each mode. */
export type ModeCounts = Record<Mode, number>

/** For the operator. */
export function describeModes({ live, rehearsal }: ModeCounts): string {
  const all = live + rehearsal
  if (all === 0) return 'no tenant yet'
  const tenants = all === 1 ? '1 tenant' : `${all} tenants`
  const [are, their] = all === 1 ? ['', 'its'] : ['all ', 'their']
  if (rehearsal === 0) return `${tenants}, ${are}live: ${their} access is real`
  if (live === 0) return `${tenants}, ${are}in rehearsal: ${their} access is simulated`
  return `${tenants}: ${live} live, ${rehearsal} in rehearsal, whose access is simulated`
}
