import { answerOf, Refusal } from '@sallyport/client'
import { api } from '../api/api.ts'
import { saySignedOut } from '../live/live.ts'
import { clearDrafts } from '../parts/draft.ts'
import { readLogoutUrl } from './logout-url.ts'

/**
 * Ends the session of this browser, in all its windows, and leaves the page: to the identity provider where that has a sign-out of its own,
 * else to the sign-in.
 * @param userId who signs out, if it is known
 */
export async function signOut(userId: string | undefined): Promise<void> {
  const url = await endSession()
  clearDrafts()
  if (userId !== undefined) saySignedOut(userId)
  location.assign(readLogoutUrl(url) ?? import.meta.env.BASE_URL)
}

/** Ends the session by which this window calls. @returns where the identity provider has a sign-out of its own; null: nowhere */
export function endSession(): Promise<string | null> {
  return answerOf(api.POST('/v1/auth/logout')).then(
    ({ provider_logout_url }) => provider_logout_url,
    (error: unknown) => {
      // The session ended already.
      if (error instanceof Refusal && error.status === 401) return null
      throw error
    },
  )
}
