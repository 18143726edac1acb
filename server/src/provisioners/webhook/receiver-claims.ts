import { isObject } from '../../kernel/is-object.ts'
import { NoPlaceForClaim, type Opening, TargetError } from '../driver.ts'
import { type Claim, readClaim, type TargetClaims } from '../target-claims.ts'
import type { Receiver } from './receiver.ts'

/** Keeps the claim of a provisioner at a receiver that lists what it holds: it answers the claim that it has kept before. */
export function receiverClaims(receiver: Receiver, { provisioner_id, tenant_id }: Opening): TargetClaims {
  const send = async (tx: Parameters<TargetClaims['read']>[0], claim: Claim | null, signal: AbortSignal) => {
    const data = { tenant_id, provisioner_id, claim }
    const { fields } = await receiver
      .withinLimit('takes', () => receiver.send(tx, { type: 'access.claim', data }, signal))
      .catch(asNoPlace)
    return claimIn(fields.claim)
  }
  return {
    read: (tx, signal) => send(tx, null, signal),
    async write(tx, claim, signal) {
      await send(tx, claim, signal)
    },
  }
}

function claimIn(said: unknown): Claim | undefined {
  if (said === null) return undefined
  const claim = isObject(said) ? readClaim(said) : undefined
  if (claim !== undefined) return claim
  throw new TargetError(
    'transient',
    'the receiver answered `access.claim` without the `claim` that it has kept, or null where it has none',
  )
}

/** A receiver that refuses the message keeps no claim. */
function asNoPlace(error: unknown): never {
  throw error instanceof TargetError && error.kind === 'permanent' ? new NoPlaceForClaim(error.message) : error
}
