import { CompactSign, compactVerify } from 'jose'
import type { Database } from '../db/transaction.ts'
import { parseStrictJson } from '../http/strict-json.ts'
import type { Tokens } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { RootKeys } from '../secrets/root-key.ts'
import { followRootKeyInUse } from '../secrets/root-key-in-use.flow.ts'
import { insertFirstRootKey, listRootKeyIds } from '../secrets/root-key-store.ts'
import {
  makeSigningKey,
  openSigningKey,
  otherRootKey,
  rootKeyOfSigningKey,
  type SigningKey,
  type StoredSigningKey,
} from './signing-key.ts'
import { insertFirstSigningKey, listSigningKeys } from './signing-key-store.ts'
import {
  type Claims,
  leeway,
  readClaims,
  readHeader,
  tokenAlgorithm,
  tokenAudience,
  tokenLifetime,
  tokenType,
} from './token.ts'

/** Issues tokens, and verifies those that this service issued. */
export type TokenKeys = Tokens & {
  /**
   * Returns the claims of a token with a valid signature and form; undefined for any other text. The caller checks the
   * expiry by the database's clock: `isTokenLive`. `exp` is no later than the key's retirement.
   */
  verify(token: string): Promise<Claims | undefined>
}

export type TokenKeysOptions = {
  database: Database
  rootKeys: RootKeys
  /** PUBLIC_URL: the tokens' `iss`. */
  issuer: string
  /** Called when keys cannot be read again. Tokens of the known keys keep working for half a minute. */
  onFailure(error: unknown): void
}

/** A known key, with its times by the database's clock. */
type KnownKey = SigningKey & { signsFrom: Date; retiresAt: Date | undefined }

/** Keys older than this are read again when they are needed, in milliseconds of the process's clock. */
const refreshAfterMs = 5_000
/**
 * Keys last read longer ago than this are not trusted. INVARIANT: shorter than `leadSeconds` of a rotation, so that each
 * process knows the next key before it signs, and a retirement before it happens.
 */
const trustedForMs = 30_000
/** An unauthenticated caller can name an unknown key. This limits how often that makes the service read the keys. */
const reloadAtMostEveryMs = 1_000

/**
 * Opens the service's token keys, and makes the first when there is none.
 * @throws Error with a message for the operator when they were sealed with another root key
 */
export async function openTokenKeys(options: TokenKeysOptions): Promise<TokenKeys> {
  const { issuer } = options
  await settle(options)
  const ring = await openRing(options)

  return {
    async issue({ tenant_id, user_id, session_id, now }, lifetime_seconds = tokenLifetime) {
      const key = keyToSign(await ring.fresh(refreshAfterMs), now)
      const iat = Math.floor(now.getTime() / 1000)
      const exp = iat + lifetime_seconds
      const subject = { sub: user_id, tid: tenant_id, sid: session_id }
      const claims: Claims = { iss: issuer, aud: tokenAudience, ...subject, iat, exp, jti: newId() }
      const token = await new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ alg: tokenAlgorithm, typ: tokenType, kid: key.kid })
        .sign(key.private)
      return { token, expires_at: new Date(exp * 1000).toISOString() }
    },
    async publicKeys() {
      const keys = await ring.fresh(refreshAfterMs)
      return keys.map(({ kid, public_jwk }) => ({ ...public_jwk, kid, alg: tokenAlgorithm, use: 'sig' }))
    },
    async verify(token) {
      const kid = readHeader(jsonOf(token.slice(0, token.indexOf('.'))))
      const key = kid === undefined ? undefined : await ring.find(kid)
      if (key === undefined) return undefined
      const verified = await compactVerify(token, key.public, { algorithms: [tokenAlgorithm] }).catch(() => undefined)
      const claims = verified && readClaims(strictly(Buffer.from(verified.payload)), issuer)
      return claims && { ...claims, exp: Math.min(claims.exp, lastSecondOf(key)) }
    },
  }
}

/** Records the root key in use, and makes the first token key. */
async function settle({ database: { service }, rootKeys }: TokenKeysOptions): Promise<void> {
  const [newest] = await listSigningKeys(service)
  if ((await requireRootKeyInUse(service, rootKeys)) === undefined) {
    const root = newest === undefined ? rootKeys.inUse() : rootKeyOfSigningKey(rootKeys, newest)
    if (root === undefined) throw new Error(otherRootKey)
    await insertFirstRootKey(service, root.id)
    await requireRootKeyInUse(service, rootKeys)
  }
  if (newest === undefined) await insertFirstSigningKey(service, await makeSigningKey(rootKeys.inUse()))
}

