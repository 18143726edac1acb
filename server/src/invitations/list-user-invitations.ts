import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { IdParams, PageOf, pageQuery } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { Invitation } from './invitation.ts'
import { listInvitationsPage } from './invitation-store.ts'

export const listUserInvitations = operation({
  method: 'GET',
  path: '/v1/users/{id}/invitations',
  summary: 'List the invitations of a user, newest first, without their links',
  credential: 'any',
  scope: 'users:read',
  params: IdParams,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(Invitation) },
  errors: ['not_found'],
  async run(ctx, { params, page }) {
    const found = await listInvitationsPage(ctx.tx, params.id, page)
    if (found === undefined) throw notFound('user')
    return page.reply(found)
  },
})
