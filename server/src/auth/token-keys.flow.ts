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

/** Makes tokens, and reads those that this service made. */
export type TokenKeys = Tokens & {
  /**
   * What a token says, its signature and form found good; undefined for any other text. Whether it is live, the
   * database's clock must tell: `isTokenLive`. It ends no later than its key retires.
   */
  verify(token: string): Promise<Claims | undefined>
}

export type TokenKeysOptions = {
  database: Database
  rootKeys: RootKeys
  /** PUBLIC_URL: the tokens' `iss`. */
  issuer: string
  /** Told when keys cannot be read anew; tokens of the keys at hand go on working, for half a minute. */
  onFailure(error: unknown): void
}

/** A key at hand, with its moments by the database's clock. */
type KnownKey = SigningKey & { signsFrom: Date; retiresAt: Date | undefined }

/** Keys are read anew when they are wanted and older than this, in milliseconds of the process's clock. */
const refreshAfterMs = 5_000
/**
 * Keys that were not read for as long prove nothing. INVARIANT: shorter than `leadSeconds` of a rotation, so that whoever
 * goes by them knows the next key before it signs, and of a retirement before it comes.
 */
const trustedForMs = 30_000
/** A key that nobody knows may be asked for by strangers: looking for it is not something that they can make us do often. */
const reloadAtMostEveryMs = 1_000

/**
 * Opens the service's token keys, making the first where there is none.
 * @throws Error with a sentence for the operator when they were sealed with another root key
 */
export async function openTokenKeys(options: TokenKeysOptions): Promise<TokenKeys> {
  const { issuer } = options
  await settle(options)
  const ring = await openRing(options)

  return {
    async issue({ tenant_id, user_id, now }) {
      const key = keyToSign(await ring.fresh(refreshAfterMs), now)
      const iat = Math.floor(now.getTime() / 1000)
      const exp = iat + tokenLifetime
      const claims: Claims = { iss: issuer, aud: tokenAudience, sub: user_id, tid: tenant_id, iat, exp, jti: newId() }
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

/** Notes the root key in use, and makes the first token key. */
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

/** The keys as they were read last, read anew as they are wanted: many who want that at once share one reading. */
async function openRing({ database: { service }, rootKeys, onFailure }: TokenKeysOptions) {
  let keys = await readKeys(service, (stored) => openOnce(rootKeys, stored, []))
  let readAt = performance.now()
  let triedAt = readAt
  let reading: Promise<void> | undefined
  // Told once: where the database is gone, every call tries again.
  let isFailing = false

  const tellFailure = (error: unknown): undefined => {
    onFailure(error)
  }

  const read = async () => {
    const askedAt = performance.now()
    triedAt = askedAt
    try {
      const [inUse] = await listRootKeyIds(service)
      if (inUse !== undefined) rootKeys.use(inUse)
      const known = keys
      // One that cannot be opened here, for want of its root key, leaves the others as good as they are.
      keys = await readKeys(service, (stored) => openOnce(rootKeys, stored, known).catch(tellFailure))
      readAt = askedAt
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
    // Whoever does not wait for it is not told that it failed; `onFailure` was.
    reading.catch(() => undefined)
    return reading
  }

  /** The keys, read no longer ago than this; what may be older is read anew all the same, beside whoever asks. */
  const fresh = async (atMostMs: number): Promise<KnownKey[]> => {
    const age = performance.now() - readAt
    if (age >= refreshAfterMs) {
      const read = readOnce()
      if (age >= atMostMs) await read
    }
    return keys
  }

  return {
    fresh,
    async find(kid: string): Promise<KnownKey | undefined> {
      const known = (await fresh(trustedForMs)).find((key) => key.kid === kid)
      if (known !== undefined) return known
      // A key is made known long before it signs: one that no reading of the last second had is no key of ours.
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

/** Each key is opened once: its kid is its public part. */
async function openOnce(rootKeys: RootKeys, stored: StoredSigningKey, before: readonly KnownKey[]): Promise<KnownKey> {
  const opened = before.find(({ kid }) => kid === stored.kid) ?? (await openSigningKey(rootKeys, stored))
  const { signs_from, retires_at } = stored
  return {
    ...opened,
    signsFrom: new Date(signs_from),
    retiresAt: retires_at === null ? undefined : new Date(retires_at),
  }
}

/** The newest whose time has come. Where none has, as on a database whose clock went back, the first to come. */
function keyToSign(keys: readonly KnownKey[], now: Date): KnownKey {
  const key = keys.find(({ signsFrom }) => signsFrom <= now) ?? keys.at(-1)
  if (key === undefined) throw new Error('there is no token key')
  return key
}

/** A token is looked at with a minute's leeway; a key's end has none. */
function lastSecondOf({ retiresAt }: KnownKey): number {
  return retiresAt === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(retiresAt.getTime() / 1000) - leeway
}

function jsonOf(part: string): unknown {
  return strictly(Buffer.from(part, 'base64url'))
}

/** Undefined for what is no JSON, or means different things to different readers. */
function strictly(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes.toString('utf8'), { depth: 4 })
  } catch {
    return undefined
  }
}
