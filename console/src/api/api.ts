import { createClient } from '@sallyport/client'
import { noteServerTime } from '../time/clock.ts'
import { sessionOver } from './session-over.ts'

/** A call of the service by the browser's session. Where the session has ended, the page asks for a sign-in. */
export async function callService(request: Request): Promise<Response> {
  const response = await fetch(request)
  noteServerTime(response.headers.get('Date'))
  // In a sign-in, 401 means that it is refused.
  if (response.status === 401 && !new URL(request.url).pathname.startsWith('/v1/auth/')) sessionOver.note()
  return response
}

/** The API, called with the browser's own session. */
export const api = createClient({ baseUrl: location.origin, fetch: callService })

/** The header by which the service does a write once, however often it arrives. */
export const once = (key: string): { headers: { 'Idempotency-Key': string } } => ({
  headers: { 'Idempotency-Key': key },
})
