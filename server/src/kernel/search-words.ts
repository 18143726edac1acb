/** The words of texts as lists search them: the same as `search_words` of the database, for what is not in a table. */

const [maxWords, maxLength] = [64, 64]

// biome-ignore lint/suspicious/noControlCharactersInRegex: they separate words, as in the database
const separators = /[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+/

/** Each word once, in lower case and without accents. */
export function searchWords(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/[\u0300-\u036f]/g, '')
  // Letter by letter: otherwise the last one of a Greek word depends on what follows.
  const lower = [...plain].map((letter) => letter.toLowerCase()).join('')
  const words = lower.split(separators).map((word) => [...word].slice(0, maxLength).join(''))
  return [...new Set(words.filter((word) => word !== ''))].slice(0, maxWords)
}

/** The beginnings with which none of the words begins. */
export function beginningsWithout(words: readonly string[], beginnings: readonly string[]): string[] {
  return beginnings.filter((beginning) => !words.some((word) => word.startsWith(beginning)))
}
