import { Secret, TOTP } from 'otpauth'

/** The one place that knows the codes of authenticator apps (RFC 6238): six digits of SHA-1 for each 30 seconds, as every app supports. */

const period = 30
/** A clock may be this many periods ahead or behind. */
const window = 1

/** A new secret of 160 bits, in base32. */
export function makeTotpSecret(): string {
  return new Secret({ size: 20 }).base32
}

/** The address that an app reads from a QR code. */
export function totpUri(secret: string, { issuer, account }: { issuer: string; account: string }): string {
  return totpOf(secret, { issuer, label: account }).toString()
}

/**
 * The number of the 30 seconds whose code this is; undefined for a wrong code.
 * @param now by the database's clock
 */
export function stepOfCode(secret: string, code: string, now: Date): number | undefined {
  // The library throws for digits of another script, which have more bytes.
  if (!/^[0-9]{6}$/.test(code)) return undefined
  const timestamp = now.getTime()
  const delta = totpOf(secret, {}).validate({ token: code, timestamp, window })
  return delta === null ? undefined : Math.floor(timestamp / 1000 / period) + delta
}

function totpOf(secret: string, named: { issuer?: string; label?: string }): TOTP {
  return new TOTP({ ...named, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period })
}
