import type { Source } from './source-files.ts'

/** A regular expression of the source, and its location. */
export type Pattern = { where: string; source: string; flags: string }

/**
 * What can come before a regular expression but not before a division: an opening bracket, an operator, a comma, a keyword.
 * The formatter has laid out the source, so no expression spans two lines.
 */
const literal =
  /(?<=(?:[(,=:[!&|?;]|\breturn|=>|^)\s*)\/(?![*/])((?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([a-z]*)/gm
/** The keyword `pattern` of a schema, written as a string; the schema's library reads it with the flag `u`. */
const keyword = /\bpattern: '((?:[^'\\\n]|\\.)*)'/g

/** Every regular expression written in a file: literals, and the patterns of its schemas. */
export function patternsOf({ path, text }: Source): Pattern[] {
  const at = (index: number) => `${path}:${text.slice(0, index).split('\n').length}`
  const literals = [...text.matchAll(literal)].map(({ index, 1: source = '', 2: flags = '' }) => ({
    where: at(index),
    source,
    flags,
  }))
  const keywords = [...text.matchAll(keyword)].map(({ index, 1: written = '' }) => ({
    where: at(index),
    source: written.replaceAll('\\\\', '\\'),
    flags: 'u',
  }))
  return [...literals, ...keywords]
}
