import { NotReached, postSigned } from '../../egress/signed-post.ts'
import type { Egress, Sealer, Tx } from '../../kernel/context.ts'
import { piecesOf } from '../../kernel/foreign-text.ts'
import type { SendOutcome } from '../../kernel/send-outcome.ts'
import type { Carrier, Delivery } from '../carrier.ts'
import type { NotificationChannel } from '../notification-channel.ts'
import { findWebhookToCall } from '../notification-channel-store.ts'
import { openSecrets } from '../webhook-secrets.ts'
import { messageOf } from './event-message.ts'
import { outcomeOf } from './outcome.ts'

type Dependencies = { sealer: Sealer; egress: Egress }

/** Delivers events to the tenants' receivers, in messages signed by Standard Webhooks, through the egress guard. */
export function webhookCarrier(dependencies: Dependencies, maxMs = 15_000): Carrier {
  return {
    maxMs,
    carry: (tx, channel, delivery, leaving) => {
      const signal = AbortSignal.any([leaving, AbortSignal.timeout(maxMs)])
      return carry(dependencies, tx, channel, delivery, { leaving, signal })
    },
    close: () => Promise.resolve(),
  }
}

async function carry(
  { sealer, egress }: Dependencies,
  tx: Tx,
  { id }: NotificationChannel,
  delivery: Delivery,
  { leaving, signal }: { leaving: AbortSignal; signal: AbortSignal },
): Promise<SendOutcome> {
  // Address, headers and secrets come from one read: secret headers never go to a previous or later address of the channel.
  const found = await findWebhookToCall(tx, id, delivery.event.at)
  if (found === undefined) return { kind: 'refused', why: 'the channel was deleted' }
  const { secret, previous, headers } = await openSecrets({ tx, sealer }, id, found.sealed_secrets)
  const secrets = found.previous_counts && previous !== null ? [secret, previous] : [secret]
  const [url, at, body] = [
    found.config.url,
    new Date(found.now),
    JSON.stringify(messageOf(tx.tenant_id, found.mode, delivery.event)),
  ]
  try {
    const response = await postSigned(egress, { url, headers, secrets, id: delivery.id, at, body }, signal)
    return await outcomeOf(response, at, piecesOf([...secrets, ...Object.values(headers)]))
  } catch (error) {
    if (!(error instanceof NotReached)) throw error
    const why = leaving.aborted ? 'the service stopped before the receiver answered' : error.message
    return { kind: 'try_again', why, holds_up: 'all' }
  }
}
