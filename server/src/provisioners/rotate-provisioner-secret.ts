import { versionTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams, SecretRotation, usualOverlapSeconds } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import type { DriverType } from './driver.ts'
import { openingOf } from './open-provisioner.flow.ts'
import { type ProvisionerType, ProvisionerWithSecrets } from './provisioner.ts'
import { openSecrets, sealSecrets } from './provisioner-secrets.ts'
import { findKeptProvisioner, findProvisioner, lockProvisioner, saveRotation } from './provisioner-store.ts'
import { describeSetUp } from './set-up.ts'

/**
 * Rotates the generated secrets for the target, and shows the new ones only once. The previous secrets stay valid for a day,
 * so that the target can be updated. The caller can set another time, and a further rotation ends it.
 */
export const rotateProvisionerSecret = (types: Readonly<Record<ProvisionerType, DriverType>>) =>
  operation({
    method: 'POST',
    path: '/v1/provisioners/{id}/rotate-secret',
    summary: 'Rotate the secrets that a provisioner shares with its target',
    credential: 'any',
    scope: 'provisioners:write',
    keyOfSession: true,
    params: IdParams,
    body: SecretRotation,
    replies: { 200: ProvisionerWithSecrets },
    errors: ['not_found', 'unprocessable'],
    etag: versionTag,
    async run(ctx, { params: { id }, body: { overlap_seconds = usualOverlapSeconds } }) {
      const { shown, secrets } = await ctx.tx.interactive(async (tx) => {
        const inside = { ...ctx, tx }
        await lockProvisioner(tx, id, { links: false })
        const kept = await findKeptProvisioner(tx, id)
        if (kept === undefined) throw notFound('provisioner')
        const { provisioner_type } = kept.shown
        const made = types[provisioner_type].makeSecrets()
        const names = Object.keys(made)
        if (names.length === 0) {
          throw new Problem('unprocessable', `a \`${provisioner_type}\` provisioner has no generated secret to rotate`)
        }
        const before = await openSecrets(inside, id, kept.sealed_secrets)
        const secrets = { ...before, made, previous: overlap_seconds === 0 ? {} : before.made }
        const sealed_secrets = await sealSecrets(inside, id, secrets)
        await saveRotation(inside, id, { sealed_secrets, overlap_seconds, names })
        const shown = await findProvisioner(tx, id)
        if (shown === undefined) throw new Error('a provisioner that was locked is gone')
        return { shown, secrets }
      })
      const set_up = await describeSetUp(
        types[shown.provisioner_type],
        openingOf(ctx, id, { ...shown, previous_ms: null }, secrets),
      )
      return { ...shown, shown_once: secrets.made, ...(set_up && { set_up }) }
    },
  })
