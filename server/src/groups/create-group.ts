import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { newId } from '../kernel/id.ts'
import { GroupDetail, NewGroupInput, noSignInProvider } from './group.ts'
import { insertGroup } from './group-store.ts'

/** Creates a group without members and roles: a local one, or one whose memberships claims of the sign-in provider give. */
export const createGroup = operation({
  method: 'POST',
  path: '/v1/groups',
  summary: 'Create a group',
  credential: 'any',
  scope: 'groups:write',
  body: NewGroupInput,
  replies: { 201: GroupDetail },
  location: ({ id }) => `/v1/groups/${id}`,
  errors: ['unprocessable'],
  etag: recordTag,
  async run(ctx, { body }) {
    const { name, description = '', sign_in_provider_id, members_notified = true } = body
    const made = await insertGroup(ctx, {
      ...{ id: newId(), name, description, members_notified },
      sign_in_provider_id: sign_in_provider_id?.toLowerCase(),
    })
    if (made === undefined) throw noSignInProvider()
    return made
  },
})
