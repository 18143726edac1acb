import type { Tx } from '../kernel/context.ts'
import type { Claims } from './claim.ts'
import type { Driver } from './driver.ts'

/** A driver that changes its target only while this installation holds it. Reading needs no claim. */
export function claimedDriver(driver: Driver, provisioner_id: string, claims: Claims): Driver {
  const requireClaim = (tx: Tx) => claims.require(tx, provisioner_id, driver.claims)
  return {
    ...driver,
    async grant(tx, ...rest) {
      await requireClaim(tx)
      return driver.grant(tx, ...rest)
    },
    async revoke(tx, ...rest) {
      await requireClaim(tx)
      return driver.revoke(tx, ...rest)
    },
    // The steps of an act may follow in it.
    async poll(tx, ...rest) {
      await requireClaim(tx)
      return driver.poll(tx, ...rest)
    },
  }
}
