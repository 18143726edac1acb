import { isPlainLine } from '../kernel/one-line-name.ts'

/** A word that every POSIX shell, bash and zsh take as it is. */
const bareWord = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/

/**
 * A command line for a POSIX shell, in which each word stays one word and nothing is expanded. Undefined when a word has control
 * characters or marks that change the text direction: the line would not do what it shows.
 *
 * A quoted word that begins with `-` is still an option of its program: pass user text as `--option=text`, or within a word.
 */
export function shellLine(words: readonly string[]): string | undefined {
  if (!words.every((word) => isPlainLine(word) && word.isWellFormed())) return undefined
  return words.map((word) => (bareWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}
