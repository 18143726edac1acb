import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { deriveKey, type RootKey, type RootKeys } from '../secrets/root-key.ts'
import { seal, unsealWithAny } from '../secrets/seal.ts'
import { tokenAlgorithm } from './token.ts'

type CryptoKeyLike = Awaited<ReturnType<typeof importJWK>>

/** A new token key, its private part sealed. `public_jwk` is for information only and never trusted. */
export type NewSigningKey = {
  kid: string
  sealed_private_jwk: string
  public_jwk: Record<string, unknown>
  root_key_id: string
}

/** A token key as stored, its times by the database's clock. */
export type StoredSigningKey = {
  kid: string
  sealed_private_jwk: string
  /** The root key that sealed it; null for an old key, whose root key was not recorded. */
  root_key_id: string | null
  signs_from: string
  retires_at: string | null
}

/** An unsealed token key. */
export type SigningKey = { kid: string; private: CryptoKeyLike; public: CryptoKeyLike; public_jwk: JWK }

/** A new key, sealed with this root key. */
export async function makeSigningKey(root: RootKey): Promise<NewSigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(tokenAlgorithm, { crv: 'Ed25519', extractable: true })
  const public_jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(public_jwk)
  const text = JSON.stringify(await exportJWK(privateKey))
  return { kid, public_jwk: { ...public_jwk }, ...sealWith(root, kid, text) }
}

/**
 * INVARIANT: the key that verifies tokens comes out of the seal. A public key written into the table is not used.
 * @throws Error with a message for the operator when none of the root keys here sealed it
 */
export async function openSigningKey(roots: RootKeys, stored: StoredSigningKey): Promise<SigningKey> {
  const { kid } = stored
  const { d, ...public_jwk } = JSON.parse(readText(roots, stored)) as JWK
  return {
    kid,
    private: await importJWK({ ...public_jwk, ...(d !== undefined && { d }) }, tokenAlgorithm),
    public: await importJWK(public_jwk, tokenAlgorithm),
    public_jwk,
  }
}

/** The same key, sealed with this root key. */
export function resealSigningKey(roots: RootKeys, root: RootKey, stored: StoredSigningKey) {
  const text = readText(roots, stored)
  return sealWith(root, stored.kid, text)
}

/** The root key that sealed the token key. */
export function rootKeyOfSigningKey(roots: RootKeys, stored: StoredSigningKey): RootKey | undefined {
  return candidates(roots, stored).find((root) => {
    try {
      return unsealWith([root], stored).length > 0
    } catch {
      return false
    }
  })
}

/** The message for stored values that were sealed with a root key that is not here. */
export const otherRootKey =
  'the root key (SECRET_KEY, or the file secret.key in DATA_DIR) is not the one that this database was sealed with: ' +
  'start with that one; processes on one database share one root key'

function readText(roots: RootKeys, stored: StoredSigningKey): string {
  const keys = candidates(roots, stored)
  try {
    return unsealWith(keys, stored).toString('utf8')
  } catch (cause) {
    throw new Error(otherRootKey, { cause })
  }
}

function candidates(roots: RootKeys, { root_key_id }: StoredSigningKey): readonly RootKey[] {
  const named = root_key_id === null ? undefined : roots.find(root_key_id)
  return named === undefined ? roots.all() : [named]
}

function unsealWith(roots: readonly RootKey[], { kid, sealed_private_jwk }: StoredSigningKey): Buffer {
  return unsealWithAny(roots.map(sealingKey), sealed_private_jwk, placeOf(kid))
}

function sealWith(root: RootKey, kid: string, text: string) {
  return { sealed_private_jwk: seal(sealingKey(root), text, placeOf(kid)), root_key_id: root.id }
}

function sealingKey({ bytes }: RootKey): Buffer {
  return deriveKey(bytes, 'signing-key')
}

function placeOf(kid: string): string[] {
  return ['signing_key', kid, 'private_jwk']
}