async function requireRootKeyInUse(service: Database['service'], rootKeys: RootKeys): Promise<string | undefined> {
  const { inUse, missing } = await followRootKeyInUse(service, rootKeys)
  if (missing.length > 0) throw new Error(`${otherRootKey} (not here: ${missing.join(', ')})`)
  return inUse
}

/** Keeps the keys from the last read and reads them again when needed. Concurrent callers share one read. */
async function openRing({ database: { service }, rootKeys, onFailure }: TokenKeysOptions) {
  let keys = await readKeys(service, (stored) => openOnce(rootKeys, stored, []))
  let readAt = performance.now()
  let triedAt = readAt
  let reading: Promise<void> | undefined
  // Reports an outage once: while the database is gone, every call tries again.
  let isFailing = false

  const reportFailure = (error: unknown): undefined => {
    onFailure(error)
  }

  const read = async () => {
    const startedAt = performance.now()
    triedAt = startedAt
    try {
      const [inUse] = await listRootKeyIds(service)
      if (inUse !== undefined) rootKeys.use(inUse)
      const known = keys
      // A key that cannot be opened, because its root key is missing here, does not affect the others.
      keys = await readKeys(service, (stored) => openOnce(rootKeys, stored, known).catch(reportFailure))
      readAt = startedAt
      isFailing = false
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
      throw error
    } finally {
      reading = undefined
    }
  }

  const readOnce = () => {
    reading ??= read()
    // A caller that does not wait is not notified of a failure; `onFailure` was called.
    reading.catch(() => undefined)
    return reading
  }

  /** Returns keys read at most `maxAgeMs` ago. Keys older than `refreshAfterMs` are also read again in the background. */
  const fresh = async (maxAgeMs: number): Promise<KnownKey[]> => {
    const age = performance.now() - readAt
    if (age >= refreshAfterMs) {
      const read = readOnce()
      if (age >= maxAgeMs) await read
    }
    return keys
  }

  return {
    fresh,
    async find(kid: string): Promise<KnownKey | undefined> {
      const known = (await fresh(trustedForMs)).find((key) => key.kid === kid)
      if (known !== undefined) return known
      // A key is published long before it signs, so a key that the last second's read did not return does not exist.
      if (reading === undefined && performance.now() - triedAt < reloadAtMostEveryMs && readAt >= triedAt)
        return undefined
      await readOnce()
      return keys.find((key) => key.kid === kid)
    },
  }
}

async function readKeys(
  service: Database['service'],
  open: (stored: StoredSigningKey) => Promise<KnownKey | undefined>,
): Promise<KnownKey[]> {
  const opened = await Promise.all((await listSigningKeys(service)).map(open))
  return opened.filter((key) => key !== undefined)
}

/** Opens each key once. The kid identifies it: it is the thumbprint of the public part. */
async function openOnce(rootKeys: RootKeys, stored: StoredSigningKey, before: readonly KnownKey[]): Promise<KnownKey> {
  const opened = before.find(({ kid }) => kid === stored.kid) ?? (await openSigningKey(rootKeys, stored))
  const { signs_from, retires_at } = stored
  return {
    ...opened,
    signsFrom: new Date(signs_from),
    retiresAt: retires_at === null ? undefined : new Date(retires_at),
  }
}

/** The newest key that may sign now. When there is none, as after the database's clock went back, the earliest key. */
function keyToSign(keys: readonly KnownKey[], now: Date): KnownKey {
  const key = keys.find(({ signsFrom }) => signsFrom <= now) ?? keys.at(-1)
  if (key === undefined) throw new Error('there is no token key')
  return key
}

/** The check of a token allows a minute's leeway; a key's retirement allows none. */
function lastSecondOf({ retiresAt }: KnownKey): number {
  return retiresAt === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(retiresAt.getTime() / 1000) - leeway
}

function jsonOf(part: string): unknown {
  return strictly(Buffer.from(part, 'base64url'))
}

/** Undefined for text that is not JSON, or that parsers read differently. */
function strictly(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes.toString('utf8'), { depth: 4 })
  } catch {
    return undefined
  }
}
