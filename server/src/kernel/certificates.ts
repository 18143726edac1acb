import { X509Certificate } from 'node:crypto'

const form = /^\s*(?:-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$/

/** What is wrong with a value that should be PEM certificates and nothing else; undefined: nothing. */
export function findCertificatesFault(value: unknown): string | undefined {
  const why = 'must be only PEM certificates: -----BEGIN CERTIFICATE-----'
  if (typeof value !== 'string' || !form.test(value)) return why
  try {
    new X509Certificate(value)
    return undefined
  } catch {
    return why
  }
}
