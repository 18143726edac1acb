import type { Tx } from '../kernel/context.ts'
import type { ClaimedAct, Claims } from './claim.ts'
import type { Driver } from './driver.ts'

/** A driver that changes its target only while this installation holds it. Reading needs no claim. */
export function claimedDriver(driver: Driver, provisioner_id: string, claims: Claims): Driver {
  const requireClaim = (tx: Tx, act: ClaimedAct) => claims.require(tx, provisioner_id, driver.claims, act)
  return {
    ...driver,
    async grant(tx, ...rest) {
      await requireClaim(tx, 'gives')
      return driver.grant(tx, ...rest)
    },
    async revoke(tx, ...rest) {
      await requireClaim(tx, 'takes')
      return driver.revoke(tx, ...rest)
    },
    // An act that was begun goes on, and its further steps may follow in a poll.
    async poll(tx, ...rest) {
      await requireClaim(tx, 'takes')
      return driver.poll(tx, ...rest)
    },
  }
}
