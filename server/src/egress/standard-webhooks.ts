import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The headers of a signed message: https://www.standardwebhooks.com, version 1 with a symmetric key. */
export type SignedHeaders = { 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string }

/** The standard's form of a secret: 24 to 64 bytes in base64. */
export const signingSecretForm = /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Makes a new secret of 32 bytes. */
export function makeSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Seconds between a message's timestamp and its arrival, at most. */
const maxAgeSeconds = 300

/** Signs with each secret: during a rotation, the receiver may hold either. */
export function signed(secrets: readonly string[], id: string, now: Date, body: string): SignedHeaders {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = secrets.map((secret) => `v1,${signatureOf(secret, id, timestamp, body).toString('base64')}`)
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

/** Whether one of the secrets signed this message, and its timestamp is within five minutes of now. */
export function isSigned(
  secrets: readonly string[],
  headers: { [Name in keyof SignedHeaders]: string | undefined },
  now: Date,
  body: string,
): boolean {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signatures = '' } = headers
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > maxAgeSeconds) return false
  const given = signatures
    .split(' ', 10)
    .flatMap((one) => (one.startsWith('v1,') ? [Buffer.from(one.slice(3), 'base64')] : []))
  return secrets.some((secret) => {
    const expected = signatureOf(secret, id, timestamp, body)
    return given.some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))
  })
}

function signatureOf(secret: string, id: string, timestamp: string, body: string): Buffer {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
}
