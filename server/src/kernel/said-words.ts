/** Characters of somebody else's text that are kept. */
export const maxTextLength = 500

/**
 * Somebody else's text as it may be kept and shown: one line, not long, none of our secrets in it. Null where nothing
 * is left, or where it was no text. `hide`: texts that it may not repeat.
 */
export function saidWords(value: unknown, hide: readonly string[]): string | null {
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

/** Secrets, and the parts of them that would do: a token behind its scheme, a key behind its prefix. The longest first. */
export function piecesOf(secrets: readonly string[]): string[] {
  const pieces = secrets.flatMap((secret) => [secret, ...secret.split(/[ _]/)])
  return pieces.filter((piece) => piece.length >= 8).sort((one, other) => other.length - one.length)
}
