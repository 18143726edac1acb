import {
  findKeyStatus,
  findScimKeyStatus,
  findTenantOfKey,
  type SecretStatus,
  touchKey,
} from '../api-keys/api-key-store.ts'
import { type KeyKind, readKeyText, sameHash } from '../api-keys/api-key-text.ts'
import type { Database } from '../db/transaction.ts'
import type {
  Authenticate,
  AuthenticateDirectory,
  PresentedCredential,
  Prove,
  ProveDirectory,
} from '../http/admission.ts'
import { sourceOf } from '../http/source.ts'
import { type Limit, openBuckets, rateLimited } from '../kernel/bucket.ts'
import type { Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { createLruCache } from '../kernel/lru-cache.ts'
import { rehearsalScopes } from '../roles/role.ts'
import { readSessionSecret } from '../sessions/session-secret.ts'
import { touchSession } from '../sessions/session-store.ts'
import { type AdmissionCache, digestOf, type Proof } from './admission-cache.ts'
import { findSessionAuthority, type SessionAuthority } from './session-authority-store.ts'
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
  /** Called when the use of a key or a session could not be recorded. This fails no request. */
  onFailure(error: unknown): void
}

/**
 * Makes the pipeline's credential checks, which return undefined for an invalid credential. Rights are never read from a
 * credential. They come from the database: read at this moment (`prove`), or at this request or moments ago and unchanged since
 * (`authenticate`).
 */
export function authenticateWith(options: AuthenticateOptions): {
  authenticate: Authenticate
  authenticateDirectory: AuthenticateDirectory
  prove: Prove
  proveDirectory: ProveDirectory
} {
  const { database, confirming, admissions } = options
  const recordUse = useRecorder(options)
  const guesses = options.limitBySource ? limitGuesses() : undefined
  /** Sessions that were admitted and have ended. Browsers that still send their cookies are not guessing, and cost no query. */
  const endedSessions = createLruCache<true>(5_000)

  /** For a text that anybody can make up, and that only the database can tell from a valid one. */
  const admitSecret = async (
    kind: 'api_key' | 'scim_key' | 'session',
    text: string,
    address: string,
    proveNow: ProveNow,
  ) => {
    const digest = digestOf(kind, text)
    if (endedSessions.get(digest) === true) return undefined
    const isKnown = guesses === undefined || guesses.isGood(digest)
    if (!isKnown) guesses.count(address)
    const admission = await admissions.admit(digest, proveNow)
    if (admission === undefined && isKnown) {
      if (kind === 'session') endedSessions.set(digest, true)
      else guesses?.forget(digest, address)
    }
    if (admission !== undefined && !isKnown) guesses.remember(digest, address)
    return admission
  }

  const authenticate: Authenticate = async (presented, address) => {
    const { authorization, api_key, session } = presented
    const proveNow = () => proofOf(presented, { database, tokens: options.tokens, recordUse })
    if (authorization !== undefined) {
      const admission = await admissions.admit(digestOf('token', authorization), proveNow)
      if (admission === undefined) guesses?.count(address)
      return admission
    }
    if (api_key !== undefined) return admitSecret('api_key', api_key, address, proveNow)
    return session === undefined ? undefined : admitSecret('session', session, address, proveNow)
  }
  const authenticateDirectory: AuthenticateDirectory = (key, address) =>
    admitSecret('scim_key', key, address, () => proveScimKey(key, { database, tokens: options.tokens, recordUse }))
  const prove: Prove = async (presented) =>
    (await proofOf(presented, { database: confirming, tokens: options.tokens }))?.admission
  const proveDirectory: ProveDirectory = async (key) =>
    (await proveScimKey(key, { database: confirming, tokens: options.tokens }))?.admission
  return { authenticate, authenticateDirectory, prove, proveDirectory }
}

type ProveNow = () => Promise<Proof | undefined>

type Proving = {
  database: Database
  tokens: TokenKeys
  /** Called when the recorded use of a key or a session is older than a minute. Absent: uses are not recorded. */
  recordUse?: RecordUse
}

