/**
 * A `.cedar` file: the statements of one policy, with comments between and inside them. It is taken apart here, before the
 * engine sees any of it, and each statement is then guarded and parsed as exactly one: a place where this and the engine
 * would part a file differently is a statement that does not parse, never two rules.
 */
import { readUuid } from '../../kernel/id.ts'

/** A stretch of the file, as offsets into the string. */
type Stretch = { from: number; to: number }

export type FileStatement = {
  /** As it is stored: without comments, and without the annotations that say where the rule belongs. */
  text: string
  /** Of the rule, where the file says it: `@id("<uuid>")`. */
  id?: string
  /** What the author calls it: any other `@id`, as it is written between the quotes. It stays in the text. */
  name?: string
  /** `@ordinal("…")`, as it is written between the quotes. */
  ordinal?: string
  /** Where it begins in the file, with its annotations. */
  start: number
  /** Where in the file the text comes from: put together, it is the text. */
  stretches: readonly Stretch[]
}

/** Strings are skipped whole, closed or not; `;` ends a statement wherever it is not in one. */
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

/** Without the white space at its end: what stands before a comment or after the last statement. */
function trimmed(file: string, { from, to }: Stretch): Stretch {
  let end = to
  while (end > from && isSpace(file, end - 1)) end -= 1
  return { from, to: end }
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at))
}

function readStatement(file: string, stretches: readonly Stretch[]): FileStatement {
  let kept = stretches
  const found: Pick<FileStatement, 'id' | 'name' | 'ordinal'> = {}
  const text = textOf(file, stretches)
  const annotations = headAnnotations(text)
  for (const { name, value, start, end } of annotations.toReversed()) {
    if (!isPlain(name, start, annotations, text)) continue
    const id = name === 'id' ? readUuid(value) : undefined
    if (name === 'ordinal') found.ordinal = value
    else if (id !== undefined) found.id = id
    else {
      found.name = value
      continue
    }
    kept = without(kept, start, end)
  }
  return { text: textOf(file, kept), ...found, start: stretches[0]?.from ?? 0, stretches: kept }
}

/** What is there twice, or grown together with the word before it, is left for the engine to judge. */
function isPlain(name: string, start: number, annotations: readonly Annotation[], text: string): boolean {
  if (name !== 'id' && name !== 'ordinal') return false
  return annotations.filter((one) => one.name === name).length === 1 && !/\w/.test(text.charAt(start - 1))
}

function textOf(file: string, stretches: readonly Stretch[]): string {
  return stretches.map(({ from, to }) => file.slice(from, to)).join('')
}

/** The stretches less the part of their text from `start` to `end`. */
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

/** The annotations that a statement begins with, each with the white space behind it. */
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

/** The annotations at the head of a stored statement, by their names; the value as it is written between the quotes. */
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
