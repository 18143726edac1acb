import type { Opening, TargetClaims } from '../driver.ts'
import { type Claim, TargetError } from '../driver.ts'
import type { Receiver } from './receiver.ts'

/** Keeps the claim of a provisioner at a receiver that lists what it holds: it answers the claim that it has kept before. */
export function receiverClaims(receiver: Receiver, { provisioner_id, tenant_id }: Opening): TargetClaims {
  const send = async (tx: Parameters<TargetClaims['read']>[0], claim: Claim | null, signal: AbortSignal) => {
    const data = { tenant_id, provisioner_id, claim }
    const { fields } = await receiver.withinLimit('takes', () =>
      receiver.send(tx, { type: 'access.claim', data }, signal),
    )
    return readClaim(fields.claim)
  }
  return {
    read: (tx, signal) => send(tx, null, signal),
    async write(tx, claim, signal) {
      await send(tx, claim, signal)
    },
  }
}

function readClaim(said: unknown): Claim | undefined {
  if (said === null) return undefined
  const { installation, epoch, token, at } = (said ?? {}) as Partial<Record<keyof Claim, unknown>>
  const isTime = typeof at === 'string' && !Number.isNaN(Date.parse(at))
  if (typeof installation === 'string' && typeof token === 'string' && Number.isSafeInteger(epoch) && isTime) {
    return { installation, epoch: Number(epoch), token, at }
  }
  throw new TargetError(
    'transient',
    'the receiver answered `access.claim` without the `claim` that it has kept, or null where it has none',
  )
}
