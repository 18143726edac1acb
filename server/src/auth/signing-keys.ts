import {
  CompactSign,
  calculateJwkThumbprint,
  compactVerify,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose'
import type { Database } from '../db/transaction.ts'
import { parseStrictJson } from '../http/strict-json.ts'
import type { Tokens } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { deriveKey, type RootKey } from '../secrets/root-key.ts'
import { seal, unseal } from '../secrets/seal.ts'
import { insertFirstSigningKey, listSigningKeys, type StoredSigningKey } from './signing-key-store.ts'
import {
  type Claims,
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
   * database's clock must tell: `isTokenLive`.
   */
  verify(token: string): Promise<Claims | undefined>
}

export type TokenKeysOptions = {
  database: Database
  rootKey: RootKey
  /** PUBLIC_URL: the tokens' `iss`. */
  issuer: string
  /** Told when keys cannot be read anew; tokens of the keys at hand go on working. */
  onFailure(error: unknown): void
}

type CryptoKeyLike = Awaited<ReturnType<typeof importJWK>>
type SigningKey = { kid: string; private: CryptoKeyLike; public: CryptoKeyLike; public_jwk: JWK }

/** Another process may have made a key since; looking for it is not something that strangers can make us do often. */
const reloadAtMostEveryMs = 1_000

/**
 * Opens the service's token keys, making the first where there is none.
 * @throws Error with a sentence for the operator when they were sealed with another root key
 */
export async function openTokenKeys(options: TokenKeysOptions): Promise<TokenKeys> {
  const { service } = options.database
  const sealKey = deriveKey(options.rootKey, 'signing-key')
  let keys = await loadKeys(service, sealKey)
  if (keys.length === 0) {
    await insertFirstSigningKey(service, await makeKey(sealKey))
    keys = await loadKeys(service, sealKey)
  }
  let loadedAt = performance.now()
  let loading: Promise<void> = Promise.resolve()

  const load = async () => {
    try {
      keys = await loadKeys(service, sealKey)
    } catch (error) {
      options.onFailure(error)
    }
  }

  const findKey = async (kid: string): Promise<SigningKey | undefined> => {
    const known = keys.find((key) => key.kid === kid)
    if (known !== undefined) return known
    if (performance.now() - loadedAt >= reloadAtMostEveryMs) {
      loadedAt = performance.now()
      loading = load()
    }
    await loading
    return keys.find((key) => key.kid === kid)
  }

  return {
    async issue({ tenant_id, user_id, now }) {
      const [current] = keys
      if (current === undefined) throw new Error('there is no token key')
      const iat = Math.floor(now.getTime() / 1000)
      const exp = iat + tokenLifetime
      const { issuer: iss } = options
      const claims: Claims = { iss, aud: tokenAudience, sub: user_id, tid: tenant_id, iat, exp, jti: newId() }
      const token = await new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ alg: tokenAlgorithm, typ: tokenType, kid: current.kid })
        .sign(current.private)
      return { token, expires_at: new Date(exp * 1000).toISOString() }
    },
    publicKeys: () => keys.map(({ kid, public_jwk }) => ({ ...public_jwk, kid, alg: tokenAlgorithm, use: 'sig' })),
    async verify(token) {
      const kid = readHeader(jsonOf(token.slice(0, token.indexOf('.'))))
      const key = kid === undefined ? undefined : await findKey(kid)
      if (key === undefined) return undefined
      const verified = await compactVerify(token, key.public, { algorithms: [tokenAlgorithm] }).catch(() => undefined)
      return verified && readClaims(strictly(Buffer.from(verified.payload)), options.issuer)
    },
  }
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

async function makeKey(sealKey: Buffer): Promise<StoredSigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(tokenAlgorithm, { crv: 'Ed25519', extractable: true })
  const public_jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(public_jwk)
  const private_jwk = JSON.stringify(await exportJWK(privateKey))
  return { kid, public_jwk: { ...public_jwk }, sealed_private_jwk: seal(sealKey, private_jwk, placeOf(kid)) }
}

async function loadKeys(service: Database['service'], sealKey: Buffer): Promise<SigningKey[]> {
  const stored = await listSigningKeys(service)
  return Promise.all(stored.map((key) => openKey(sealKey, key)))
}

/** INVARIANT: what proves a token comes out of the seal; a public key that somebody wrote into the table proves nothing. */
async function openKey(sealKey: Buffer, stored: StoredSigningKey): Promise<SigningKey> {
  const { kid } = stored
  const { d, ...public_jwk } = readPrivateJwk(sealKey, stored)
  return {
    kid,
    private: await importJWK({ ...public_jwk, ...(d !== undefined && { d }) }, tokenAlgorithm),
    public: await importJWK(public_jwk, tokenAlgorithm),
    public_jwk,
  }
}

function readPrivateJwk(sealKey: Buffer, { kid, sealed_private_jwk }: StoredSigningKey): JWK {
  try {
    return JSON.parse(unseal(sealKey, sealed_private_jwk, placeOf(kid)).toString('utf8')) as JWK
  } catch (cause) {
    throw new Error(
      'the root key (SECRET_KEY, or the file secret.key in DATA_DIR) is not the one that this database was sealed with: ' +
        'start with that one; processes on one database share one root key',
      { cause },
    )
  }
}

function placeOf(kid: string): string[] {
  return ['signing_key', kid, 'private_jwk']
}
