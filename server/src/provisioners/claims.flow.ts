import type { InstallationState } from '../installation/installation.ts'
import { systemActor, type Tx, type WorkCtx } from '../kernel/context.ts'
import { createLruCache } from '../kernel/lru-cache.ts'
import { type Claims, HeldBack, requireWritable, saysForged } from './claim.ts'
import { openClaimListener } from './claim-listener.ts'
import { type ConfirmedClaim, confirmClaim } from './confirm-claim.flow.ts'
import type { MarkKeys } from './marks.ts'
import type { TargetClaims } from './target-claims.ts'

type ClaimsOptions = {
  installation: InstallationState
  markKeys: MarkKeys
  /**
   * A process writes no claim further before it has run for so long. The original is heard from within this time: a copy that was just started
   * finds that out, and not the original that there is a copy.
   */
  listenMs?: number | undefined
}

/** Longer than from one sweep of a provisioner to the next. */
const usualListenMs = 300_000

/** For so long a claim that was read counts. Each sweep reads it. */
const freshForMs = 300_000
/** The same while the process still listens for others, or where ours could not be written. */
const freshForNowMs = 10_000

const maxKnown = 10_000

/** What a process knows of the claim of a provisioner, and until when. */
type Known = ConfirmedClaim & { until: number }

export function openClaims({ installation, markKeys, listenMs = usualListenMs }: ClaimsOptions): Claims {
  const listener = openClaimListener(listenMs)
  const known = createLruCache<Known>(maxKnown)
  const reading = new Map<string, Promise<Known>>()

  const confirm = async (tx: Tx, provisioner_id: string, claims: TargetClaims, beats: boolean): Promise<Known> => {
    const ctx: WorkCtx = { tx, actor: systemActor, request_id: `provisioner:${provisioner_id}` }
    const deps = { installation, markKeys, listener }
    const confirmed = await confirmClaim(deps, ctx, provisioner_id, claims, beats)
    const isFresh = confirmed.isSettled && listener.hasListened()
    return { ...confirmed, until: performance.now() + (isFresh ? freshForMs : freshForNowMs) }
  }

  /** Calls at once share one reading; a beat has one of its own. */
  const read = async (tx: Tx, provisioner_id: string, claims: TargetClaims, beats: boolean): Promise<Known> => {
    const inFlight = reading.get(provisioner_id)
    if (inFlight !== undefined && !beats) return inFlight
    await inFlight?.catch(() => undefined)
    const begun = (async () => {
      try {
        const found = await confirm(tx, provisioner_id, claims, beats)
        known.set(provisioner_id, found)
        return found
      } catch (error) {
        known.delete(provisioner_id)
        throw error
      } finally {
        reading.delete(provisioner_id)
      }
    })()
    reading.set(provisioner_id, begun)
    return begun
  }

  const current = async () => {
    const state = await installation.now()
    listener.began(state)
    requireWritable(state)
    return state
  }

  return {
    async require(tx, provisioner_id, claims, act) {
      const { epoch } = await current()
      if (claims === null) return
      const last = known.get(provisioner_id)
      const isFresh = last?.epoch === epoch && performance.now() < last.until
      const { forged } = isFresh ? last : await read(tx, provisioner_id, claims, false)
      if (forged && act === 'gives') throw new HeldBack(saysForged)
    },
    async beat(tx, provisioner_id, claims) {
      await current()
      if (claims === null) return false
      const { forged, isKept } = await read(tx, provisioner_id, claims, true)
      if (forged) throw new HeldBack(saysForged)
      return isKept
    },
  }
}
