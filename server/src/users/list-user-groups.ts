import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { IdParams, PageOf, pageQuery } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { UserGroup } from './user.ts'
import { listUserGroupsPage } from './user-group-store.ts'
import { findUser } from './user-store.ts'

export const listUserGroups = operation({
  method: 'GET',
  path: '/v1/users/{id}/groups',
  summary: 'List the groups of a user',
  credential: 'any',
  scope: 'users:read',
  params: IdParams,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(UserGroup) },
  errors: ['not_found'],
  async run({ tx, actor }, { params, page }) {
    const groups = await listUserGroupsPage(tx, params.id, actor.scopes.has('groups:read'), page)
    if (groups.rows.length === 0 && (await findUser(tx, params.id)) === undefined) throw notFound('user')
    return page.reply(groups)
  },
})
