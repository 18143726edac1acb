import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { GrantDetail, maySeeGrant } from './grant.ts'
import { findGrantDetail } from './grant-list-store.ts'

export const getGrant = operation({
  method: 'GET',
  path: '/v1/grants/{id}',
  summary:
    'Get a grant, its state at its target, and whether it can be extended: your own, or any grant with grants:read',
  credential: 'any',
  scope: null,
  params: IdParams,
  replies: { 200: GrantDetail },
  errors: ['not_found'],
  etag: recordTag,
  async run(ctx, { params }) {
    const grant = await findGrantDetail(ctx.tx, params.id)
    if (grant === undefined || !maySeeGrant(ctx.actor, grant)) throw notFound('grant')
    return grant
  },
})
