import { operation } from '../../http/operation.ts'
import { IdParams } from '../../http/schema.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { invalidInput, notFound, Problem, unknownReferences } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { requireHeld } from '../../permissions/permission.ts'
import type { DriverTypes } from '../../provisioners/drivers.ts'
import { findProviderToRead } from '../identity-provider-store.ts'
import { requireProtocol } from '../protocol.ts'
import { syncSettingsOf } from '../sync-settings.ts'
import { findSourceFaults, requireConfigured, requireNoScimKey, type SourceTypes } from './open-directory.flow.ts'
import { NewSync, SyncRun, syncInProgress } from './sync-run.ts'
import { findUnfinishedRun, isConfirmable, requestRun } from './sync-run-store.ts'

/**
 * Has a directory read now: the answer is the run, whose progress is read by its id. A call that comes again while the run is under way gets
 * the same run.
 */
export const syncIdentityProvider = (parts: { sources: SourceTypes; types: DriverTypes }) =>
  operation({
    method: 'POST',
    path: '/v1/identity-providers/{id}/sync',
    summary: 'Start a sync run, or confirm the removals of a stopped one',
    credential: 'any',
    scope: 'identity_providers:sync',
    params: IdParams,
    body: NewSync,
    replies: { 202: SyncRun },
    location: (run) => `/v1/identity-providers/${run.identity_provider_id}/sync-runs/${run.id}`,
    errors: ['not_found', 'unprocessable', 'sync_in_progress'],
    async run(ctx, { params: { id }, body }) {
      const provider = await findProviderToRead(ctx.tx, id)
      if (provider === undefined) throw notFound('identity provider')
      const protocol = requireProtocol(provider)
      if (!provider.enabled)
        throw new Problem('unprocessable', 'the identity provider is switched off: set `enabled` to true first')
      await requireNoScimKey(ctx.tx, id)
      requireConfigured(provider)
      const { sealer, egress } = ctx
      const faults = await findSourceFaults({ ...parts, sealer, egress }, ctx.tx, { ...provider, id, protocol })
      if (faults.length > 0) throw unknownReferences(faults)
      const confirms = await confirmedRun(ctx, id, body)
      const dry_run = confirms === null && (body.dry_run ?? syncSettingsOf(provider.config).dry_run)
      return begin(ctx, id, { dry_run, confirms })
    },
  })

async function confirmedRun(ctx: Ctx, id: string, { confirm_removals_of, dry_run }: NewSync): Promise<string | null> {
  if (confirm_removals_of === undefined) return null
  if (dry_run === true)
    throw invalidInput([{ pointer: '/dry_run', why: 'must be left out where removals are confirmed' }])
  requireHeld(
    ctx.actor.scopes,
    ['users:write'],
    (lacking) => `confirming removals deactivates users; you lack ${lacking}`,
  )
  const run_id = confirm_removals_of.toLowerCase()
  if (await isConfirmable(ctx.tx, id, run_id)) return run_id
  const why = 'names no run of this provider that needs a confirmation, or one whose changes are no longer kept'
  throw unknownReferences([{ pointer: '/confirm_removals_of', why }])
}

async function begin(
  ctx: Ctx,
  identity_provider_id: string,
  asked: { dry_run: boolean; confirms: string | null },
): Promise<SyncRun> {
  const run = await requestRun(ctx, { id: newId(), identity_provider_id, ...asked })
  if (run !== undefined) return run
  const other = await otherRun(ctx.tx, identity_provider_id)
  const isSame = other.dry_run === asked.dry_run && other.confirms === asked.confirms
  if (isSame) return other
  throw syncInProgress(other.id)
}

/** @throws Problem 409 where it ended at this very moment */
async function otherRun(tx: Tx, identity_provider_id: string): Promise<SyncRun> {
  const run = await findUnfinishedRun(tx, identity_provider_id)
  if (run !== undefined) return run
  throw new Problem('version_conflict', 'a run of this directory ended at this moment; try again')
}
