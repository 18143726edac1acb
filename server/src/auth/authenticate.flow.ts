import { findKeyStatus, findTenantOfKey, touchApiKey } from '../api-keys/api-key-store.ts'
import { readKeyText, sameHash } from '../api-keys/api-key-text.ts'
import type { Database } from '../db/transaction.ts'
import type { Authenticate, Prove } from '../http/admission.ts'
import { sourceOf } from '../http/source.ts'
import { type Limit, openBuckets, rateLimited } from '../kernel/bucket.ts'
import { newId } from '../kernel/id.ts'
import { createLruCache } from '../kernel/lru-cache.ts'
import { findAuthority } from '../users/user-store.ts'
import { type AdmissionCache, digestOf, type Proof } from './admission-cache.ts'
import { isTokenLive, readBearer } from './token.ts'
import type { TokenKeys } from './token-keys.flow.ts'

export type AuthenticateOptions = {
  database: Database
  /** For `prove`: a caller that holds a connection of `database` may wait for it. */
  confirming: Database
  tokens: TokenKeys
  admissions: AdmissionCache
  /** Whether each address is limited in how many invalid credentials it may send. */
  limitBySource: boolean
  /** Called when the use of a key could not be recorded. This fails no request. */
  onFailure(error: unknown): void
}

/**
 * Makes the pipeline's credential checks, which return undefined for an invalid credential. Rights are never read from a
 * credential. They come from the database: read at this moment (`prove`), or at this request or moments ago and unchanged since
 * (`authenticate`).
 */
export function authenticateWith(options: AuthenticateOptions): { authenticate: Authenticate; prove: Prove } {
  const { database, confirming, tokens, admissions } = options
  const noteUse = useRecorder(options)
  const guesses = options.limitBySource ? limitGuesses() : undefined

  const authenticate: Authenticate = async ({ authorization, api_key }, address) => {
    if (authorization !== undefined) {
      const digest = digestOf('token', authorization)
      const admission = await admissions.admit(digest, () => proveToken(database, tokens, authorization))
      if (admission === undefined) guesses?.count(address)
      return admission
    }
    if (api_key === undefined) return undefined
    const digest = digestOf('api_key', api_key)
    const isKnown = guesses === undefined || guesses.isGood(digest)
    if (!isKnown) guesses.count(address)
    const admission = await admissions.admit(digest, () => proveKey(database, api_key, noteUse))
    if (admission === undefined && isKnown) guesses?.forget(digest, address)
    if (admission !== undefined && !isKnown) guesses.remember(digest, address)
    return admission
  }
  const prove: Prove = async ({ authorization, api_key = '' }) => {
    const proof = await (authorization === undefined
      ? proveKey(confirming, api_key)
      : proveToken(confirming, tokens, authorization))
    return proof?.admission
  }
  return { authenticate, prove }
}

const guessLimit: Limit = { name: 'invalid_credentials', quota: 100, seconds: 60 }

/**
 * Limits the invalid credentials that an address may send. An address over the limit is refused without a database query.
 * Keys that proved valid here recently are exempt, so that callers who share an address with an attacker keep working.
 * Tokens need no exemption, since only a validly signed token reaches the database.
 */
function limitGuesses() {
  const sources = openBuckets(guessLimit)
  const good = createLruCache<true>(5_000)
  const count = (address: string): void => {
    const { allowed, retrySeconds } = sources.take(sourceOf(address))
    if (!allowed) throw rateLimited(guessLimit, retrySeconds)
  }
  return {
    isGood: (digest: string): boolean => good.get(digest) === true,
    /** Counts a credential that is invalid or not known to be valid. @throws Problem 429 over the limit */
    count,
    /** The credential proved valid: uncounts it. */
    remember(digest: string, address: string): void {
      good.set(digest, true)
      sources.release(sourceOf(address))
    },
    /** The credential is no longer valid. @throws Problem 429 as `count` does */
    forget(digest: string, address: string): void {
      good.delete(digest)
      count(address)
    },
  }
}

async function proveToken(database: Database, tokens: TokenKeys, header: string): Promise<Proof | undefined> {
  const token = readBearer(header)
  const claims = token === undefined ? undefined : await tokens.verify(token)
  if (claims === undefined) return undefined
  const authority = await findAuthority(database.tenant(claims.tid), claims.sub)
  if (authority === undefined) return undefined
  const isLive = (now: Date) => isTokenLive(claims, now)
  const now = new Date(authority.now)
  if (!isLive(now)) return undefined
  const actor = { kind: 'user', user_id: authority.id, api_key_id: null, scopes: new Set(authority.scopes) } as const
  return { admission: { tenant_id: claims.tid, actor, via: 'token', now }, isLive }
}

/** `noteUse` is called when the recorded use of the key is older than a minute. */
async function proveKey(
  database: Database,
  text: string,
  noteUse?: (tenant_id: string, id: string) => void,
): Promise<Proof | undefined> {
  const key = readKeyText(text)
  if (key === undefined || key.kind !== 'api') return undefined
  // An unknown key costs the same two round trips as a key with a wrong secret: timing does not reveal which ids exist.
  const tenant_id = (await findTenantOfKey(database.work, key.id)) ?? newId()
  // The record's kind is checked too: anyone with a secret can write another prefix and its checksum around it.
  const status = await findKeyStatus(database.tenant(tenant_id), key.id, 'api')
  if (status === undefined || !sameHash(status.secret_hash, key.secret_hash)) return undefined
  if (status.unused_lately) noteUse?.(tenant_id, key.id)
  const creatorScopes = new Set(status.user_scopes)
  const scopes = new Set(status.key_scopes.filter((scope) => creatorScopes.has(scope)))
  const actor = { kind: 'api_key', user_id: status.user_id, api_key_id: key.id, scopes } as const
  const end = status.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(status.expires_at)
  return {
    admission: { tenant_id, actor, via: 'api_key', now: new Date(status.now) },
    isLive: (now) => now.getTime() < end,
  }
}

/** Records the use of a key in the background. Each key has one write in flight at most, so that a busy key's calls do not queue. */
function useRecorder({ database, onFailure }: AuthenticateOptions) {
  const inFlight = new Set<string>()
  return (tenant_id: string, id: string): void => {
    if (inFlight.has(id)) return
    inFlight.add(id)
    void touchApiKey(database.tenant(tenant_id), id)
      .catch(onFailure)
      .finally(() => inFlight.delete(id))
  }
}
