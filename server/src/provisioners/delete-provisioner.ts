import { readIfMatch, requireMatch, versionTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { type FindUse, requireUnused } from './provisioner.ts'
import { deleteLockedProvisioner, lockProvisioner } from './provisioner-store.ts'

/** Deletes a provisioner and its secrets, once none of its access is left at its target. */
export const deleteProvisioner = (findUse: FindUse) =>
  operation({
    method: 'DELETE',
    path: '/v1/provisioners/{id}',
    summary: 'Delete a provisioner that has no access left at its target',
    credential: 'any',
    scope: 'provisioners:write',
    params: IdParams,
    replies: { 204: null },
    errors: ['not_found', 'provisioner_in_use'],
    takesIfMatch: true,
    run(ctx, { params, header }): Promise<undefined> {
      const tags = readIfMatch(header('if-match'))
      return ctx.tx.interactive(async (tx) => {
        const version = await lockProvisioner(tx, params.id, { links: true })
        if (version === undefined) throw notFound('provisioner')
        requireMatch(tags, versionTag({ version }))
        await requireUnused(tx, params.id, findUse, 'to delete it')
        await deleteLockedProvisioner({ ...ctx, tx }, params.id)
        return undefined
      })
    },
  })
