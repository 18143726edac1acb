import { versionTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { newId } from '../kernel/id.ts'
import type { GoLive } from '../tenants/mode.ts'
import type { DriverType } from './driver.ts'
import { openingOf } from './open-provisioner.flow.ts'
import { NewProvisioner, type ProvisionerType, ProvisionerWithSecrets } from './provisioner.ts'
import { settleConfig } from './provisioner-config.ts'
import { noSecrets, sealSecrets } from './provisioner-secrets.ts'
import { findProvisioner, insertProvisioner, requireReal } from './provisioner-store.ts'
import { linesOf, servesOf } from './serving.ts'
import { replaceServed, servesRealTargets } from './serving-store.ts'
import { describeSetUp, fieldsToFind, requireFound } from './set-up.ts'

/**
 * Creates a provisioner with sealed secrets. The tenant goes live with the first that gives real access.
 * The secrets made for its target are shown only once.
 */
export const createProvisioner = (types: Readonly<Record<ProvisionerType, DriverType>>, goLive: GoLive) =>
  operation({
    method: 'POST',
    path: '/v1/provisioners',
    summary: 'Set up a provisioner',
    credential: 'any',
    scope: 'provisioners:write',
    keyOfSession: true,
    body: NewProvisioner,
    replies: { 201: ProvisionerWithSecrets },
    location: ({ id }) => `/v1/provisioners/${id}`,
    errors: ['case_broken', 'resource_already_served', 'unprocessable'],
    changes: 'authority',
    etag: versionTag,
    async run(ctx, { body }) {
      const { name, provisioner_type, corrects_drift = false } = body
      const type = types[provisioner_type]
      const { enabled = fieldsToFind(type, body.config ?? {}).length === 0 } = body
      const lines = linesOf(body.serves ?? [])
      const made = type.makeSecrets()
      const nothing = { config: {}, secrets: { ...noSecrets, made } }
      const { config, secrets } = await settleConfig(type, body.config ?? {}, nothing, ctx.egress)
      if (enabled) requireFound(type, config)
      const id = newId()
      // This may use the network, so it runs before the transaction.
      const set_up = await describeSetUp(type, openingOf(ctx, id, { config, previous_ms: null }, secrets))
      const sealed_secrets = await sealSecrets(ctx, id, secrets)
      const provisioner = { id, name, provisioner_type, config, sealed_secrets, enabled, corrects_drift }
      return ctx.tx.interactive(async (tx) => {
        await insertProvisioner({ ...ctx, tx }, { ...provisioner, serves: servesOf(lines) })
        if (enabled && lines.length > 0) await requireReal(tx, provisioner_type)
        await replaceServed(tx, id, lines)
        await goLive({ ...ctx, tx }, 'provisioner', servesRealTargets(tx))
        const shown = await findProvisioner(tx, id)
        if (shown === undefined) throw new Error('a provisioner was inserted but is missing')
        return { ...shown, shown_once: made, ...(set_up && { set_up }) }
      })
    },
  })
