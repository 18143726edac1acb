import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16

/** The head of a sealed value: 1; or 2 and, in four bytes, the version of its tenant's data key. */
const [underOneKey, underVersion] = [1, 2]

/** Key objects by their bytes: making one for each call costs three times as much as the sealing. */
const keyObjects = new WeakMap<Buffer, KeyObject>()

function keyObjectOf(key: Buffer): KeyObject {
  const known = keyObjects.get(key) ?? createSecretKey(key)
  keyObjects.set(key, known)
  return known
}

/**
 * Encrypts and authenticates a secret with AES-256-GCM, for one place only: `boundTo` names it (tenant, table, id, field),
 * and only the same names in the same order open it again. A sealed value moved to another row cannot be opened.
 * The nonce is random, which is safe for some billions of values under one key: use one key for each purpose.
 * @param key 32 bytes
 * @param keyVersion the key's version, stored in the head and read by `keyVersionOf`
 * @returns base64url text of the head, nonce, ciphertext and tag
 */
export function seal(key: Buffer, plaintext: Buffer | string, boundTo: readonly string[], keyVersion?: number): string {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv(algorithm, keyObjectOf(key), nonce, { authTagLength: tagLength })
  cipher.setAAD(authenticated(boundTo, keyVersion))
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(plaintext)), cipher.final()])
  return Buffer.concat([headOf(keyVersion), nonce, ciphertext, cipher.getAuthTag()]).toString('base64url')
}

/**
 * Opens a value that `seal` made with the same key for the same place.
 * @throws Error, the same for every cause: another key, another place, a changed or truncated value
 */
export function unseal(key: Buffer, sealed: string, boundTo: readonly string[]): Buffer {
  try {
    const bytes = Buffer.from(sealed, 'base64url')
    const keyVersion = keyVersionOf(sealed)
    const headLength = headOf(keyVersion).length
    // Base64 has several spellings of the same bytes, and Node ignores invalid letters: accept only the spelling of `seal`.
    if (bytes.toString('base64url') !== sealed) throw new Error('form')
    const nonceEnd = headLength + nonceLength
    const tag = bytes.subarray(Math.max(nonceEnd, bytes.length - tagLength))
    const decipher = createDecipheriv(algorithm, keyObjectOf(key), bytes.subarray(headLength, nonceEnd), {
      authTagLength: tagLength,
    })
    decipher.setAAD(authenticated(boundTo, keyVersion))
    decipher.setAuthTag(tag)
    return Buffer.concat([decipher.update(bytes.subarray(nonceEnd, -tagLength)), decipher.final()])
  } catch {
    throw cannotOpen()
  }
}

/**
 * Opens a value with the first key that opens it.
 * @throws Error, the same as `unseal`, when none does
 */
export function unsealWithAny(keys: readonly Buffer[], sealed: string, place: readonly string[]): Buffer {
  const [key = Buffer.alloc(32), ...others] = keys
  if (others.length === 0) return unseal(key, sealed, place)
  try {
    return unseal(key, sealed, place)
  } catch {
    return unsealWithAny(others, sealed, place)
  }
}

/**
 * The version of the key that a sealed value is under; undefined when the value names none.
 * @throws Error, the same as `unseal`, for text that is not a sealed value
 */
export function keyVersionOf(sealed: string): number | undefined {
  const head = Buffer.from(sealed.slice(0, 8), 'base64url')
  if (head[0] === underOneKey) return undefined
  if (head[0] !== underVersion || head.length < 5) throw cannotOpen()
  return head.readUInt32BE(1)
}

function headOf(keyVersion: number | undefined): Buffer {
  if (keyVersion === undefined) return Buffer.from([underOneKey])
  const head = Buffer.from([underVersion, 0, 0, 0, 0])
  head.writeUInt32BE(keyVersion, 1)
  return head
}

function cannotOpen(): Error {
  return new Error('the sealed value cannot be opened: it was changed, moved, or sealed with another key')
}

/** The names, each after its length, so that ['a', 'bc'] and ['ab', 'c'] differ, followed by the head with the key's version. */
function authenticated(boundTo: readonly string[], keyVersion: number | undefined): Buffer {
  const parts = boundTo.flatMap((name) => {
    const bytes = Buffer.from(name)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return Buffer.concat(keyVersion === undefined ? parts : [...parts, headOf(keyVersion)])
}