async function proofOf(
  { authorization, api_key, session }: PresentedCredential,
  proving: Proving,
): Promise<Proof | undefined> {
  if (authorization !== undefined) return proveToken(authorization, proving)
  if (api_key !== undefined) return proveKey(api_key, proving)
  return session === undefined ? undefined : proveSession(session, proving)
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

async function proveToken(header: string, { database, tokens, recordUse }: Proving): Promise<Proof | undefined> {
  const token = readBearer(header)
  const claims = token === undefined ? undefined : await tokens.verify(token)
  if (claims === undefined) return undefined
  const { tid: tenant_id, sid, sub: user_id } = claims
  const authority = await findSessionAuthority(database.tenant(tenant_id), sid, { user_id })
  if (authority === undefined || !isTokenLive(claims, new Date(authority.now))) return undefined
  if (authority.unused_lately) recordUse?.(touchSession, tenant_id, sid)
  const proof = sessionProof(tenant_id, sid, authority, 'token')
  return { ...proof, isLive: (now) => proof.isLive(now) && isTokenLive(claims, now) }
}

async function proveSession(text: string, { database, recordUse }: Proving): Promise<Proof | undefined> {
  const claim = readSessionSecret(text)
  if (claim === undefined) return undefined
  const { tenant_id, id, cookie_hash } = claim
  const authority = await findSessionAuthority(database.tenant(tenant_id), id, { cookie_hash })
  if (authority === undefined) return undefined
  if (authority.unused_lately) recordUse?.(touchSession, tenant_id, id)
  return sessionProof(tenant_id, id, authority, 'session')
}

/** The cookie of a session proves what its token does. */
function sessionProof(tenant_id: string, id: string, authority: SessionAuthority, via: 'token' | 'session'): Proof {
  const { user_id, live_until, auth_time, amr, mode, rehearses, lacks_factor, tenant_suspended, now } = authority
  const session = { id, auth_time: new Date(auth_time), amr, in_live: mode === 'live', rehearses, lacks_factor }
  const scopes = new Set(authority.scopes.filter((scope) => !rehearses || rehearsalScopes.has(scope)))
  const actor = { kind: 'user', user_id, api_key_id: null, scopes } as const
  const end = Date.parse(live_until)
  return {
    admission: { tenant_id, actor, via, session, tenant_suspended, now: new Date(now) },
    isLive: (later) => later.getTime() < end,
  }
}

/** An API key has the scopes that its creator has now, of those it was given. */
async function proveKey(text: string, proving: Proving): Promise<Proof | undefined> {
  const found = await findBySecret('api', text, findKeyStatus, proving)
  if (found === undefined) return undefined
  const { status } = found
  const creatorScopes = new Set(status.user_scopes)
  return keyProof(
    found,
    status.user_id,
    status.key_scopes.filter((scope) => creatorScopes.has(scope)),
  )
}

/** A SCIM key speaks for its directory, whatever has become of the user who made it: people who leave must be stopped all the same. */
async function proveScimKey(text: string, proving: Proving): Promise<Proof | undefined> {
  const found = await findBySecret('scim', text, findScimKeyStatus, proving)
  if (found === undefined) return undefined
  const { created_by, key_scopes, identity_provider_id, enabled } = found.status
  const { admission, isLive } = keyProof(found, created_by, key_scopes)
  return { admission: { ...admission, directory: { id: identity_provider_id, enabled } }, isLive }
}

type FoundKey<Status extends SecretStatus> = { id: string; tenant_id: string; status: Status }

/** The live key of this kind that has this text. Its use is recorded. */
async function findBySecret<Status extends SecretStatus>(
  kind: KeyKind,
  text: string,
  findStatus: (tx: Tx, id: string, kind: KeyKind) => Promise<Status | undefined>,
  { database, recordUse }: Proving,
): Promise<FoundKey<Status> | undefined> {
  const key = readKeyText(text)
  if (key === undefined || key.kind !== kind) return undefined
  const { id, secret_hash } = key
  // An unknown key costs the same two round trips as a key with a wrong secret: timing does not reveal which ids exist.
  const tenant_id = (await findTenantOfKey(database.work, id)) ?? newId()
  // The record's kind is checked too: anyone with a secret can write another prefix and its checksum around it.
  const status = await findStatus(database.tenant(tenant_id), id, kind)
  if (status === undefined || !sameHash(status.secret_hash, secret_hash)) return undefined
  if (status.unused_lately) recordUse?.(touchKey, tenant_id, id)
  return { id, tenant_id, status }
}

function keyProof({ id, tenant_id, status }: FoundKey<SecretStatus>, user_id: string, scopes: readonly string[]) {
  const { tenant_suspended, expires_at } = status
  const actor = { kind: 'api_key', user_id, api_key_id: id, scopes: new Set(scopes) } as const
  const end = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
  return {
    admission: { tenant_id, actor, via: 'api_key', session: null, tenant_suspended, now: new Date(status.now) },
    isLive: (later: Date) => later.getTime() < end,
  } as const
}

type RecordUse = (touch: (tx: Tx, id: string) => Promise<void>, tenant_id: string, id: string) => void

/** Records uses in the background. Each credential has one write in flight at most, so that a busy one's calls do not queue. */
function useRecorder({ database, onFailure }: AuthenticateOptions): RecordUse {
  const inFlight = new Set<string>()
  return (touch, tenant_id, id) => {
    if (inFlight.has(id)) return
    inFlight.add(id)
    void touch(database.tenant(tenant_id), id)
      .catch(onFailure)
      .finally(() => inFlight.delete(id))
  }
}
