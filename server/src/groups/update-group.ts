import { keepRefusal } from '../events/keep-refusal.ts'
import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import { notFound } from '../kernel/errors.ts'
import { differing, GroupChange, GroupDetail, requireMadeHere } from './group.ts'
import { findGroup, lockGroup, saveGroup } from './group-store.ts'

/**
 * Changes the sent fields of a group. Its name and its description change only where it is made; its source has no part in whether
 * members are notified here. A change without effect writes nothing and emits no event.
 */
export const updateGroup = operation({
  method: 'PATCH',
  path: '/v1/groups/{id}',
  summary: 'Update the name or the description of a group, or whether its members are notified',
  credential: 'any',
  scope: 'groups:write',
  params: IdParams,
  body: SentBack(GroupChange, GroupDetail),
  replies: { 200: GroupDetail },
  errors: ['not_found'],
  etag: recordTag,
  takesIfMatch: true,
  run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    return keepRefusal(ctx, { subject_type: 'group', subject_id: params.id }, () =>
      ctx.tx.interactive(async (tx) => {
        await lockGroup(tx, params.id)
        const group = await findGroup(tx, params.id)
        if (group === undefined) throw notFound('group')
        const change = differing(changeIn(GroupChange, body, group), group)
        if (change.name !== undefined || change.description !== undefined) requireMadeHere(group)
        requireMatch(tags, recordTag(group))
        return (await saveGroup({ ...ctx, tx }, params.id, change)) ?? group
      }),
    )
  },
})
