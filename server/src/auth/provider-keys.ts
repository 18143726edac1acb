/** The keys with which a provider signs identity tokens. */
import { compactVerify, createRemoteJWKSet, customFetch, errors, type JSONWebKeySet, jwksCache } from 'jose'
import type { CustomFetch } from 'openid-client'
import { Problem } from '../kernel/errors.ts'
import { RefusedByProvider } from './redeemed-account.ts'

/** How long keys are used before they are fetched again, unless a token names an unknown one earlier. */
const cachedForMs = 300_000
/** The minimum time between two fetches of one provider's keys. */
const betweenFetchesMs = 10_000
/** The deadline of a fetch of keys. */
const maxFetchMs = 5_000

export type ProviderKeys = {
  /** Fetches the keys. @throws RefusedByProvider if there are none */
  load(): Promise<void>
  /**
   * Checks the signature of an identity token. A token of an unknown key makes the service fetch the keys again, at most
   * every ten seconds: a provider may change its key at any time.
   * @throws RefusedByProvider if no key of the provider signed the token; Problem 503 if its key may be one that was
   * published in the last seconds
   */
  verify(token: string): Promise<void>
  /** The keys as they were fetched last, and when: in seconds since 1970. */
  fetched(): { jwks: JSONWebKeySet; uat: number }
}

/**
 * @param jwks_uri where the provider publishes its keys
 * @throws RefusedByProvider for an address that is not https, or http if the issuer's is
 */
export function openProviderKeys(issuer: string, jwks_uri: string | undefined, call: CustomFetch): ProviderKeys {
  const address = jwks_uri === undefined ? null : URL.parse(jwks_uri)
  const allowed = address?.protocol === 'https:' || (address?.protocol === 'http:' && issuer.startsWith('http:'))
  if (address === null || !allowed) {
    throw new RefusedByProvider('the provider names no `jwks_uri` that is an HTTPS address')
  }
  const cache = { jwks: { keys: [] } as JSONWebKeySet, uat: 0 }
  const keys = createRemoteJWKSet(address, {
    [jwksCache]: cache,
    cacheMaxAge: cachedForMs,
    cooldownDuration: betweenFetchesMs,
    timeoutDuration: maxFetchMs,
    [customFetch]: async (url, { headers, method, signal }) => {
      const options = {
        headers: Object.fromEntries(headers),
        method,
        signal,
        redirect: 'manual',
        body: undefined,
      } as const
      const answer = await call(url, options)
      if (answer.status === 200) return answer
      throw new RefusedByProvider(`the keys of the provider: unexpected HTTP response status code: ${answer.status}`)
    },
  })
  return {
    fetched: () => ({ jwks: cache.jwks, uat: Math.floor(cache.uat / 1000) }),
    async load() {
      await keys.reload().catch((error: unknown) => refuse(error))
      if (cache.jwks.keys.length === 0) throw new RefusedByProvider('the provider publishes no keys')
    },
    async verify(token) {
      const fetchedJustBefore = keys.coolingDown
      try {
        await compactVerify(token, keys)
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey && fetchedJustBefore) throw keysNotFetched(error)
        refuse(error)
      }
    },
  }
}

/** The service has not asked for the keys since the token came, so the token may be valid. */
function keysNotFetched(cause: Error): Problem {
  const problem = new Problem(
    'unavailable',
    'the identity provider signed with a key that is new to us; sign in again in a moment',
  )
  problem.cause = cause
  return problem
}

/** Refuses for a fault of the token or of the keys. Whatever else was thrown, such as by the network, stays as it is. */
function refuse(error: unknown): never {
  // A key of the wrong size or form is a TypeError.
  const isFault = error instanceof errors.JOSEError || error instanceof TypeError
  throw isFault ? new RefusedByProvider(`the keys of the provider: ${error.message}`, { cause: error }) : error
}
