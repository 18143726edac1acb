import { createHash, randomBytes } from 'node:crypto'

/** How many codes a user has; each is valid once. */
const count = 10
/** Without letters and digits that look alike. */
const alphabet = 'abcdefghjkmnpqrstvwxyz23456789'
const length = 16

/** New codes of 78 bits, as shown to the user: `abcd-efgh-jkmn-pqrs`. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: count }, () => (makeCode().match(/.{4}/g) ?? []).join('-'))
}

/** The hash that is stored in place of a code, in any spelling that people type. */
export function recoveryCodeHash(code: string): Buffer {
  return createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest()
}

/** Bytes above the largest multiple of the alphabet are dropped, so that each letter is as likely as any other. */
function makeCode(): string {
  const limit = 256 - (256 % alphabet.length)
  let code = ''
  while (code.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < limit && code.length < length) code += alphabet[byte % alphabet.length]
    }
  }
  return code
}
