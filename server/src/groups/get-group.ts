import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { GroupDetail } from './group.ts'
import { findGroup } from './group-store.ts'

export const getGroup = operation({
  method: 'GET',
  path: '/v1/groups/{id}',
  summary: 'Get a group',
  credential: 'any',
  scope: 'groups:read',
  params: IdParams,
  replies: { 200: GroupDetail },
  errors: ['not_found'],
  etag: recordTag,
  async run(ctx, { params }) {
    const group = await findGroup(ctx.tx, params.id)
    if (group === undefined) throw notFound('group')
    return group
  },
})
