import { createClient } from '@sallyport/client'
import { noteServerTime } from '../time/clock.ts'

/** The token of a window that acts as a person of the rehearsal. It is held in memory alone, so it ends with the window. */
let heldToken: string | undefined

export function holdToken(token: string): void {
  heldToken = token
}

/** A call of the service, as this window makes it: by the browser's session, or by the token that the window holds. */
export async function callService(request: Request): Promise<Response> {
  if (heldToken !== undefined && !request.headers.has('Authorization'))
    request.headers.set('Authorization', `Bearer ${heldToken}`)
  const response = await fetch(request)
  noteServerTime(response.headers.get('Date'))
  return response
}

/** The API, called with the browser's own session. */
export const api = createClient({ baseUrl: location.origin, fetch: callService })
