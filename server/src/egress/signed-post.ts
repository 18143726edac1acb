import type { Egress } from '../kernel/context.ts'
import { failureCause } from './failure-cause.ts'
import { signed } from './standard-webhooks.ts'

/** A message to a receiver. `secrets`: the signing secrets, the newest first. */
export type SignedPost = {
  url: string
  headers: Readonly<Record<string, string>>
  secrets: readonly string[]
  /** The same in every attempt to send the message. */
  id: string
  /** The moment of this attempt. */
  at: Date
  body: string
}

/** No answer came. The message may be stored and shown. */
export class NotReached extends Error {}

/** Posts JSON, signed by Standard Webhooks. @throws NotReached */
export async function postSigned(egress: Egress, post: SignedPost, signal: AbortSignal): Promise<Response> {
  const { url, headers, secrets, id, at, body } = post
  const own = { ...signed(secrets, id, at, body), 'content-type': 'application/json', 'user-agent': 'sallyport' }
  try {
    return await egress.call(url, { method: 'POST', headers: { ...headers, ...own }, body, signal })
  } catch (error) {
    throw new NotReached(`the receiver was not reached: ${failureCause(error, signal)}`)
  }
}
