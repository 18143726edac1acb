import type { CustomFetch } from 'openid-client'
import { callAnywhere } from '../egress/egress.ts'
import type { Egress } from '../kernel/context.ts'

/** The provider could not be reached, or answered that it failed. */
class ProviderUnreachable extends Error {
  override name = 'ProviderUnreachable'
}

/** The library's fetch: with a deadline, without redirects, and for a tenant's provider only where `egress` allows it. */
export function fetchOver(egress: Egress, by: 'operator' | 'tenant'): CustomFetch {
  const call = by === 'operator' ? callAnywhere : egress.call
  return async (url, { method, headers, body, signal = AbortSignal.timeout(5_000) }) => {
    const text = body === undefined || body === null ? {} : { body: String(body) }
    const answer = await call(url, { method, headers, signal, ...text }).catch((cause: unknown) => {
      throw new ProviderUnreachable(`\`${new URL(url).origin}\` could not be reached`, { cause })
    })
    // 429: the provider is up, but refuses this service for now.
    if (answer.status >= 500 || answer.status === 429)
      throw new ProviderUnreachable(`\`${new URL(url).origin}\` answered ${answer.status}`)
    return answer
  }
}
