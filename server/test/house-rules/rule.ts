import type { Segment } from '../support/segments.ts'
import { type Import, importsOf, linesWith, type Source } from '../support/source-files.ts'

/** One violation of a rule: its line and a description. */
export type Finding = { line: number; what: string }

/** A house rule: the sentence that a violation prints, and a search for violations in one file, given all files. */
export type Rule = { sentence: string; find(source: Source, all: ReadonlyMap<string, Source>): Finding[] }

/** Files and folders that a rule exempts, each with the reason. */
export type Exceptions = Readonly<Record<string, string>>

export function isExempt(exceptions: Exceptions, { path }: Source): boolean {
  return Object.keys(exceptions).some((place) => path.startsWith(place))
}

/** The lines of production code where the pattern matches: outside the exempt places and segments of the ignored kinds. */
export function outside(
  exceptions: Exceptions,
  source: Source,
  pattern: RegExp,
  what: string,
  ignored?: readonly Segment['kind'][],
): Finding[] {
  if (isExempt(exceptions, source) || !isProduction(source)) return []
  return linesWith(source, pattern, ignored).map((line) => ({ line, what }))
}

/** The rules apply to production code; tests may import anything. */
export function isProduction({ path }: Source): boolean {
  return path.startsWith('server/src/') && !path.endsWith('.test.ts')
}

/** The imports of a file of production code. */
export function inProduction(source: Source): Import[] {
  return isProduction(source) ? importsOf(source) : []
}
