import { createHash, randomBytes } from 'node:crypto'
import { bytesOfId, idLength, idOfBytes } from '../kernel/id.ts'

/** What a browser's cookie names: a session of a tenant, and the hash of the secret that proves it. */
export type SessionClaim = { tenant_id: string; id: string; cookie_hash: Buffer }

const secretLength = 32
/** 64 bytes in base64url: the tenant's id, the session's, and 32 random bytes. */
const form = /^[\w-]{86}$/

/** Makes the value of a session's cookie. It is stored nowhere; the database has the hash of its secret. */
export function makeSessionSecret(tenant_id: string, id: string): { text: string; cookie_hash: Buffer } {
  const secret = randomBytes(secretLength)
  const text = Buffer.concat([bytesOfId(tenant_id), bytesOfId(id), secret]).toString('base64url')
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
  const id = bytes.subarray(idLength, 2 * idLength)
  return {
    tenant_id: idOfBytes(bytes.subarray(0, idLength)),
    id: idOfBytes(id),
    cookie_hash: hashOf(bytes.subarray(2 * idLength)),
  }
}

/** The hash of a secret of random bytes: all that the database has of it. */
export function hashOf(secret: Buffer): Buffer {
  return createHash('sha256').update(secret).digest()
}
