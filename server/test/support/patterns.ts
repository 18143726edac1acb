import { segmentsOf } from './segments.ts'
import type { Source } from './source-files.ts'

/** A regular expression of the source, and its location. */
export type Pattern = { where: string; source: string; flags: string }

/** The keyword `pattern` of a schema, written as a string; the schema's library reads it with the flag `u`. */
const keyword = /\bpattern: '((?:[^'\\\n]|\\.)*)'/g

/** Every regular expression written in a file: literals, and the patterns of its schemas. */
export function patternsOf({ path, text }: Source): Pattern[] {
  const at = (index: number) => `${path}:${text.slice(0, index).split('\n').length}`
  const literals = segmentsOf(text)
    .filter(({ kind }) => kind === 'regexp')
    .map(({ start, end }) => {
      const flagsAt = text.lastIndexOf('/', end - 1) + 1
      return { where: at(start), source: text.slice(start + 1, flagsAt - 1), flags: text.slice(flagsAt, end) }
    })
  const keywords = [...text.matchAll(keyword)].map(({ index, 1: written = '' }) => ({
    where: at(index),
    source: written.replaceAll('\\\\', '\\'),
    flags: 'u',
  }))
  return [...literals, ...keywords]
}

/**
 * Whether the form of an expression rules out that it backtracks: it repeats nothing, or it begins at the start of the text and
 * repeats one character or one class of them, once, without an alternative.
 */
export function repeatsAtMostOnce(source: string): boolean {
  const letters = source.replaceAll(/\\(?:u\{[^}]*\}|[pP]\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|.)/gs, 'x')
  const plain = letters.replaceAll(/\[[^\]]*\]/g, 'x').replaceAll(/\(\?(?:[:=!]|<[=!]|<\w+>)/g, '(')
  const repeated = plain.match(/[*+?{]/g) ?? []
  return repeated.length === 0 || (repeated.length === 1 && /^\^[^|]*$/.test(plain) && !/\)[*+?{]/.test(plain))
}
