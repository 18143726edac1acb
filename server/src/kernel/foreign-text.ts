/** The maximum length of foreign text that is kept. */
export const maxTextLength = 500

/**
 * Foreign text as it may be kept and shown: one short line without our secrets. Null if nothing is left or the value is not
 * text. `hide`: texts to redact.
 */
export function sanitizeText(value: unknown, hide: readonly string[]): string | null {
  if (typeof value !== 'string') return null
  let text = value
  for (const secret of hide) if (secret !== '') text = text.replaceAll(secret, '[redacted]')
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, maxTextLength)
    .replace(/\p{Cs}$/u, '')
  return line === '' ? null : line
}

/** Foreign text as the database can store it: without NUL, and without halves of characters. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

/** Secrets and their usable parts: a token after its scheme, a key after its prefix. The longest come first. */
export function piecesOf(secrets: readonly string[]): string[] {
  const pieces = secrets.flatMap((secret) => [secret, ...secret.split(/[ _]/)])
  return pieces.filter((piece) => piece.length >= 8).sort((one, other) => other.length - one.length)
}
