/**
 * Any other condition or scope, in words that follow "permits this": "where the resource’s tag `env` is "dev"". Only for requesters
 * with `policies:read`.
 */
import { readsGuarded } from '../cedar/conjunct.ts'
import type { Clause, Expr } from '../cedar/engine.ts'
import { attributeOf, entitiesIn, formOf, isVariable } from '../cedar/expression.ts'
import type { Principal, Resource } from '../cedar/question.ts'
import { entityKey } from '../cedar/reading.ts'
import { approveAction } from '../cedar/schema.ts'
import type { ActionScope, EntityScope } from '../cedar/scope.ts'
import { either, type WantedWords } from './circumstance-words.ts'
import { comparedFact, factWords } from './fact-words.ts'
import type { Side } from './near-rule.ts'

/** The question's parts, whether the resource's data may be shown, and the words for the groups, roles and people that rules name. */
export type Known = {
  principal: Principal
  action: string
  resource: Resource
  mayReadAccounts: boolean
  /** By `entityKey`; what has no words here is shown by its id. */
  people: ReadonlyMap<string, string>
}

export type ConditionWords = WantedWords & { kind: 'tag' | 'name' | Side }

const longest = 200

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text
}

/** The words for a part of a condition; undefined where only its code can be shown. */
export function conditionWords({ kind, body }: Clause, known: Known): ConditionWords | undefined {
  return wordsWhere(body, kind === 'when', known)
}

function wordsWhere(body: Expr, wanted: boolean, known: Known): ConditionWords | undefined {
  const { operator, operands } = formOf(body)
  const { left, right, arg } = operands
  if (operator === '!' && arg !== undefined) return wordsWhere(arg, !wanted, known)
  if (operator === '&&' && left !== undefined && right !== undefined) return guarded(left, right, wanted, known)
  return (
    tagThere(body, wanted, known) ??
    factWords(body, wanted, known) ??
    valueWords(body, wanted, known) ??
    placeWords(body, wanted, known)
  )
}

/** A condition that tests whether a tag exists or a fact is known, and then its value. */
function guarded(guard: Expr, body: Expr, wanted: boolean, known: Known): ConditionWords | undefined {
  return readsGuarded(body, guard) ? wordsWhere(body, wanted, known) : undefined
}

function tagThere(body: Expr, wanted: boolean, { resource, mayReadAccounts }: Known): ConditionWords | undefined {
  const { operator, operands } = formOf(body)
  const tag = operator === 'hasTag' && isVariable(operands.left, 'resource') ? textOf(operands.right) : undefined
  if (tag === undefined) return undefined
  const there = Object.hasOwn(resource.tags, tag)
  return {
    kind: 'tag',
    wanted: `where the resource has ${wanted ? 'a' : 'no'} tag \`${tag}\``,
    given: mayReadAccounts ? (there ? 'it has one' : 'it has none') : notSo(resource),
  }
}

/** Of a resource in an unknown account, the data is that of one kind of account in which it may lie. */
function notSo({ as_if }: Resource): string {
  return as_if === undefined ? 'that is not so' : 'that is not so in every account where it may be'
}

type Valued = {
  kind: ConditionWords['kind']
  name: string
  value: unknown
  isShown: boolean
  isVerified?: boolean
  /** What is said where there is no value; absent: that it has none. */
  absent?: string
}

/** A string or boolean attribute of the resource or the person that a rule compares. */
function valuedBy(expression: Expr, { principal, resource, mayReadAccounts }: Known): Valued | undefined {
  const { operator, operands } = formOf(expression)
  if (operator === 'getTag' && isVariable(operands.left, 'resource')) {
    const tag = textOf(operands.right)
    if (tag === undefined) return undefined
    const value = Object.hasOwn(resource.tags, tag) ? resource.tags[tag] : undefined
    return { kind: 'tag', name: `the resource’s tag \`${tag}\``, value, isShown: mayReadAccounts }
  }
  if (attributeOf(expression, 'resource') === 'name')
    return { kind: 'name', name: 'the resource’s name', value: resource.name, isShown: mayReadAccounts }
  const attribute = attributeOf(expression, 'principal')
  const fact = comparedFact(attribute, principal)
  if (fact !== undefined) return fact
  if (attribute === undefined || attribute === 'scopes' || !Object.hasOwn(principal, attribute)) return undefined
  return {
    kind: 'principal',
    name: `your \`${attribute}\``,
    value: principal[attribute as keyof Principal],
    isShown: true,
    isVerified: attribute === 'email_verified',
  }
}

function valueWords(body: Expr, wanted: boolean, known: Known): ConditionWords | undefined {
  const compared = comparison(body, known)
  if (compared === undefined) return undefined
  const { valued, like, of } = compared
  const { kind, name, value, isShown, isVerified, absent = 'it has none' } = valued
  if (isVerified && of.length === 1) return { kind, ...verifiedWords(of[0] === wanted) }
  const is = `${like ? (wanted ? 'is like' : 'is not like') : wanted ? 'is' : 'is not'} ${either(of.map(quoted))}`
  return {
    kind,
    wanted: `where ${name} ${is}`,
    given: !isShown ? notSo(known.resource) : value === undefined ? absent : `it is ${quoted(value)}`,
  }
}

/** The name of the attribute says less to people than its meaning. */
function verifiedWords(wanted: boolean): WantedWords {
  return wanted
    ? { wanted: 'to users whose e-mail address is verified', given: 'yours is not' }
    : { wanted: 'to users whose e-mail address is not verified', given: 'yours is' }
}

type Comparison = { valued: Valued; like: boolean; of: unknown[] }

