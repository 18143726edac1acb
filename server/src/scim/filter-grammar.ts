/**
 * The grammar of filters (RFC 7644, figure 1). It knows no attribute. It reads each character once: a filter comes from outside, and no
 * text may make it slow.
 */
import { ScimProblem } from '../http/scim-problem.ts'

export const comparisons = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type Comparison = (typeof comparisons)[number]

export type ParsedComparison =
  | { op: Comparison; path: string; value: string | number | boolean | null }
  | { op: 'pr'; path: string }

/** What a filter says, with the paths of attributes as they were written. */
export type ParsedFilter =
  | ParsedComparison
  | { op: 'and'; filters: ParsedFilter[] }
  | { op: 'or'; filters: ParsedFilter[] }
  | { op: 'not'; filter: ParsedFilter }
  /** `path[filter]`: the filter holds for one value of a list. */
  | { op: 'of'; path: string; filter: ParsedFilter }

export const maxFilterLength = 2_000
/** Of parentheses, brackets and negations in each other. */
const maxDepth = 50

/** @throws ScimProblem 400 `invalidFilter` */
export function parseFilter(text: string): ParsedFilter {
  if (text.length > maxFilterLength) throw invalidFilter(`the filter is longer than ${maxFilterLength} characters`)
  const reader: Reader = { tokens: tokensOf(text), at: 0, depth: 0 }
  const filter = readOr(reader)
  if (reader.at < reader.tokens.length) throw malformed()
  return filter
}

export const invalidFilter = (message: string) => new ScimProblem(400, message, 'invalidFilter')
const malformed = () => invalidFilter('the filter is not one of RFC 7644, such as `userName eq "ada@example.com"`')

/** `(`, `)`, `[`, `]`, a word, or a text in its quotes. */
type Reader = { readonly tokens: readonly string[]; at: number; depth: number }

/** Sticky, and each alternative begins with another character. */
const token = /[()[\]]|"(?:[^"\\]|\\.)*"|[^\s()[\]"]+/sy

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  const space = /\s*/y
  for (let at = 0; ; at = token.lastIndex) {
    space.lastIndex = at
    space.test(text)
    if (space.lastIndex === text.length) return tokens
    token.lastIndex = space.lastIndex
    const [found] = token.exec(text) ?? []
    if (found === undefined) throw malformed()
    tokens.push(found)
  }
}

function next(reader: Reader): string {
  const found = reader.tokens[reader.at]
  if (found === undefined) throw malformed()
  reader.at += 1
  return found
}

function takes(reader: Reader, word: string): boolean {
  if (reader.tokens[reader.at]?.toLowerCase() !== word) return false
  reader.at += 1
  return true
}

const readOr = (reader: Reader): ParsedFilter => readJoined(reader, 'or', readAnd)
const readAnd = (reader: Reader): ParsedFilter => readJoined(reader, 'and', readTerm)

function readJoined(reader: Reader, op: 'and' | 'or', read: (reader: Reader) => ParsedFilter): ParsedFilter {
  const first = read(reader)
  const others: ParsedFilter[] = []
  while (takes(reader, op)) others.push(read(reader))
  return others.length === 0 ? first : { op, filters: [first, ...others] }
}

function readTerm(reader: Reader): ParsedFilter {
  if (takes(reader, 'not')) return { op: 'not', filter: deeper(reader, readTerm) }
  if (takes(reader, '(')) return within(reader, ')')
  const path = next(reader)
  if (!isPath(path)) throw malformed()
  if (!takes(reader, '[')) return readComparison(reader, path)
  const filter = within(reader, ']')
  const sub = reader.tokens[reader.at]
  if (!sub?.startsWith('.')) return { op: 'of', path, filter }
  // `emails[type eq "work"].value eq "x"`: both conditions are about one value.
  reader.at += 1
  return { op: 'of', path, filter: { op: 'and', filters: [filter, readComparison(reader, sub.slice(1))] } }
}

function deeper<T>(reader: Reader, read: (reader: Reader) => T): T {
  reader.depth += 1
  if (reader.depth > maxDepth) throw invalidFilter(`the filter is nested deeper than ${maxDepth} levels`)
  const result = read(reader)
  reader.depth -= 1
  return result
}

function within(reader: Reader, end: ')' | ']'): ParsedFilter {
  const filter = deeper(reader, readOr)
  if (!takes(reader, end)) throw malformed()
  return filter
}

const isPath = (word: string) => /^[$\w]/.test(word)

function readComparison(reader: Reader, path: string): ParsedFilter {
  const op = next(reader).toLowerCase()
  if (op === 'pr') return { op, path }
  const comparison = comparisons.find((one) => one === op)
  if (comparison === undefined) throw malformed()
  return { op: comparison, path, value: readValue(next(reader)) }
}

/** A value is one of JSON. Entra ID writes `True`. */
function readValue(written: string): string | number | boolean | null {
  const isText = written.startsWith('"')
  let value: unknown
  try {
    value = JSON.parse(isText ? written : written.toLowerCase())
  } catch {
    throw malformed()
  }
  if (typeof value === 'object' && value !== null) throw malformed()
  if (typeof value !== 'string') return value as number | boolean | null
  if (value.includes('\0') || !value.isWellFormed()) {
    throw invalidFilter('the filter compares with a text that no attribute can hold: NUL, or half a character')
  }
  return value
}
