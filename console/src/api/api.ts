import { createClient } from '@sallyport/client'
import { noteServerTime } from '../time/clock.ts'

/** A call of the service by the browser's session. */
export async function callService(request: Request): Promise<Response> {
  const response = await fetch(request)
  noteServerTime(response.headers.get('Date'))
  return response
}

/** The API, called with the browser's own session. */
export const api = createClient({ baseUrl: location.origin, fetch: callService })
