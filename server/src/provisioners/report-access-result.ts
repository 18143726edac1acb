import { Type } from 'typebox'
import { isSigned } from '../egress/standard-webhooks.ts'
import { operation } from '../http/operation.ts'
import { Body, IdParams, Nullable, OneOf } from '../http/schema.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import { openSecrets } from './provisioner-secrets.ts'
import { findProvisionerToOpen } from './provisioner-store.ts'
import { readClock, saveWebhookOutcome } from './webhook-act-store.ts'

/** Requests reconciliation of a provisioner's entitlement, by its key. */
export type RequestReconciliation = (tx: Tx, provisioner_id: string, key: string) => Promise<void>

/** A longer message is cut to the stored length. */
const [maxSentLength, maxKeptLength] = [10_000, 500]
const maxConnectLength = 8_000

/**
 * Accepts the result of an act that the receiver had not finished. The signature authenticates the receiver. All other callers
 * get one answer, so that no caller learns which provisioners exist. The first result of an act counts, so a replayed one
 * changes nothing.
 */
export const reportAccessResult = (requestReconciliation: RequestReconciliation) =>
  operation({
    method: 'POST',
    path: '/v1/provisioners/{id}/results',
    summary: 'Report the result of an act, as the receiver of a webhook',
    credential: 'tenant',
    scope: null,
    limitedBy: 'failures',
    params: IdParams,
    keepsBody: true,
    body: Body({
      type: Type.Literal('access.result'),
      data: Type.Object({
        id: Type.String({ maxLength: 100, description: 'the `webhook-id` of the message that requested the act' }),
        status: OneOf(['done', 'failed']),
        message: Type.Optional(Nullable(Type.String({ maxLength: maxSentLength, description: 'why it failed' }))),
        connect: Type.Optional(
          Type.Unknown({ description: 'how the holder connects, in the form that the guide of the webhook shows' }),
        ),
      }),
    }),
    replies: { 204: null },
    errors: ['unauthenticated'],
    async run(ctx, { params, body: { data }, header, sent }): Promise<undefined> {
      const secrets = await findSecrets(ctx, params.id)
      const headers = {
        'webhook-id': header('webhook-id'),
        'webhook-timestamp': header('webhook-timestamp'),
        'webhook-signature': header('webhook-signature'),
      }
      if (!isSigned(secrets, headers, new Date(await readClock(ctx.tx)), sent)) {
        throw new Problem(
          'unauthenticated',
          'the result has no valid, recent signature; sign it with the secret of the provisioner',
        )
      }
      const id = readUuid(data.id)
      if (id === undefined) return
      const { status } = data
      const message = status === 'failed' ? (data.message?.slice(0, maxKeptLength) ?? null) : null
      const connect = keptConnect(data.connect)
      const key = await saveWebhookOutcome(ctx.tx, { provisioner_id: params.id, id }, status, message, connect)
      if (key !== undefined) await requestReconciliation(ctx.tx, params.id, key)
    },
  })

/** As JSON; null for nothing. What is too long is kept as a text, in whose place the holder reads that it has no valid form. */
function keptConnect(connect: unknown): string | null {
  const json = JSON.stringify(connect ?? null)
  if (json === 'null') return null
  return json.length > maxConnectLength ? '"too long"' : json
}

/** The secrets that its receiver may sign with now; none when it is no webhook, or does not exist. */
async function findSecrets({ tx, sealer }: Ctx, id: string): Promise<string[]> {
  const found = await findProvisionerToOpen(tx, id)
  if (found?.provisioner_type !== 'webhook') return []
  const { made, previous } = await openSecrets({ tx, sealer }, id, found.sealed_secrets)
  const valid = [made.signing_secret, (found.previous_ms ?? 0) > 0 ? previous.signing_secret : undefined]
  return valid.filter((secret) => secret !== undefined)
}
