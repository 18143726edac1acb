import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { deleteFavourite } from './favourite-store.ts'

export const removeFavourite = operation({
  method: 'DELETE',
  path: '/v1/users/me/favourites/{id}',
  summary: 'Remove one of your favourites',
  credential: 'user',
  // Of no use to a thief, and confirming takes one of few connections.
  confirms: false,
  scope: null,
  params: IdParams,
  replies: { 204: null },
  errors: [],
  async run(ctx, { params }) {
    if (!(await deleteFavourite(ctx.tx, ctx.actor.user_id, params.id))) throw notFound('favourite')
    return undefined
  },
})
