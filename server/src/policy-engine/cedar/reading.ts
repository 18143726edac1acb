/**
 * What a statement reads of a tenant's entities beyond the question's own: the entities that it names itself (literals), and that by
 * which it tells accounts apart; and whether it reads somebody's manager. Read from the engine's JSON, so that spelling makes no difference.
 */
import type { Expr, PolicyJson } from './engine.ts'
import { attributeOf, entityOf, formOf, isVariable, type Operands } from './expression.ts'
import { askedTypes } from './schema.ts'
import { scopeFromEngine } from './scope.ts'

export type EntityReference = { type: string; id: string }

/** By what rules tell accounts apart: accounts that are equal in all of it get equal answers. */
export type AccountTraits = {
  /** The account numbers that rules name. */
  account_ids: readonly string[]
  /** The organizational units that rules name. */
  unit_ids: readonly string[]
  /** The keys of the tags that rules read; `all` where a rule computes a key. */
  tags: readonly string[] | 'all'
}

export type Reading = {
  /** The entities whose attributes, tags or ancestors the conditions may read, each once. */
  literals: readonly EntityReference[]
  traits: AccountTraits
  /** A condition may read the scopes of a person. */
  reads_scopes: boolean
}

/** What one statement reads. */
export type StatementReading = Reading & {
  /** The databases that it names. */
  database_ids: readonly string[]
  /** It may read attributes or ancestors of somebody's manager, of whom a question has only the identity. */
  reads_managers: boolean
  /** It may read facts (department, title, manager) of others than `principal` and `resource.requester`. */
  reads_others_facts: boolean
  /** The ids of users, groups and roles that it names. */
  people_ids: readonly string[]
  /** The names of the attributes that it may read, of whatever. */
  attributes: readonly string[]
}

/** A rule set may name and read at most this many entities: each of them is part of every question. */
export const maxLiterals = 50

/** The types of entities that have attributes, tags or ancestors. A group or a role has none. */
const readableTypes: readonly string[] = ['User', ...askedTypes, 'access_request']

/** `type::"id"`, as Cedar writes it. */
export function entityKey({ type, id }: EntityReference): string {
  return `${type}::${JSON.stringify(id)}`
}

/** What a statement reads. Every node is visited once. */
export function readingOf(statement: PolicyJson): StatementReading {
  const { principal, resource } = scopeFromEngine(statement)
  const found: Found = {
    read: new Map(),
    named: new Map(),
    tags: new Set(),
    computesTags: false,
    attributes: new Set(),
    ofManagers: false,
    ofOthers: false,
  }
  for (const scope of [principal, resource]) {
    if (scope.scope === 'eq' || scope.scope === 'in') noteNamed(found, scope)
    if (scope.scope === 'is_in') noteNamed(found, scope.group)
  }
  for (const { body } of statement.conditions) visit(body, found)
  const idsOf = (type: string) =>
    [...found.named.values()].flatMap((one) => (one.type === type && !one.id.includes('\0') ? one.id : []))
  return {
    literals: [...found.read.values()],
    traits: {
      account_ids: idsOf('cloud_account'),
      unit_ids: idsOf('cloud_organizational_unit'),
      tags: found.computesTags ? 'all' : [...found.tags],
    },
    database_ids: idsOf('cloud_db_instance'),
    reads_scopes: found.attributes.has('scopes'),
    reads_managers: found.ofManagers,
    reads_others_facts: found.ofOthers,
    people_ids: ['User', 'Group', 'Role'].flatMap(idsOf),
    attributes: [...found.attributes],
  }
}

/** What all of the statements read together. */
export function unitedReadings(readings: Iterable<Reading>): Reading {
  const literals = new Map<string, EntityReference>()
  const [accounts, units, tags] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let [readsAllTags, reads_scopes] = [false, false]
  for (const { literals: read, traits, reads_scopes: reads } of readings) {
    if (reads) reads_scopes = true
    for (const one of read) literals.set(entityKey(one), one)
    for (const id of traits.account_ids) accounts.add(id)
    for (const id of traits.unit_ids) units.add(id)
    if (traits.tags === 'all') readsAllTags = true
    else for (const key of traits.tags) tags.add(key)
  }
  return {
    literals: [...literals.values()],
    traits: { account_ids: [...accounts], unit_ids: [...units], tags: readsAllTags ? 'all' : [...tags] },
    reads_scopes,
  }
}

