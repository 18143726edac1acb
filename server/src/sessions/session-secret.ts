import { createHash, randomBytes } from 'node:crypto'

/** What a browser's cookie names: a session of a tenant, and the hash of the secret that proves it. */
export type SessionClaim = { tenant_id: string; id: string; cookie_hash: Buffer }

const uuidLength = 16
const secretLength = 32
/** 64 bytes in base64url: the tenant's id, the session's, and 32 random bytes. */
const form = /^[\w-]{86}$/

/** Makes the value of a session's cookie. It is stored nowhere; the database has the hash of its secret. */
export function makeSessionSecret(tenant_id: string, id: string): { text: string; cookie_hash: Buffer } {
  const secret = randomBytes(secretLength)
  const text = Buffer.concat([bytesOf(tenant_id), bytesOf(id), secret]).toString('base64url')
  return { text, cookie_hash: hashOf(secret) }
}

/** The address of a page whose link holds a secret in this form, behind `#`, which browsers do not send. */
export function secretLink(public_url: string, page: 'setup' | 'invitation', text: string): string {
  return `${public_url}/console/${page}#k=${text}`
}

/** Undefined for a text that this service did not make. */
export function readSessionSecret(text: string): SessionClaim | undefined {
  const bytes = form.test(text) ? Buffer.from(text, 'base64url') : undefined
  // One spelling each: the last letter has bits that the decoder ignores.
  if (bytes?.toString('base64url') !== text) return undefined
  const id = bytes.subarray(uuidLength, 2 * uuidLength)
  return {
    tenant_id: uuidOf(bytes.subarray(0, uuidLength)),
    id: uuidOf(id),
    cookie_hash: hashOf(bytes.subarray(2 * uuidLength)),
  }
}

function hashOf(secret: Buffer): Buffer {
  return createHash('sha256').update(secret).digest()
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
