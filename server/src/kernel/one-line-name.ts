/**
 * Names and labels of one line, as people read them on a screen, in a mail and in the audit log. They contain no line ends, no other control
 * characters and no marks that change the text direction (`\p{Bidi_Control}`): with those, a name could look like another one, or forge the
 * text around it.
 */

/** One line of text. It may be blank. */
const line = /^[^\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$/u

/**
 * One line with a character that one can see. Unseen are spaces, controls, combining marks on nothing, and the letters and
 * symbols without ink: Hangul fillers, blanks of Braille and of hieroglyphs, the null notehead. The classes do not overlap, so
 * that no text makes it slow.
 */
const name =
  /^(?:[^\p{L}\p{N}\p{P}\p{S}\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\u115f\u1160\u2800\u3164\uffa0\u{13441}\u{13442}\u{1d159}])*[^\p{C}\p{M}\p{Zs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0\u{13441}\u{13442}\u{1d159}][^\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$/u

const unseen = /[\p{C}\p{M}\u115f\u1160\u2800\u3164\uffa0\u{13441}\u{13442}\u{1d159}]+/gu
const lineEnds = /[\p{Cc}\u2028\u2029]+/gu
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** The same as patterns of a schema. */
export const linePattern = line.source
export const namePattern = name.source

const without = 'without control characters or marks that change the text direction'

/** What is wrong with another text, as half-sentences. */
export const lineRule = `must be one line, ${without}`
export const nameRule = `must be a name that one can see, on one line, ${without}`

/** Whether a text is displayed as written: one line, no control characters, no marks that change the text direction. */
export function isPlainLine(text: string): boolean {
  return line.test(text)
}

/** Characters without width, except the joiners that emojis and some scripts need. */
const widthless = /[\u200b\u2060\ufeff]/u

export const visibleLineRule = 'must be on one line, without invisible characters'

/** Whether a text is a plain line without characters that take no room: two such texts that look alike are the same. */
export function isVisibleLine(text: string): boolean {
  return isPlainLine(text) && !widthless.test(text)
}

/** Whether a text is a name: a plain line with a character that one can see. */
export function isName(text: string): boolean {
  return name.test(text)
}

/** Whether a text of one or more lines has a character that one can see, by the classes of a name. */
export function isSeen(text: string): boolean {
  return text.replace(unseen, '').trim() !== ''
}

/** A text that nobody can be asked to correct, as a plain line: marks of the direction are left out, the rest becomes spaces. */
export function onOneLine(text: string): string {
  return text.replace(directionMarks, '').replace(lineEnds, ' ').trim()
}

/** A text as compatible letters without accents: what is left of it when nobody looks closely. Spaces stay. */
export function baseLetters(text: string): string {
  return text.normalize('NFKD').replace(unseen, '')
}
