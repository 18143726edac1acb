import { answerOf, Refusal, type Schemas } from '@sallyport/client'
import { queryOptions } from '@tanstack/react-query'
import { pageOf, readPages } from '../access/pages.ts'
import { api, once } from '../api/api.ts'
import { invitationEvents, invitedUsers } from './invited.ts'

export type Invitation = Schemas['Invitation']
export type MadeInvitation = Schemas['MadeInvitation']

export const signInSettingsQuery = queryOptions({
  queryKey: ['setting', 'list', 'sign-in'],
  queryFn: () => answerOf(api.GET('/v1/settings/sign-in')),
})

/** All roles, up to as many as are of use in a list to choose from. */
export const rolesQuery = queryOptions({
  queryKey: ['role', 'list', 'to-choose'],
  queryFn: () =>
    readPages<Schemas['Role']>((cursor) => answerOf(api.GET('/v1/roles', { params: { query: pageOf(cursor) } })), {
      maxPages: 5,
    }),
})

/** How many people are shown: each is a call. */
const maxInvited = 20

/** Who was invited last and has not joined yet, with their newest invitation; `hasMore`: there may be others, who were invited before. */
export const invitedQuery = queryOptions({
  queryKey: ['user', 'list', 'invited'],
  queryFn: async ({ signal }) => {
    const query = { type: [...invitationEvents], limit: 200 }
    const events = await answerOf(api.GET('/v1/audit-events', { params: { query }, signal }))
    const ids = invitedUsers(events.data)
    const found = await Promise.all(ids.slice(0, maxInvited).map((id) => newestInvitation(id, signal)))
    const invited = found.filter((one) => one !== undefined && one.state !== 'used') as Invitation[]
    return { invited, hasMore: ids.length > maxInvited || events.next_cursor !== undefined }
  },
})

/** Undefined where the user was deleted meanwhile. */
async function newestInvitation(id: string, signal: AbortSignal): Promise<Invitation | undefined> {
  const params = { path: { id }, query: { limit: 1 } }
  try {
    const { data } = await answerOf(api.GET('/v1/users/{id}/invitations', { params, signal }))
    return data[0]
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined
    throw error
  }
}

export const invite = (body: { email: string; name: string; roles: string[] }, key: string) =>
  answerOf(api.POST('/v1/invitations', { body, ...once(key) }))

/** The link before it ends. */
export const inviteAgain = (id: string, key: string) =>
  answerOf(api.POST('/v1/users/{id}/invitations', { params: { path: { id } }, ...once(key) }))

export const withdrawInvitation = ({ user_id, id }: Invitation) =>
  answerOf(
    api.DELETE('/v1/users/{id}/invitations/{invitation_id}', {
      params: { path: { id: user_id, invitation_id: id } },
    }),
  )
