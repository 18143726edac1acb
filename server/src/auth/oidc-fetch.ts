import type { CustomFetch } from 'openid-client'
import { callAnywhere } from '../egress/egress.ts'
import type { Egress } from '../kernel/context.ts'

/** A provider that could not be reached, or that failed by its own account. */
class ProviderUnreachable extends Error {
  override name = 'ProviderUnreachable'
}

/** How the library speaks to a provider: bounded, without redirects, and a tenant's only where `egress` lets it. */
export function fetchOver(egress: Egress, by: 'operator' | 'tenant'): CustomFetch {
  const call = by === 'operator' ? callAnywhere : egress.call
  return async (url, { method, headers, body, signal = AbortSignal.timeout(5_000) }) => {
    const text = body === undefined || body === null ? {} : { body: String(body) }
    const answer = await call(url, { method, headers, signal, ...text }).catch((cause: unknown) => {
      throw new ProviderUnreachable(`\`${new URL(url).origin}\` could not be reached`, { cause })
    })
    // 429: it answers somebody else, not us.
    if (answer.status >= 500 || answer.status === 429)
      throw new ProviderUnreachable(`\`${new URL(url).origin}\` answers ${answer.status}`)
    return answer
  }
}
