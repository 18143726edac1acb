import { isDeepStrictEqual } from 'node:util'
import { readIfMatch, requireMatch, versionTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import type { GoLive } from '../tenants/mode.ts'
import type { DriverType } from './driver.ts'
import {
  type BeginInventory,
  type FindUse,
  Provisioner,
  ProvisionerChange,
  type ProvisionerType,
  requireUnused,
  type SweepEnabled,
} from './provisioner.ts'
import { isSameConfig, type SettledConfig, settleConfig } from './provisioner-config.ts'
import { openSecrets, sealSecrets } from './provisioner-secrets.ts'
import {
  findKeptProvisioner,
  findProvisioner,
  type KeptProvisioner,
  lockProvisioner,
  requireReal,
  saveProvisioner,
} from './provisioner-store.ts'
import { linesOf, servesOf } from './serving.ts'
import { replaceServed, servesRealTargets } from './serving-store.ts'
import { requireFound } from './set-up.ts'

/** After this many lost races the call fails. */
const maxTries = 5

/** What other slices do with a change. */
type Given = { findUse: FindUse; goLive: GoLive; beginInventory: BeginInventory; sweepEnabled: SweepEnabled }

/**
 * Changes the fields sent; `config` and `serves` are replaced as a whole. A request that changes nothing emits no event, and
 * answers the provisioner as it is. The target cannot change while access that the provisioner gave exists there.
 */
export const updateProvisioner = (types: Readonly<Record<ProvisionerType, DriverType>>, given: Given) =>
  operation({
    method: 'PATCH',
    path: '/v1/provisioners/{id}',
    summary: 'Update a provisioner',
    credential: 'any',
    scope: 'provisioners:write',
    keyOfSession: true,
    params: IdParams,
    body: SentBack(ProvisionerChange, Provisioner),
    replies: { 200: Provisioner },
    errors: [
      'case_broken',
      'not_found',
      'provisioner_in_use',
      'resource_already_served',
      'unprocessable',
      'version_conflict',
    ],
    changes: 'authority',
    etag: versionTag,
    takesIfMatch: true,
    async run(ctx, { params, body, header }) {
      const tags = readIfMatch(header('if-match'))
      for (let tries = 0; tries < maxTries; tries += 1) {
        const before = await findKeptProvisioner(ctx.tx, params.id)
        if (before === undefined) throw notFound('provisioner')
        const wanted = changeIn(ProvisionerChange, body, before.shown)
        // The change is saved only on this version.
        requireMatch(tags, versionTag(before.shown))
        // This may use the network, so it runs before the row is locked.
        const type = types[before.shown.provisioner_type]
        const settled = wanted.config && (await settle(ctx, type, before, wanted.config))
        const { enabled = before.shown.enabled } = wanted
        if (enabled) requireFound(type, settled?.config ?? before.shown.config)
        const { inventoryParts } = type
        const saved = await ctx.tx.interactive((tx) =>
          change({ ...ctx, tx }, before, wanted, settled, { ...given, inventoryParts }),
        )
        if (saved !== undefined) return saved
      }
      throw new Problem('version_conflict', 'other callers keep changing this provisioner; read it again, then retry')
    },
  })

/** The validated config of the request; undefined when it changes nothing. */
async function settle(
  ctx: Ctx,
  type: DriverType,
  { shown, sealed_secrets }: KeptProvisioner,
  requested: Record<string, unknown>,
): Promise<SettledConfig | undefined> {
  const before = { config: shown.config, secrets: await openSecrets(ctx, shown.id, sealed_secrets) }
  return isSameConfig(requested, before) ? undefined : settleConfig(type, requested, before, ctx.egress)
}

/** Undefined when the provisioner has changed since it was read. */
async function change(
  ctx: Ctx,
  { shown }: KeptProvisioner,
  requested: ProvisionerChange,
  settled: SettledConfig | undefined,
  { findUse, goLive, beginInventory, sweepEnabled, inventoryParts }: Given & Pick<DriverType, 'inventoryParts'>,
): Promise<Provisioner | undefined> {
  const { tx } = ctx
  const version = await lockProvisioner(tx, shown.id, { links: settled?.moved !== undefined })
  if (version === undefined) throw notFound('provisioner')
  if (version !== shown.version) return undefined
  if (settled?.moved !== undefined) {
    await requireUnused(tx, shown.id, findUse, `to change \`${settled.moved}\`, which leads to another target,`)
  }
  const lines = requested.serves && linesOf(requested.serves)
  const { name = shown.name, enabled = shown.enabled, corrects_drift = shown.corrects_drift } = requested
  const serves = lines === undefined ? shown.serves : servesOf(lines)
  const next = { id: shown.id, name, enabled, corrects_drift, serves }
  const comparedFields = ['name', 'enabled', 'corrects_drift', 'serves'] as const
  const fields = [
    ...comparedFields.filter((field) => !isDeepStrictEqual(next[field], shown[field])),
    ...(settled === undefined ? [] : ['config']),
  ]
  if (fields.length === 0) return shown
  const isEnabled = enabled && !shown.enabled
  const begins = isEnabled || (lines !== undefined && lines.length > 0)
  if (enabled && serves.length > 0 && begins) await requireReal(tx, shown.provisioner_type)
  if (lines !== undefined) await replaceServed(tx, shown.id, lines)
  const kept = settled && {
    config: settled.config,
    sealed_secrets: await sealSecrets(ctx, shown.id, settled.secrets),
  }
  await saveProvisioner(ctx, next, kept, fields)
  if (isEnabled) await tx.write([sweepEnabled(tx, shown.id)])
  if (inventoryParts.length > 0 && (settled !== undefined || isEnabled))
    await tx.write([beginInventory(tx, shown.id, inventoryParts, settled !== undefined)])
  await goLive(ctx, 'provisioner', servesRealTargets(tx))
  return findProvisioner(tx, shown.id)
}
