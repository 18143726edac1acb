import { isName, onOneLine } from '../kernel/one-line-name.ts'

/** Characters without width, except the joiners that emojis and some scripts need. */
const widthless = /[\u200b\u2060\ufeff]/gu

/** A text of a directory as lists show it: on one line, at most so long. Null where nobody would see one. */
export function shownText(text: string | null, maxLength: number): string | null {
  if (text === null) return null
  const line = onOneLine(text.normalize('NFC')).replace(widthless, '').trim()
  const cut = [...line].slice(0, maxLength).join('').trim()
  return isName(cut) ? cut : null
}
