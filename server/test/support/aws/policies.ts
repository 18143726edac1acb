import { refuse } from './model.ts'
import { AwsError } from './wire.ts'

type Statement = Record<string, unknown>
type Policy = { Version?: unknown; Statement?: unknown }

/** Checks a policy as IAM does: its length, JSON, a version, and statements of known parts with effect, action and resource. */
export function checkPolicy(text: string): void {
  if (text.replace(/\s/g, '').length > 10_240)
    throw new AwsError('ServiceQuotaExceededException', 'the policy is too long')
  const policy = parsed(text)
  const statements = statementsOf(policy)
  const sids = statements.flatMap(({ Sid }) => (Sid === undefined ? [] : [Sid]))
  if (policy.Version !== '2012-10-17' || policy.Statement === undefined || !statements.every(isWhole))
    refuse('sso', 'Syntax errors in policy.')
  if (!sids.every((sid) => typeof sid === 'string' && /^[A-Za-z0-9]*$/.test(sid)))
    refuse('sso', 'Statement IDs (SID) must be alpha-numeric.')
  if (new Set(sids).size < sids.length) refuse('sso', 'Statement IDs (SID) in a single policy must be unique.')
}

function parsed(text: string): Policy {
  try {
    return JSON.parse(text) as Policy
  } catch {
    return refuse('sso', 'The policy is not in the valid JSON format.')
  }
}

const statementsOf = ({ Statement }: Policy): Statement[] => [Statement ?? []].flat() as Statement[]

function isWhole(one: Statement): boolean {
  return (
    isObject(one) &&
    (one.Effect === 'Allow' || one.Effect === 'Deny') &&
    (one.Action !== undefined) !== (one.NotAction !== undefined) &&
    (one.Resource !== undefined) !== (one.NotResource !== undefined) &&
    Object.keys(one).every((name) => statementParts.has(name)) &&
    (one.Condition === undefined || isCondition(one.Condition))
  )
}
const statementParts = new Set(['Sid', 'Effect', 'Action', 'NotAction', 'Resource', 'NotResource', 'Condition'])

/** Known operators of keys with a prefix, and values in the form of the operator. */
function isCondition(condition: unknown): boolean {
  if (!isObject(condition)) return false
  return Object.entries(condition).every(([operator, keys]) => {
    const known = operators[operator.replace(/IfExists$/, '')]
    if (known === undefined || !isObject(keys)) return false
    return Object.entries(keys).every(([key, value]) => /^[\w-]+:.+/.test(key) && textsOf(value).every(known.form))
  })
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const textsOf = (value: unknown): string[] => [value].flat().map(String)

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/
const isMoment = (text: string): boolean => moment.test(text) && !Number.isNaN(Date.parse(text))
const isLike = (pattern: string, text: string): boolean =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  ).test(text)

/** Each of the six parts of an ARN is compared by itself; the last contains the rest. */
function isLikeArn(pattern: string, arn: string): boolean {
  const partsOf = (text: string) => [...text.split(':', 5), text.split(':').slice(5).join(':')]
  const parts = partsOf(arn)
  return partsOf(pattern).every((part, place) => isLike(part, parts[place] ?? ''))
}

type Operator = { form(value: string): boolean; holds(given: string, value: string): boolean }
const any = (): boolean => true
const operators: Readonly<Record<string, Operator>> = {
  StringEquals: { form: any, holds: (given, value) => given === value },
  StringLike: { form: any, holds: (given, value) => isLike(value, given) },
  ArnLike: { form: any, holds: (given, value) => isLikeArn(value, given) },
  Bool: { form: (value) => /^(?:true|false)$/.test(value), holds: (given, value) => given === value },
  DateLessThan: { form: isMoment, holds: (given, value) => Date.parse(given) < Date.parse(value) },
  DateGreaterThan: { form: isMoment, holds: (given, value) => Date.parse(given) > Date.parse(value) },
}

/** What a request says about itself; names in lower case, because those of condition keys are not case-sensitive. */
export type RequestContext = Readonly<Record<string, string>>

/** What a policy says to an action on a resource: an explicit deny goes before any allow. */
export function evaluatePolicy(
  text: string,
  { action, resource, context }: { action: string; resource: string; context: RequestContext },
): 'allow' | 'deny' | 'nothing' {
  const matching = (text === '' ? [] : statementsOf(parsed(text))).filter(
    (one) =>
      names(one, 'Action', (pattern) => isLike(pattern.toLowerCase(), action.toLowerCase())) &&
      names(one, 'Resource', (pattern) => isLike(pattern, resource)) &&
      conditionHolds(one.Condition, context),
  )
  if (matching.some(({ Effect }) => Effect === 'Deny')) return 'deny'
  return matching.length > 0 ? 'allow' : 'nothing'
}

function names(one: Statement, part: 'Action' | 'Resource', test: (pattern: string) => boolean): boolean {
  const exclusion = one[`Not${part}`]
  return exclusion === undefined ? textsOf(one[part]).some(test) : !textsOf(exclusion).some(test)
}

/** A condition on a key that the request does not have does not hold. */
function conditionHolds(condition: unknown, context: RequestContext): boolean {
  return Object.entries((condition ?? {}) as Record<string, Record<string, unknown>>).every(([name, keys]) =>
    Object.entries(keys).every(([key, value]) => {
      const given = context[key.toLowerCase()]
      if (given === undefined) return name.endsWith('IfExists')
      const operator = operators[name.replace(/IfExists$/, '')]
      return textsOf(value).some((one) => operator?.holds(given, one))
    }),
  )
}

/** A policy that says the same: names in the other order, white space, a list of one as its value, a value as a list of one. */
export function inAnotherForm(text: string): string {
  return text === '' ? text : JSON.stringify(turned(parsed(text)), null, 2)
}

function turned(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((one) => turned(one))
    return items.length === 1 && name !== '' ? items[0] : items
  }
  if (isObject(value)) {
    const entries = Object.entries(value).reverse()
    return Object.fromEntries(entries.map(([key, inner]) => [key, turned(inner, key)]))
  }
  // The values of conditions: their keys have a prefix.
  return name.includes(':') ? [value] : value
}
