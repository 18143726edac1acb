/**
 * The limits that a statement must keep before the engine is called with it: one statement past them breaks the engine's
 * instance for every tenant. The numbers are measured, each well under half of what the engine bears.
 */
import type { Expr, PolicyJson } from './engine.ts'
import { invalidPolicy, type Source } from './fault.ts'

export const statementLimits = {
  /** Bytes of UTF-8 in one statement. */
  bytes: 10_000,
  /** Brackets of all three kinds, one within another. */
  bracketDepth: 32,
  /** Operators and keywords that build expressions. */
  operators: 1_500,
  /** `if` nests without brackets, so it has a limit of its own. */
  conditionals: 100,
  /** Levels of expression, one within another; a chain of 60 `&&` has 60. */
  expressionDepth: 60,
} as const

/** Longest alternatives first. A word is matched whole, so that `island` is no `is`; strings are skipped whole. */
const tokenPattern =
  /(?<string>"(?:[^"\\]|\\.)*")|(?<open>".*)|(?<comment>\/\/)|(?<word>[\p{L}_][\p{L}\p{N}_]*)|(?<bracket>[()[\]{}])|(?<operator>&&|\|\||[=!<>]=|[<>+\-*!.])/gsu

const operatorWords = new Set(['in', 'like', 'has', 'is', 'if', 'then', 'else'])

type Tally = { depth: number; operators: number; conditionals: number }

/** Refuses a text that the engine must not be given: 400 `invalid_policy`. Nothing else may look at it before. */
export function requireSafeText(source: Source): void {
  const { text } = source
  const bytes = Buffer.byteLength(text, 'utf8')
  if (bytes > statementLimits.bytes)
    throw invalidPolicy(
      `the statement has ${bytes} bytes, more than ${statementLimits.bytes}`,
      source,
      undefined,
      'make two rules of it',
    )
  if (!text.isWellFormed())
    throw invalidPolicy('the statement holds half a surrogate pair', source, undefined, 'send well-formed Unicode')
  const tally: Tally = { depth: 0, operators: 0, conditionals: 0 }
  for (const token of text.matchAll(tokenPattern)) countToken(token, tally, source)
}

function countToken(token: RegExpExecArray, tally: Tally, source: Source): void {
  const { string, open, comment, word, bracket } = token.groups as Record<string, string | undefined>
  if (string !== undefined) return
  const refuse = (message: string, help: string) =>
    invalidPolicy(message, source, { start: token.index, end: token.index + token[0].length }, help)
  if (open !== undefined) throw refuse('the string is not closed', 'close it with `"`')
  if (comment !== undefined)
    throw refuse('a statement carries no comments', 'say it in `notice`, or in the description of the policy')
  if (bracket !== undefined) {
    tally.depth += '([{'.includes(bracket) ? 1 : -1
    if (tally.depth > statementLimits.bracketDepth)
      throw refuse(`brackets nest deeper than ${statementLimits.bracketDepth}`, 'make two rules of it')
    return
  }
  if (word === 'unknown' && /^\s*\(/.test(source.text.slice(token.index + word.length)))
    throw refuse('`unknown` has no place in a rule', 'compare with a value')
  if (word !== undefined && !operatorWords.has(word)) return
  tally.operators += 1
  if (word === 'if') tally.conditionals += 1
  if (tally.operators > statementLimits.operators)
    throw refuse(`the statement has more than ${statementLimits.operators} operators`, 'make two rules of it')
  if (tally.conditionals > statementLimits.conditionals)
    throw refuse(`the statement has more than ${statementLimits.conditionals} \`if\``, 'make two rules of it')
}

/** Where a statement that was accepted begins, behind its annotations. */
export function headOf(policyText: string): number {
  for (const { index, groups } of policyText.matchAll(tokenPattern))
    if (groups?.word === 'permit' || groups?.word === 'forbid') return index
  throw new Error('a statement without an effect was accepted')
}

/** Refuses a parsed statement that must not be validated or evaluated: 400 `invalid_policy`. */
export function requireSafeStatement(statement: PolicyJson, source: Source): void {
  // The engine joins the clauses to one chain, so each adds a level to all of them.
  const outermost = statement.conditions.length
  const pending = statement.conditions.map((clause) => ({ expression: clause.body as Expr, depth: outermost }))
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { expression, depth } = next
    if (depth + furtherSteps(expression) > statementLimits.expressionDepth)
      throw invalidPolicy(
        `the condition nests deeper than ${statementLimits.expressionDepth} levels`,
        source,
        undefined,
        'a chain counts one level a link: use a set (`[…].contains(…)`), or make two rules of it',
      )
    for (const child of childrenOf(expression, source)) pending.push({ expression: child, depth: depth + 1 })
  }
}

/** `has a.b.c` is one expression with a path, and to the engine as many levels as the path has steps. */
function furtherSteps(expression: Expr): number {
  const { has } = expression as { has?: { attr?: string | string[] } }
  return Array.isArray(has?.attr) ? has.attr.length - 1 : 0
}

/** Operands by name; `attr` is the name or path of an attribute, or a key of a record that is called so. */
type Operands = Record<string, Expr | string> & { attr?: string | string[] }

/** The expressions directly within one; on the way, what no rule may hold. */
function childrenOf(expression: Expr, source: Source): Expr[] {
  const children: Expr[] = []
  for (const [operator, operands] of Object.entries(expression) as [string, Expr[] | Operands][]) {
    if (operator === 'Value' || operator === 'Var' || operator === 'Slot') continue
    if (operator === 'unknown') throw invalidPolicy('`unknown` has no place in a rule', source)
    if (Array.isArray(operands)) {
      children.push(...operands)
      continue
    }
    const keys = operator === 'Record' ? Object.keys(operands) : [operands.attr ?? []].flat()
    requirePlainKeys(keys, source)
    for (const operand of Object.values(operands))
      if (typeof operand === 'object' && operand !== null && !Array.isArray(operand)) children.push(operand)
  }
  return children
}

/** Keys beginning `__` are the engine's own escapes in JSON; none may come from outside. */
function requirePlainKeys(keys: string[], source: Source): void {
  const reserved = keys.find((key) => key.startsWith('__'))
  if (reserved !== undefined)
    throw invalidPolicy(
      `\`${reserved}\` begins with two underscores, which is reserved`,
      source,
      spanOf(reserved, source),
    )
}

function spanOf(fragment: string, source: Source): { start: number; end: number } | undefined {
  const start = source.text.indexOf(fragment)
  return start < 0 ? undefined : { start, end: start + fragment.length }
}
