import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { maySeeGrant, NamedGrant } from './grant.ts'
import { findNamedGrant } from './grant-list-store.ts'

export const getGrant = operation({
  method: 'GET',
  path: '/v1/grants/{id}',
  summary: 'Get a grant and its state at its target: your own, or any grant with grants:read',
  credential: 'any',
  scope: null,
  params: IdParams,
  replies: { 200: NamedGrant },
  errors: ['not_found'],
  async run(ctx, { params }) {
    const grant = await findNamedGrant(ctx.tx, params.id)
    if (grant === undefined || !maySeeGrant(ctx.actor, grant)) throw notFound('grant')
    return grant
  },
})
