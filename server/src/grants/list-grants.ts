import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { OneOf, PageOf, pageQuery, Uuid } from '../http/schema.ts'
import { Grant, grantStatuses } from './grant.ts'
import { listGrantsPage } from './grant-store.ts'

export const listGrants = operation({
  method: 'GET',
  path: '/v1/grants',
  summary: 'List grants: your own, or all grants with grants:read',
  credential: 'any',
  scope: null,
  query: Type.Object(
    {
      ...pageQuery,
      user_id: Type.Optional(Uuid),
      request_id: Type.Optional(Uuid),
      status: Type.Optional(OneOf(grantStatuses)),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(Grant) },
  errors: [],
  async run(ctx, { query, page }) {
    const own = ctx.actor.user_id ?? undefined
    const seesAll = ctx.actor.scopes.has('grants:read')
    if (!seesAll && query.user_id !== undefined && query.user_id !== own)
      return page.of<Grant>([], (grant) => [grant.id])
    const rows = await listGrantsPage(ctx.tx, { ...query, user_id: seesAll ? query.user_id : own }, page)
    return page.of(rows, (grant) => [grant.id])
  },
})
