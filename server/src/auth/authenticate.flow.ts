import { findKeyStatus, findTenantOfKey, touchApiKey } from '../api-keys/api-key-store.ts'
import { readKeyText, sameHash } from '../api-keys/api-key-text.ts'
import type { Database } from '../db/transaction.ts'
import type { Admission, PresentedCredential } from '../http/admission.ts'
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
  tokens: TokenKeys
  admissions: AdmissionCache
  /** Whether addresses are limited by the invalid credentials that they send. */
  limitBySource: boolean
  /** Told when the use of a key could not be noted, which fails no request. */
  onFailure(error: unknown): void
}

/**
 * Makes the check of credentials that the pipeline asks: undefined for whatever proves nobody. Rights are never read from
 * a credential, they come from the database: at this request, or a moment ago and unchanged since.
 */
export function authenticateWith(options: AuthenticateOptions) {
  const { admissions } = options
  const noteUse = notesUse(options)
  const guesses = options.limitBySource ? limitGuesses() : undefined

  return async ({ authorization, api_key }: PresentedCredential, address: string): Promise<Admission | undefined> => {
    if (authorization !== undefined) {
      const digest = digestOf('token', authorization)
      const admission = await admissions.admit(digest, () => proveToken(options, authorization))
      if (admission === undefined) guesses?.count(address)
      return admission
    }
    if (api_key === undefined) return undefined
    const digest = digestOf('api_key', api_key)
    const isKnown = guesses === undefined || guesses.isGood(digest)
    if (!isKnown) guesses.count(address)
    const admission = await admissions.admit(digest, () => proveKey(options, api_key, noteUse))
    if (admission === undefined && isKnown) guesses?.forget(digest, address)
    if (admission !== undefined && !isKnown) guesses.remember(digest, address)
    return admission
  }
}

const guessLimit: Limit = { name: 'invalid_credentials', quota: 100, seconds: 60 }

/**
 * What invalid credentials an address may send. One that is over it is told so without asking the database, save for keys
 * that proved good here lately: whoever shares an address with a guesser goes on. Tokens need no such memory, since only a
 * signed one gets as far as the database.
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
    /** Counts what proves nothing, or is not known to prove anything. @throws Problem 429 where it is one too many */
    count,
    /** It proved somebody, and was no guess. */
    remember(digest: string, address: string): void {
      good.set(digest, true)
      sources.release(sourceOf(address))
    },
    /** It proves nobody any more. @throws Problem 429 as `count` does */
    forget(digest: string, address: string): void {
      good.delete(digest)
      count(address)
    },
  }
}

async function proveToken({ database, tokens }: AuthenticateOptions, header: string): Promise<Proof | undefined> {
  const token = readBearer(header)
  const claims = token === undefined ? undefined : await tokens.verify(token)
  if (claims === undefined) return undefined
  const standing = await findAuthority(database.tenant(claims.tid), claims.sub)
  if (standing === undefined) return undefined
  const isLive = (now: Date) => isTokenLive(claims, now)
  const now = new Date(standing.now)
  if (!isLive(now)) return undefined
  const actor = { kind: 'user', user_id: standing.id, api_key_id: null, scopes: new Set(standing.scopes) } as const
  return { admission: { tenant_id: claims.tid, actor, via: 'token', now }, isLive }
}

async function proveKey(
  { database }: AuthenticateOptions,
  text: string,
  noteUse: (tenant_id: string, id: string) => void,
): Promise<Proof | undefined> {
  const key = readKeyText(text)
  if (key === undefined || key.kind !== 'api') return undefined
  // A key that nobody made costs the same two trips as one whose secret is wrong: time does not tell which ids exist.
  const tenant_id = (await findTenantOfKey(database.work, key.id)) ?? newId()
  // The kind is asked of the record too: the prefix and its checksum are what anybody can write around a secret they hold.
  const standing = await findKeyStatus(database.tenant(tenant_id), key.id, 'api')
  if (standing === undefined || !sameHash(standing.secret_hash, key.secret_hash)) return undefined
  if (standing.unused_lately) noteUse(tenant_id, key.id)
  const makers = new Set(standing.user_scopes)
  const scopes = new Set(standing.key_scopes.filter((scope) => makers.has(scope)))
  const actor = { kind: 'api_key', user_id: standing.user_id, api_key_id: key.id, scopes } as const
  const end = standing.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(standing.expires_at)
  return {
    admission: { tenant_id, actor, via: 'api_key', now: new Date(standing.now) },
    isLive: (now) => now.getTime() < end,
  }
}

/** Notes beside the request that a key is in use, each key once at a time, so that a busy key's calls do not queue up for it. */
function notesUse({ database, onFailure }: AuthenticateOptions) {
  const underWay = new Set<string>()
  return (tenant_id: string, id: string): void => {
    if (underWay.has(id)) return
    underWay.add(id)
    void touchApiKey(database.tenant(tenant_id), id)
      .catch(onFailure)
      .finally(() => underWay.delete(id))
  }
}
