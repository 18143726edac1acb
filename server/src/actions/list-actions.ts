import { Type } from 'typebox'
import { Search } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { DescribedAction } from './action.ts'
import { listDescribedActions } from './action-store.ts'

export const listActions = operation({
  method: 'GET',
  path: '/v1/actions',
  summary: 'List the actions that have a description, by action',
  credential: 'any',
  scope: 'policies:read',
  query: Type.Object({ ...pageQuery, q: Search('the action and its description') }, { additionalProperties: false }),
  replies: { 200: PageOf(DescribedAction) },
  errors: [],
  run: async (ctx, { query: { q }, page }) => page.reply(await listDescribedActions(ctx.tx, q, page)),
})
