import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { type CountInUse, requireUnused } from './provisioner.ts'
import { deleteLockedProvisioner, lockProvisioner } from './provisioner-store.ts'

/** Deletes a provisioner and its secrets, once none of its access is left at its target. */
export const deleteProvisioner = (countInUse: CountInUse) =>
  operation({
    method: 'DELETE',
    path: '/v1/provisioners/{id}',
    summary: 'Delete a provisioner that has no access left at its target',
    credential: 'any',
    scope: 'provisioners:write',
    params: IdParams,
    replies: { 204: null },
    errors: ['not_found', 'provisioner_in_use'],
    run: (ctx, { params }): Promise<undefined> =>
      ctx.tx.interactive(async (tx) => {
        if ((await lockProvisioner(tx, params.id, { links: true })) === undefined) throw notFound('provisioner')
        await requireUnused(tx, params.id, countInUse, 'to delete it')
        await deleteLockedProvisioner({ ...ctx, tx }, params.id)
        return undefined
      }),
  })
