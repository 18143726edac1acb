import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { IdParams, PageOf, pageQuery } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { GroupMember } from './group.ts'
import { listGroupMembersPage } from './group-member-store.ts'
import { findGroup } from './group-store.ts'

export const listGroupMembers = operation({
  method: 'GET',
  path: '/v1/groups/{id}/members',
  summary: 'List the members of a group',
  credential: 'any',
  scope: 'groups:read',
  params: IdParams,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(GroupMember) },
  errors: ['not_found'],
  async run(ctx, { params, page }) {
    const members = await listGroupMembersPage(ctx.tx, params.id, page)
    if (members.length === 0 && (await findGroup(ctx.tx, params.id)) === undefined) throw notFound('group')
    return page.of(members, (member) => [member.user_id])
  },
})
