/**
 * A `.cedar` file: the statements of one policy, with comments between and inside them. The file is split here, before the engine
 * receives any of it. Each statement is then guarded and parsed as exactly one: where this code and the engine would split a file
 * differently, the statement does not parse; it never becomes two rules.
 */
import { readUuid } from '../../kernel/id.ts'
import { statementLimits } from './guard.ts'

/** A range of the file, as offsets into the string. */
type Stretch = { from: number; to: number }

export type FileStatement = {
  /** The stored text: without comments, and without the annotations `@id("<uuid>")` and `@ordinal`. */
  text: string
  /** The rule's id, where the file gives it: `@id("<uuid>")`. */
  id?: string
  /** The author's name for it: any other `@id`, as written between the quotes. It stays in the text. */
  name?: string
  /** `@ordinal("…")`, as written between the quotes. */
  ordinal?: string
  /** Where the statement begins in the file, with its annotations. */
  start: number
  /** The ranges of the file that make up the text, in order. */
  stretches: readonly Stretch[]
}

/** Strings are skipped whole, closed or not; a `;` outside strings ends a statement. */
const filePattern = /(?<string>"(?:[^"\\]|\\.)*"?)|(?<comment>\/\/[^\n\r]*)|(?<end>;)/gsu

/** The statements of a file, in their order; those past `most` are left out. Time grows with the length alone. */
export function splitFile(file: string, most: number): FileStatement[] {
  const statements: FileStatement[] = []
  let stretches: Stretch[] = []
  let from = file.startsWith('\ufeff') ? 1 : 0
  const add = (to: number) => {
    const kept = trimmed(file, stretches.length === 0 ? { from: afterSpace(file, from, to), to } : { from, to })
    if (kept.to > kept.from) stretches.push(kept)
  }
  const finish = () => {
    if (stretches.length > 0) statements.push(readStatement(file, stretches))
    stretches = []
  }
  for (const { groups, index, 0: token } of file.matchAll(filePattern)) {
    if (groups?.string !== undefined) continue
    const isEnd = groups?.end !== undefined
    add(isEnd ? index + 1 : index)
    from = index + token.length
    if (!isEnd) continue
    finish()
    if (statements.length > most) return statements
  }
  add(file.length)
  finish()
  return statements
}

function afterSpace(file: string, from: number, to: number): number {
  let at = from
  while (at < to && isSpace(file, at)) at += 1
  return at
}

/** The range without its trailing white space, which precedes a comment or follows the last statement. */
function trimmed(file: string, { from, to }: Stretch): Stretch {
  let end = to
  while (end > from && isSpace(file, end - 1)) end -= 1
  return { from, to: end }
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at))
}

/** What `@id("<uuid>")` and `@ordinal("…")` may add to the longest statement, with white space around them. */
const headBytes = 1_000

function readStatement(file: string, stretches: readonly Stretch[]): FileStatement {
  const text = textOf(file, stretches)
  const start = stretches[0]?.from ?? 0
  // The guard refuses it, so its annotations need not be read.
  if (text.length > statementLimits.bytes + headBytes) return { text, start, stretches }
  let kept = stretches
  const found: Pick<FileStatement, 'id' | 'name' | 'ordinal'> = {}
  for (const { name, value, start: from, end } of placeAnnotations(text).toReversed()) {
    const id = name === 'id' ? readUuid(value) : undefined
    if (name === 'ordinal') found.ordinal = value
    else if (id !== undefined) found.id = id
    else {
      found.name = value
      continue
    }
    kept = without(kept, from, end)
  }
  return { text: textOf(file, kept), ...found, start, stretches: kept }
}

/** The `@id` and the `@ordinal`. One that occurs twice, or directly follows a word, is left for the engine to refuse. */
function placeAnnotations(text: string): Annotation[] {
  const byName = Map.groupBy(headAnnotations(text), ({ name }) => name)
  return ['id', 'ordinal']
    .flatMap((name) => {
      const [one, ...others] = byName.get(name) ?? []
      return one === undefined || others.length > 0 || /\w/.test(text.charAt(one.start - 1)) ? [] : one
    })
    .sort((a, b) => a.start - b.start)
}

function textOf(file: string, stretches: readonly Stretch[]): string {
  return stretches.map(({ from, to }) => file.slice(from, to)).join('')
}

/** The ranges without the part of their text from `start` to `end`. */
function without(stretches: readonly Stretch[], start: number, end: number): Stretch[] {
  let before = 0
  return stretches.flatMap(({ from, to }) => {
    const cut = { from: clamp(from + start - before, from, to), to: clamp(from + end - before, from, to) }
    before += to - from
    return [
      { from, to: cut.from },
      { from: cut.to, to },
    ].filter((part) => part.to > part.from)
  })
}

function clamp(offset: number, least: number, most: number): number {
  return Math.min(Math.max(offset, least), most)
}

type Annotation = { name: string; value: string; start: number; end: number }

const annotationPattern = /@\s*(?<name>[A-Za-z_]\w*)\s*(?:\(\s*"(?<value>(?:[^"\\]|\\.)*)"\s*\)\s*)?/suy

/** The annotations at the head of a statement, each with the white space after it. */
function headAnnotations(statement: string): Annotation[] {
  const found: Annotation[] = []
  annotationPattern.lastIndex = afterSpace(statement, 0, statement.length)
  for (;;) {
    const start = annotationPattern.lastIndex
    const { name, value = '' } = annotationPattern.exec(statement)?.groups ?? {}
    if (name === undefined) return found
    found.push({ name, value, start, end: annotationPattern.lastIndex })
  }
}

/** The annotations at the head of a stored statement, by name; each value as written between the quotes. */
export function annotationsOf(statement: string): Map<string, string> {
  return new Map(headAnnotations(statement).map(({ name, value }) => [name, value]))
}

/** The statement without its `@id`. */
export function withoutId(statement: string): string {
  const id = headAnnotations(statement).find(({ name }) => name === 'id')
  if (id === undefined) return statement
  const before = statement.slice(0, id.start)
  return before + (/\w$/.test(before) ? ' ' : '') + statement.slice(id.end)
}

/** Line and column (from 1, the column in characters) in the file of a place in a statement's text, given the same way. */
export function placeInFile(
  file: string,
  statement: FileStatement,
  { line, column }: { line: number; column: number },
): { line: number; column: number } {
  const lines = statement.text.split('\n')
  const characters = [...(lines[line - 1] ?? '')].slice(0, column - 1)
  const offset = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0) + characters.join('').length
  const before = file.slice(0, offsetInFile(statement.stretches, offset)).split('\n')
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 }
}

function offsetInFile(stretches: readonly Stretch[], offset: number): number {
  let before = 0
  for (const { from, to } of stretches) {
    if (offset < before + to - from) return from + offset - before
    before += to - from
  }
  return stretches.at(-1)?.to ?? 0
}

/** A text as a string of Cedar. */
export function cedarString(text: string): string {
  const escaped = text.replaceAll(/["\\\p{Cc}\u2028\u2029]/gu, (character) =>
    character === '"' || character === '\\' ? `\\${character}` : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
  return `"${escaped}"`
}