function comparison(body: Expr, known: Known): Comparison | undefined {
  const bare = valuedBy(body, known)
  if (bare !== undefined) return typeof bare.value === 'boolean' ? { valued: bare, like: false, of: [true] } : undefined
  const { operator, operands } = formOf(body)
  const { left, right } = operands
  if (left === undefined) return undefined
  if (operator === 'like') {
    const valued = valuedBy(left, known)
    const text = operands.pattern
      ?.map((piece) => (piece === 'Wildcard' ? '*' : piece.Literal.replaceAll('*', '\\*')))
      .join('')
    return valued && text !== undefined ? { valued, like: true, of: [text] } : undefined
  }
  if (right === undefined) return undefined
  const set = formOf(left)
  if (operator === 'contains' && set.operator === 'Set') {
    const valued = valuedBy(right, known)
    const of = set.row.map(literalOf)
    return valued && of.every((one) => one !== undefined) ? { valued, like: false, of } : undefined
  }
  if (operator !== '==') return undefined
  const [valued, value] = [valuedBy(left, known) ?? valuedBy(right, known), literalOf(right) ?? literalOf(left)]
  return valued && value !== undefined ? { valued, like: false, of: [value] } : undefined
}

/** A condition on the identity of an entity, or on its parents. */
function placeWords(body: Expr, wanted: boolean, known: Known): ConditionWords | undefined {
  const { operator, operands } = formOf(body)
  const { left, right } = operands
  if (left === undefined) return undefined
  if (operator === 'contains' && attributeOf(left, 'principal') === 'scopes') return scopeHeld(right, wanted)
  // A negated condition is shown as code: "everywhere but in" is easily misread.
  if (!wanted) return undefined
  if (operator === 'is' && isVariable(left, 'resource')) {
    const { entity_type: type, in: group } = operands
    return type === undefined || group !== undefined ? undefined : scopeWords('resource', { scope: 'is', type }, known)
  }
  const entities = right && entitiesIn(right)
  const scope = operator === '==' ? 'eq' : operator === 'in' ? 'in' : undefined
  if (scope === undefined || entities === undefined) return undefined
  if (isVariable(left, 'action')) return actionWords({ ids: entities.map(({ id }) => id) }, known)
  const side = isVariable(left, 'principal') ? 'principal' : isVariable(left, 'resource') ? 'resource' : undefined
  const scopes = entities.map((entity): EntityScope => ({ scope, ...entity }))
  return side && sideWords(side, scopes, known)
}

function scopeHeld(expression: Expr | undefined, wanted: boolean): ConditionWords | undefined {
  const scope = textOf(expression)
  if (scope === undefined) return undefined
  const holder = `to users who ${wanted ? 'hold' : 'do not hold'} the scope \`${scope}\``
  return { kind: 'principal', wanted: holder, given: `you ${wanted ? 'do not' : 'do'}` }
}

/** The words for what a scope requires of the person or the resource. */
export function scopeWords(side: 'principal' | 'resource', scope: EntityScope, known: Known): ConditionWords {
  return sideWords(side, [scope], known)
}

/** The actions of a scope or a set, without `approve`, which cannot be requested; undefined where it is the only one. */
export function actionWords({ ids: all }: Pick<ActionScope, 'ids'>, { action }: Known): ConditionWords | undefined {
  const ids = all.filter((id) => id !== approveAction)
  if (ids.length === 0) return undefined
  const named = ids.slice(0, maxNamed).map((id) => `\`${id}\``)
  const more = ids.length > maxNamed ? [`${ids.length - maxNamed} more`] : []
  return {
    kind: 'action',
    wanted: `for the action ${either([...named, ...more])}`,
    given: `you requested \`${action}\``,
  }
}

const maxNamed = 5

function sideWords(side: 'principal' | 'resource', scopes: readonly EntityScope[], known: Known): ConditionWords {
  const named = scopes
    .slice(0, maxNamed)
    .map((scope) => (side === 'principal' ? personWords(scope, known.people) : whereWords(scope)))
  const more = scopes.length > maxNamed ? [`${scopes.length - maxNamed} more`] : []
  const { type, id } = known.resource
  return {
    kind: side,
    wanted: either([...named, ...more]),
    given: side === 'principal' ? 'you are not' : `you requested ${type} \`${id}\``,
  }
}

const memberships: Readonly<Record<string, string>> = {
  Group: 'members of the group',
  Role: 'holders of the role',
  User: 'the user',
}

function personWords(scope: EntityScope, people: Known['people']): string {
  if (scope.scope === 'any') return 'to everyone'
  const entity = 'group' in scope ? scope.group : 'id' in scope ? scope : undefined
  if (entity === undefined) return `to every ${scope.type}`
  const { type, id } = entity
  return `to ${people.get(entityKey({ type, id })) ?? `${memberships[type] ?? type} \`${id}\``}`
}

function whereWords(scope: EntityScope): string {
  if (scope.scope === 'any') return 'on everything'
  if (scope.scope === 'is') return `on each ${scope.type}`
  if (scope.scope === 'is_in') return `on each ${scope.type} in ${scope.group.type} \`${scope.group.id}\``
  return `${scope.scope === 'eq' ? 'on' : 'in'} ${scope.type} \`${scope.id}\``
}

function literalOf(expression: Expr | undefined): unknown {
  const value = expression !== undefined && 'Value' in expression ? (expression.Value as unknown) : undefined
  return typeof value === 'string' || typeof value === 'boolean' ? value : undefined
}

function textOf(expression: Expr | undefined): string | undefined {
  const value = literalOf(expression)
  return typeof value === 'string' ? value : undefined
}