type Found = {
  read: Map<string, EntityReference>
  named: Map<string, EntityReference>
  tags: Set<string>
  computesTags: boolean
  attributes: Set<string>
  ofManagers: boolean
  ofOthers: boolean
}

function noteNamed({ named }: Found, entity: EntityReference): void {
  named.set(entityKey(entity), entity)
}

/**
 * A literal or a manager is read wherever it stands, except where only its identity can matter: as a side of `==` or `!=`, on the right
 * of `in`, and as a member of a set. So one that arrives at an attribute by a detour (a record, an `if`) counts too.
 */
function visit(expression: Expr, found: Found): void {
  const { operator, operands, row } = formOf(expression)
  const entity = entityOf(expression)
  if (entity !== undefined) {
    noteNamed(found, entity)
    if (readableTypes.includes(entity.type)) found.read.set(entityKey(entity), entity)
    return
  }
  if (operator === '.' && operands.attr === 'manager') found.ofManagers = true
  if (operator === '.' || operator === 'has') noteFacts(operands, operator === 'has', found)
  if (operator === 'getTag' || operator === 'hasTag') noteTag(operands.right, found)
  // Nothing takes a member out of a set, so that only its identity can matter.
  for (const operand of row) (operator === 'Set' ? identify : visit)(operand, found)
  if (row.length > 0) return
  const identified = identifiedBy[operator] ?? []
  for (const [key, operand] of Object.entries(operands)) {
    if (!isExpression(operand)) continue
    if (identified.includes(key)) identify(operand, found)
    else visit(operand, found)
  }
}

/** For each operator, the operands of which only the identity matters. */
const identifiedBy: Readonly<Record<string, readonly string[]>> = {
  '==': ['left', 'right'],
  '!=': ['left', 'right'],
  in: ['right'],
  is: ['in'],
  contains: ['left', 'right'],
  containsAll: ['left', 'right'],
  containsAny: ['left', 'right'],
}

/** An operand of which only the identity matters, if it is an entity or somebody's manager. */
function identify(expression: Expr, found: Found): void {
  const entity = entityOf(expression)
  const { operator, operands } = formOf(expression)
  if (entity !== undefined) noteNamed(found, entity)
  else if (operator === '.' && operands.attr === 'manager' && operands.left !== undefined) {
    noteFacts(operands, false, found)
    visit(operands.left, found)
  } else visit(expression, found)
}

const facts: readonly (string | undefined)[] = ['department', 'title', 'manager']

/** Which attributes are read, and whose facts. `has` may test a path, such as `resource has requester.manager`, of which all but the end is read. */
function noteFacts({ left, attr }: Operands, isTest: boolean, found: Found): void {
  let of = left
  for (const [index, name] of [attr ?? []].flat().entries()) {
    if (of === undefined) return
    found.attributes.add(name)
    if (isTest && index > 0 && formOf(of).operands.attr === 'manager') found.ofManagers = true
    const isOfQuestion = isVariable(of, 'principal') || attributeOf(of, 'resource') === 'requester'
    if (facts.includes(name) && !isOfQuestion) found.ofOthers = true
    of = { '.': { left: of, attr: name } }
  }
}

function noteTag(key: Expr | undefined, found: Found): void {
  const value = key !== undefined && 'Value' in key ? (key.Value as unknown) : undefined
  if (typeof value !== 'string') found.computesTags = true
  // No account has a tag with NUL, which the database cannot store or be asked for.
  else if (!value.includes('\0')) found.tags.add(value)
}

function isExpression(operand: unknown): operand is Expr {
  return typeof operand === 'object' && operand !== null && !Array.isArray(operand)
}
