import { createClient } from '@sallyport/client'
import { noteServerTime } from '../time/clock.ts'
import { withCredential } from './credential.ts'
import { sessionOver } from './session-over.ts'

/** A call of the service by the browser's session, or by the token of this window. Where that has ended, the page asks for a sign-in. */
export async function callService(request: Request): Promise<Response> {
  const response = await fetch(withCredential(request))
  noteServerTime(response.headers.get('Date'))
  // In a sign-in, 401 means that it is refused.
  if (response.status === 401 && !new URL(request.url).pathname.startsWith('/v1/auth/')) sessionOver.note()
  return response
}

/** The API, called as whom this window acts. */
export const api = createClient({ baseUrl: location.origin, fetch: callService })

/** The header by which the service does a write once, however often it arrives. */
export const once = (key: string): { headers: { 'Idempotency-Key': string } } => ({
  headers: { 'Idempotency-Key': key },
})
