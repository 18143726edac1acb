import { Problem } from '../../kernel/errors.ts'
import type { DetailedError } from './engine.ts'
import { unnamedAction } from './schema.ts'

/** The place of a fault in a text, as offsets into the string. */
export type Span = { start: number; end: number }

/** A text from the caller, and the field that carried it. */
export type Source = { field: 'policy_text' | 'conditions' | 'approval_mode'; text: string }

const quotedLength = 120
/** The engine repeats names in its messages, however long they are. */
const wordsLength = 400

/**
 * 400 `invalid_policy`: `details` gives the field, line and column (from 1, the column in characters), the offending
 * text and, where there is one, a help.
 */
export function invalidPolicy(
  message: string,
  source: Source,
  at: Span = { start: 0, end: 0 },
  help?: string,
): Problem {
  const before = source.text.slice(0, at.start).split('\n')
  const details = {
    field: source.field,
    line: before.length,
    column: [...(before.at(-1) ?? '')].length + 1,
    text: source.text.slice(at.start, Math.min(at.end, at.start + quotedLength)).toWellFormed(),
    ...(help === undefined ? {} : { help }),
  }
  return new Problem('invalid_policy', message, { details })
}

/** The engine counts bytes of UTF-8; strings count UTF-16 units. */
function unitOffset(text: string, bytes: number): number {
  return Buffer.from(text, 'utf8').subarray(0, Math.max(0, bytes)).toString('utf8').length
}

/** The engine's message without the parts about the frame that Sallyport puts around the statement. */
function plainMessage(message: string): string {
  return message
    .replace(/^failed to parse (policy|template)( with id `[^`]*`)? from (string|JSON): /, '')
    .replace(/^for policy `[^`]*`, /, '')
    .replace(/^policy is impossible: the policy expression evaluates/, 'this rule can never match: it evaluates')
    .replace(` for Action::"${unnamedAction}"`, '')
}

function clipped(words: string): string {
  return words.length <= wordsLength ? words : `${words.slice(0, wordsLength).toWellFormed()}…`
}

function firstError(errors: DetailedError[]): DetailedError | undefined {
  const place = (error: DetailedError) => error.sourceLocations?.[0]?.start ?? Number.MAX_SAFE_INTEGER
  return errors.toSorted((a, b) => place(a) - place(b) || (a.message < b.message ? -1 : 1))[0]
}

/**
 * The engine's errors as one `invalid_policy`: the first by place. `frame` is the text that preceded the caller's text in the
 * engine's input.
 */
export function engineRefused(errors: DetailedError[], source: Source, frame = ''): Problem {
  const error = firstError(errors)
  if (error === undefined) return invalidPolicy('the statement is not valid', source)
  const location = error.sourceLocations?.[0]
  const given = frame + source.text
  const offset = (bytes: number) => clamp(unitOffset(given, bytes) - frame.length, source.text.length)
  const span = location === undefined ? undefined : { start: offset(location.start), end: offset(location.end) }
  const help = error.help ?? location?.label
  return invalidPolicy(clipped(plainMessage(error.message)), source, span, help ? clipped(help) : undefined)
}

/** A warning of the engine, as a sentence. */
export function engineWarning(error: DetailedError): string {
  const message = plainMessage(error.message)
  return clipped(error.help === null ? message : `${message}; ${error.help}`)
}

function clamp(offset: number, length: number): number {
  return Math.min(Math.max(offset, 0), length)
}
