const longestWords = 500

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
    .slice(0, longestWords)
    .replace(/\p{Cs}$/u, '')
  return line === '' ? null : line
}
