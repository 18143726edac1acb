/**
 * The limits of a statement, checked before the engine receives it: one statement past them breaks the engine's instance for every
 * tenant. The numbers are measured, each well under half of what the engine can take.
 */
import type { Expr, PolicyJson } from './engine.ts'
import { invalidPolicy, type Source, type Span } from './fault.ts'

export const statementLimits = {
  /** Bytes of UTF-8 in one statement. */
  bytes: 10_000,
  /** Brackets of all three kinds, one within another. */
  bracketDepth: 32,
  /** Operators and keywords that build expressions. */
  operators: 1_500,
  /** `if` nests without brackets, so it has its own limit. */
  conditionals: 100,
  /** Levels of expression, one within another; a chain of 60 `&&` has 60. */
  expressionDepth: 60,
} as const

/** Longest alternatives first. A word is matched whole, so that `island` does not match `is`; strings are skipped whole. */
const tokenPattern =
  /(?<string>"(?:[^"\\]|\\.)*")|(?<open>".*)|(?<comment>\/\/)|(?<word>[\p{L}_][\p{L}\p{N}_]*)|(?<bracket>[()[\]{}])|(?<operator>&&|\|\||[=!<>]=|[<>+\-*!.])/gsu

const operatorWords = new Set(['in', 'like', 'has', 'is', 'if', 'then', 'else'])

type Tally = { depth: number; operators: number; conditionals: number }

/** Why a statement must not reach the engine, and where the fault is: a place in the text, or a fragment of it. */
type Unsafe = { message: string; help?: string; at?: Span; fragment?: string }

/** Refuses a text that must not reach the engine: 400 `invalid_policy`. INVARIANT: this check comes before any other. */
export function requireSafeText(source: Source): void {
  refuse(unsafeText(source.text), source)
}

/** Refuses a parsed statement that must not be validated or evaluated: 400 `invalid_policy`. */
export function requireSafeStatement(statement: PolicyJson, source: Source): void {
  refuse(unsafeStatement(statement), source)
}

function refuse(unsafe: Unsafe | undefined, source: Source): void {
  if (unsafe === undefined) return
  const { message, help, fragment, at = fragment === undefined ? undefined : spanOf(fragment, source.text) } = unsafe
  throw invalidPolicy(message, source, at, help)
}

function spanOf(fragment: string, text: string): Span | undefined {
  const start = text.indexOf(fragment)
  return start < 0 ? undefined : { start, end: start + fragment.length }
}

function unsafeText(text: string): Unsafe | undefined {
  const bytes = Buffer.byteLength(text, 'utf8')
  if (bytes > statementLimits.bytes)
    return {
      message: `the statement has ${bytes} bytes, more than ${statementLimits.bytes}`,
      help: 'split it into two rules',
    }
  if (!text.isWellFormed())
    return { message: 'the statement contains half a surrogate pair', help: 'send well-formed Unicode' }
  const tally: Tally = { depth: 0, operators: 0, conditionals: 0 }
  for (const token of text.matchAll(tokenPattern)) {
    const unsafe = countToken(token, tally, text)
    if (unsafe !== undefined) return { ...unsafe, at: { start: token.index, end: token.index + token[0].length } }
  }
  return undefined
}

function countToken(token: RegExpExecArray, tally: Tally, text: string): Unsafe | undefined {
  const { string, open, comment, word, bracket } = token.groups as Record<string, string | undefined>
  if (string !== undefined) return undefined
  if (open !== undefined) return { message: 'the string is not closed', help: 'close it with `"`' }
  if (comment !== undefined)
    return {
      message: 'a statement cannot contain comments',
      help: 'move the comment to `notice`, or to the description of the policy',
    }
  if (bracket !== undefined) {
    tally.depth += '([{'.includes(bracket) ? 1 : -1
    return tally.depth > statementLimits.bracketDepth
      ? { message: `brackets nest deeper than ${statementLimits.bracketDepth}`, help: 'split it into two rules' }
      : undefined
  }
  if (word === 'unknown' && /^\s*\(/.test(text.slice(token.index + word.length)))
    return { message: '`unknown` is not allowed in a rule', help: 'compare with a value' }
  if (word !== undefined && !operatorWords.has(word)) return undefined
  tally.operators += 1
  if (word === 'if') tally.conditionals += 1
  if (tally.operators > statementLimits.operators)
    return {
      message: `the statement has more than ${statementLimits.operators} operators`,
      help: 'split it into two rules',
    }
  if (tally.conditionals > statementLimits.conditionals)
    return {
      message: `the statement has more than ${statementLimits.conditionals} \`if\``,
      help: 'split it into two rules',
    }
  return undefined
}

function unsafeStatement({ conditions }: PolicyJson): Unsafe | undefined {
  // The engine joins the clauses to one chain, so each adds a level to all of them.
  const outermost = conditions.length
  const pending = conditions.map((clause) => ({ expression: clause.body as Expr, depth: outermost }))
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { expression, depth } = next
    if (depth + furtherSteps(expression) > statementLimits.expressionDepth)
      return {
        message: `the condition nests deeper than ${statementLimits.expressionDepth} levels`,
        help: 'each link of a chain counts one level: use a set (`[…].contains(…)`), or split it into two rules',
      }
    for (const [operator, operands] of Object.entries(expression) as [string, Expr[] | Operands][]) {
      if (operator === 'Value' || operator === 'Var' || operator === 'Slot') continue
      if (operator === 'unknown') return { message: '`unknown` is not allowed in a rule' }
      // Keys that begin with `__` are the engine's own escapes in JSON; a caller may not send them.
      const reserved = keysOf(operator, operands).find((key) => key.startsWith('__'))
      if (reserved !== undefined)
        return { message: `\`${reserved}\` begins with two underscores, which is reserved`, fragment: reserved }
      for (const child of childrenOf(operands)) pending.push({ expression: child, depth: depth + 1 })
    }
  }
  return undefined
}

/** `has a.b.c` is one expression with a path; for the engine it has as many levels as the path has steps. */
function furtherSteps(expression: Expr): number {
  const { has } = expression as { has?: { attr?: string | string[] } }
  return Array.isArray(has?.attr) ? has.attr.length - 1 : 0
}

/** Operands by name; `attr` is the name or path of an attribute, or a record's key of that name. */
type Operands = Record<string, Expr | string> & { attr?: string | string[] }

/** The keys of a record, or the name or path of an attribute; none where the operands are a list. */
function keysOf(operator: string, operands: Expr[] | Operands): string[] {
  if (Array.isArray(operands)) return []
  return operator === 'Record' ? Object.keys(operands) : [operands.attr ?? []].flat()
}

/** The expressions directly within one. */
function childrenOf(operands: Expr[] | Operands): Expr[] {
  if (Array.isArray(operands)) return operands
  return Object.values(operands).filter(
    (operand): operand is Expr => typeof operand === 'object' && operand !== null && !Array.isArray(operand),
  )
}

/** Where an accepted statement begins, after its annotations. */
export function headOf(policyText: string): number {
  for (const { index, groups } of policyText.matchAll(tokenPattern))
    if (groups?.word === 'permit' || groups?.word === 'forbid') return index
  throw new Error('a statement without an effect was accepted')
}
