import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify(pbkdf2)
const iterations = 4_096

/** A new password: 192 random bits, of letters, digits, `-` and `_` alone. */
export function newPassword(): string {
  return randomBytes(24).toString('base64url')
}

/**
 * What PostgreSQL stores of a password (RFC 5802 with SHA-256, RFC 7677). It stores a text of this form as it is, so that the server, its
 * log and its statistics never see the password. `password`: plain ASCII, which SASLprep does not change.
 */
export async function verifierOf(password: string, salt: Buffer = randomBytes(16)): Promise<string> {
  const salted = await derive(password, salt, iterations, 32, 'sha256')
  const mac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(mac('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${mac('Server Key').toString('base64')}`
}
