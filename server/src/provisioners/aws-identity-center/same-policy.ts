import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../kernel/is-object.ts'
import { parseExactly } from './exact-json.ts'

/**
 * Whether two policies say the same, however they are written: white space, the order of names and that of lists make no difference, nor
 * whether a single value is in a list. A text that JSON would lose a part of is no policy.
 */
export function isSamePolicy(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => policyOf(parseExactly(text)))
  return first !== undefined && isDeepStrictEqual(first, second)
}

/** The lists of a statement: a single value is the same as a list of it. */
const lists = ['Action', 'NotAction', 'Resource', 'NotResource']

function policyOf(policy: unknown): unknown {
  if (!isObject(policy)) return undefined
  return { ...policy, Statement: listOf(policy.Statement).map(statementOf) }
}

function statementOf(statement: unknown): unknown {
  if (!isObject(statement)) return statement
  const entries = Object.entries(statement).map(([name, value]) => {
    if (lists.includes(name)) return [name, textsOf(value)]
    return [name, name === 'Condition' ? conditionOf(value) : value]
  })
  return Object.fromEntries(entries) as unknown
}

function conditionOf(condition: unknown): unknown {
  return mapped(condition, (keys) => mapped(keys, textsOf))
}

function mapped(value: unknown, change: (inner: unknown) => unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)])) as unknown
}

/** `true` and `"true"` are the same value of a condition. */
function textsOf(value: unknown): unknown[] {
  const texts = listOf(value).map((one) => (typeof one === 'boolean' ? String(one) : one))
  return [...new Set(texts)].sort()
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value]
}
