import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const version = Buffer.from([1])
const nonceLength = 12
const tagLength = 16
const headLength = version.length + nonceLength

/**
 * Encrypts and authenticates a secret with AES-256-GCM, for one place only: `boundTo` names it (tenant, table, id, field),
 * and only the same names in the same order open it again, so that a sealed value moved to another row stays shut.
 * The nonce is random, which is safe for some billions of values under one key: derive a key for each purpose.
 * @param key 32 bytes, from `deriveKey`
 * @returns base64url text of version, nonce, ciphertext and tag
 */
export function seal(key: Buffer, plaintext: Buffer | string, boundTo: readonly string[]): string {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagLength })
  cipher.setAAD(authenticated(boundTo))
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(plaintext)), cipher.final()])
  return Buffer.concat([version, nonce, ciphertext, cipher.getAuthTag()]).toString('base64url')
}

/**
 * Opens what `seal` made with the same key for the same place.
 * @throws Error, one and the same for every cause: another key, another place, a changed or cut value
 */
export function unseal(key: Buffer, sealed: string, boundTo: readonly string[]): Buffer {
  try {
    const bytes = Buffer.from(sealed, 'base64url')
    // Base64 has several spellings of the same bytes, and Node passes over what is none: only the one that `seal` wrote counts.
    if (bytes.toString('base64url') !== sealed || !bytes.subarray(0, version.length).equals(version))
      throw new Error('form')
    const nonce = bytes.subarray(version.length, headLength)
    const tag = bytes.subarray(Math.max(headLength, bytes.length - tagLength))
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength })
    decipher.setAAD(authenticated(boundTo))
    decipher.setAuthTag(tag)
    return Buffer.concat([decipher.update(bytes.subarray(headLength, -tagLength)), decipher.final()])
  } catch {
    throw new Error('the sealed value cannot be opened: it was changed, moved, or sealed with another key')
  }
}

/** The names, each with its length before it: ['a', 'bc'] and ['ab', 'c'] are different places. */
function authenticated(boundTo: readonly string[]): Buffer {
  const parts = boundTo.flatMap((name) => {
    const bytes = Buffer.from(name)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return Buffer.concat(parts)
}
