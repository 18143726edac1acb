import { makeSigningSecret } from '../egress/standard-webhooks.ts'
import { operation } from '../http/operation.ts'
import { IdParams, SecretRotation, usualOverlapSeconds } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { channelTag } from './notification-channel.ts'
import { lockChannel, saveRotation } from './notification-channel-store.ts'
import { WebhookChannelWithSecret } from './webhook-channel.ts'
import { openSecrets, sealSecrets } from './webhook-secrets.ts'

/**
 * Rotates the signing secret of a webhook, and shows the new one only once. For a day, messages also carry the signature of the
 * previous secret, so that the receiver can be updated. The caller can set another time, and a further rotation ends it.
 */
export const rotateChannelSecret = operation({
  method: 'POST',
  path: '/v1/notification-channels/{id}/rotate-secret',
  summary: 'Rotate the signing secret of a webhook channel',
  credential: 'any',
  scope: 'notification_channels:write',
  keyOfSession: true,
  params: IdParams,
  body: SecretRotation,
  replies: { 200: WebhookChannelWithSecret },
  errors: ['not_found', 'unprocessable'],
  etag: channelTag,
  run: (ctx, { params: { id }, body: { overlap_seconds = usualOverlapSeconds } }) =>
    ctx.tx.interactive(async (tx) => {
      const inside = { ...ctx, tx }
      const kept = await lockChannel(tx, id)
      if (kept === undefined) throw notFound('notification channel')
      const { shown, sealed_secrets } = kept
      if (shown.channel_type !== 'webhook' || sealed_secrets === null) {
        throw new Problem(
          'unprocessable',
          `a channel of type \`${shown.channel_type}\` signs nothing and has no secret`,
        )
      }
      const before = await openSecrets(inside, id, sealed_secrets)
      const secret = makeSigningSecret()
      const previous = overlap_seconds === 0 ? null : before.secret
      const sealed = await sealSecrets(inside, id, { ...before, secret, previous })
      return { ...(await saveRotation(inside, shown, { sealed, overlap_seconds })), secret }
    }),
})
