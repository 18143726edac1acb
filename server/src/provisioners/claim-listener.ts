import type { Installation } from '../installation/installation.ts'
import { createLruCache } from '../kernel/lru-cache.ts'
import { HeldBack, type KeptClaim, saysListening } from './claim.ts'
import type { Claim } from './target-claims.ts'

/** Listens whether another copy of the database moves the claims that this process would write. */
export type ClaimListener = {
  /** This process has run so long that every other holder of a target would have been heard. */
  hasListened(): boolean
  /** The first epoch that this process acts in is known. */
  began(state: Pick<Installation, 'epoch'>): void
  /**
   * A process that ran through a failover goes on. One that starts in the new epoch may run on an old copy that was promoted: it waits whether
   * another one moves the claim. Returns whether it did.
   * @throws HeldBack while it waits
   */
  hasMoved(provisioner_id: string, state: Installation, kept: KeptClaim | undefined, there: Claim | undefined): boolean
}

const maxHeard = 10_000

export function openClaimListener(listenMs: number, now = () => performance.now()): ClaimListener {
  const openedAt = now()
  const heard = createLruCache<{ token: string; since: number }>(maxHeard)
  let firstEpoch: number | undefined
  return {
    hasListened: () => now() - openedAt >= listenMs,
    began({ epoch }) {
      firstEpoch ??= epoch
    },
    hasMoved(provisioner_id, { epoch, adopted_epoch }, kept, there) {
      const isDoubtful = epoch === firstEpoch && adopted_epoch !== epoch
      if (!isDoubtful || kept === undefined || kept.epoch >= epoch) return false
      const token = there?.token ?? ''
      const first = heard.get(provisioner_id) ?? { token, since: now() }
      heard.set(provisioner_id, first)
      if (first.token !== token) return true
      if (now() - first.since < listenMs) throw new HeldBack(saysListening)
      return false
    },
  }
}
