import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { User } from './user.ts'
import { findUser } from './user-store.ts'

export const getUser = operation({
  method: 'GET',
  path: '/v1/users/{id}',
  summary: 'Get a user',
  credential: 'any',
  scope: 'users:read',
  params: IdParams,
  replies: { 200: User },
  errors: ['not_found'],
  etag: recordTag,
  async run(ctx, { params }) {
    const user = await findUser(ctx.tx, params.id)
    if (user === undefined) throw notFound('user')
    return user
  },
})
