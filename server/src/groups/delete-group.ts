import { keepRefusal } from '../events/keep-refusal.ts'
import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { requireMayTake } from '../roles/role.ts'
import { requireMadeHere } from './group.ts'
import { findConferred } from './group-member-store.ts'
import { deleteGroupMadeHere, findGroup, lockGroup } from './group-store.ts'

/** Deletes a group that is made here. It must give no scope that the caller lacks, because its members lose what it gave. */
export const deleteGroup = operation({
  method: 'DELETE',
  path: '/v1/groups/{id}',
  summary: 'Delete a group; its members lose what it gave',
  credential: 'any',
  scope: 'groups:write',
  params: IdParams,
  replies: { 204: null },
  errors: ['not_found'],
  changes: 'authority',
  takesIfMatch: true,
  run(ctx, { params, header }): Promise<undefined> {
    const tags = readIfMatch(header('if-match'))
    return keepRefusal(ctx, { subject_type: 'group', subject_id: params.id }, () =>
      ctx.tx.interactive(async (tx) => {
        await lockGroup(tx, params.id)
        const group = await findGroup(tx, params.id)
        if (group === undefined) throw notFound('group')
        requireMadeHere(group)
        requireMayTake(ctx.actor.scopes, await findConferred(tx, params.id))
        requireMatch(tags, recordTag(group))
        await deleteGroupMadeHere({ ...ctx, tx }, params.id)
        return undefined
      }),
    )
  },
})
