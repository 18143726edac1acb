import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { Group } from './group.ts'
import { listGroupsPage } from './group-store.ts'

export const listGroups = operation({
  method: 'GET',
  path: '/v1/groups',
  summary: 'List groups',
  credential: 'any',
  scope: 'groups:read',
  query: Type.Object(
    {
      ...pageQuery,
      source: Type.Optional(
        Type.String({ description: '`local`, `scim` or `identity_provider`; no groups match another text' }),
      ),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(Group) },
  errors: [],
  run: async (ctx, { query, page }) => page.of(await listGroupsPage(ctx.tx, query.source, page), (group) => [group.id]),
})
