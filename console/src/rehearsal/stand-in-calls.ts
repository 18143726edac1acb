import { answerOf, createClient, type Schemas } from '@sallyport/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { callBy } from '../api/credential.ts'

/** What the rehearsal of the organization has made; for an owner. */
export const rehearsalQuery = queryOptions({
  queryKey: ['rehearsal'],
  queryFn: () => answerOf(api.GET('/v1/rehearsal')),
})

export const createRehearsal = (): Promise<Schemas['Rehearsal']> => answerOf(api.POST('/v1/rehearsal', { body: {} }))

/**
 * Has this window act as a colleague of the rehearsal, by a token that the owner who is signed in in this browser gets: it is valid for 15 minutes, and stands in
 * the memory of this window alone.
 * @returns the id of the owner
 * @throws Refusal where nobody is signed in, who is signed in is no owner, there is no such colleague, or the rehearsal is over
 */
export async function beginStandIn(user_id: string): Promise<string> {
  // By the browser's session, whatever this window acts as.
  const owner = createClient({ baseUrl: location.origin })
  const me = await answerOf(owner.GET('/v1/users/me'))
  const { token } = await answerOf(owner.POST('/v1/rehearsal/token', { body: { user_id } }))
  callBy({ token, tenant_id: me.tenant.id })
  return me.id
}
