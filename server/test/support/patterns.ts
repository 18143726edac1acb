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
