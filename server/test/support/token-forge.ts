import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export type Json = Record<string, unknown>
/** Signs a token's first two parts. */
export type Signer = (input: string) => Buffer

/** A token of these two parts; a string is used as it is, so a part may be any text. */
export function jwt(header: Json | string, claims: Json | string, signer: Signer): string {
  const part = (value: Json | string) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
  const input = `${part(header)}.${part(claims)}`
  return `${input}.${signer(input).toString('base64url')}`
}

/** The keys of a provider: two of the types that it announces. */
export const theirs = { rsa: rsaKey('rsa-1'), ec: ecKey('ec-1') }
/** A stranger's key under the name of the provider's own. */
export const strangers = rsaKey('rsa-1')

export const unsigned: Signer = () => Buffer.alloc(0)
export const byHmac =
  (secret: string | Buffer): Signer =>
  (input) =>
    createHmac('sha256', secret).update(input).digest()

/** The provider's public key as text, which a careless verifier takes for a shared secret. */
export const publicText = theirs.rsa.publicKey.export({ type: 'spki', format: 'pem' })

export function rsaKey(kid: string, modulusLength = 2048) {
  return keyOf(generateKeyPairSync('rsa', { modulusLength }), { kid, alg: 'RS256' })
}

function ecKey(kid: string) {
  return keyOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }), { kid, alg: 'ES256' })
}

function keyOf({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }, named: Json) {
  const signer: Signer = (input) => sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return { publicKey, sign: signer, jwk: { ...publicKey.export({ format: 'jwk' }), ...named, use: 'sig' } as Json }
}
