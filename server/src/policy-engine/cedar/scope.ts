/**
 * The scope of a rule: the principals, actions and resources that it covers. As the API's fields, as the engine's JSON, and the
 * conversion between them.
 */
import { type FaultyField, invalidInput } from '../../kernel/errors.ts'
import type { ActionScopeType, EntityScopeType, RuleInput } from '../rule.ts'
import type { ActionConstraint, PolicyJson, PrincipalConstraint } from './engine.ts'
import { approveAction, principalTypes, resourceTypes } from './schema.ts'

/** A scope over entities. `group` is the entity's required ancestor. */
export type EntityScope =
  | { scope: 'any' }
  | { scope: 'eq' | 'in'; type: string; id: string }
  | { scope: 'is'; type: string }
  | { scope: 'is_in'; type: string; group: { type: string; id: string } }

export type ActionScope = { scope: ActionScopeType; ids: string[] }

export type Scope = { principal: EntityScope; action: ActionScope; resource: EntityScope }

/** The scope as the API's fields; those that a scope type does not use are left out. */
export type ScopeFields = {
  principal_scope_type: EntityScopeType
  principal_entity_type?: string
  principal_entity_id?: string
  action_scope_type: ActionScopeType
  action_ids: string[]
  resource_scope_type: EntityScopeType
  resource_entity_type?: string
  resource_entity_id?: string
}

type Side = 'principal' | 'resource'

const knownTypes: Record<Side, readonly string[]> = { principal: principalTypes, resource: resourceTypes }

/** The scope that the fields describe; absent scope types are `any`. 400 `invalid_input` names each field that does not fit. */
export function scopeFromFields(fields: Partial<ScopeFields> & RuleInput): Scope {
  const faults: FaultyField[] = []
  const scope = {
    principal: entityScope('principal', fields, faults),
    action: actionScope(fields, faults),
    resource: entityScope('resource', fields, faults),
  }
  if (faults.length > 0) throw invalidInput(faults)
  return scope
}

function entityScope(side: Side, fields: Partial<ScopeFields>, faults: FaultyField[]): EntityScope {
  const scope = fields[`${side}_scope_type`] ?? 'any'
  const type = fields[`${side}_entity_type`]
  const id = fields[`${side}_entity_id`]
  const wantsType = scope !== 'any'
  const wantsId = wantsType && scope !== 'is'
  const misfit = (value: string | undefined, wanted: boolean) => {
    if (wanted && value === undefined) return `is required for the scope type \`${scope}\``
    if (!wanted && value !== undefined) return `is not allowed with \`${side}_scope_type\`: \`${scope}\`; leave it out`
    return undefined
  }
  const typeFault = misfit(type, wantsType) ?? unknownType(side, type)
  const idFault = misfit(id, wantsId) ?? (scope === 'is_in' ? badReference(side, id) : undefined)
  if (typeFault !== undefined) faults.push({ pointer: `/${side}_entity_type`, why: typeFault })
  if (idFault !== undefined) faults.push({ pointer: `/${side}_entity_id`, why: idFault })
  return makeEntityScope(scope, type ?? '', id ?? '')
}

function makeEntityScope(scope: EntityScopeType, type: string, id: string): EntityScope {
  if (scope === 'any') return { scope }
  if (scope === 'is') return { scope, type }
  if (scope === 'is_in') return { scope, type, group: parseReference(id) ?? { type: '', id: '' } }
  return { scope, type, id }
}

function unknownType(side: Side, type: string | undefined): string | undefined {
  if (type === undefined || knownTypes[side].includes(type)) return undefined
  return `is \`${type}\`; must be one of ${knownTypes[side].map((known) => `\`${known}\``).join(', ')}`
}

function badReference(side: Side, id: string | undefined): string | undefined {
  const group = parseReference(id ?? '')
  if (group !== undefined && knownTypes[side].includes(group.type)) return undefined
  return `must name the entity’s group or parent, as in \`${side === 'principal' ? 'Group' : 'cloud_account'}::"its id"\``
}

function actionScope(fields: Partial<ScopeFields>, faults: FaultyField[]): ActionScope {
  const scope = fields.action_scope_type ?? 'any'
  const ids = fields.action_ids ?? []
  const fault = (why: string) => faults.push({ pointer: '/action_ids', why })
  if (scope === 'any' && ids.length > 0) fault('is not allowed with the scope type `any`; set `action_scope_type`')
  if (scope === 'eq' && ids.length !== 1) fault('must hold exactly one action for the scope type `eq`')
  if (scope === 'in' && ids.length === 0) fault('must hold at least one action for the scope type `in`')
  return { scope, ids }
}

/** `Type::"id"` of an `is_in` scope; the id is a JSON string, so any id survives the round trip. */
function parseReference(text: string): { type: string; id: string } | undefined {
  const [, type, quoted] = /^([A-Za-z_]\w*)::(".*")$/s.exec(text) ?? []
  if (type === undefined || quoted === undefined) return undefined
  try {
    const id = String(JSON.parse(quoted))
    return id.isWellFormed() ? { type, id } : undefined
  } catch {
    return undefined
  }
}

/** The scope as the API's fields. */
export function scopeFields(scope: Scope): ScopeFields {
  return {
    ...entityFields('principal', scope.principal),
    action_scope_type: scope.action.scope,
    action_ids: scope.action.ids,
    ...entityFields('resource', scope.resource),
  } as ScopeFields
}

function entityFields(side: Side, scope: EntityScope): Record<string, string> {
  const fields: Record<string, string> = { [`${side}_scope_type`]: scope.scope }
  if ('type' in scope) fields[`${side}_entity_type`] = scope.type
  if ('id' in scope) fields[`${side}_entity_id`] = scope.id
  if ('group' in scope) fields[`${side}_entity_id`] = `${scope.group.type}::${JSON.stringify(scope.group.id)}`
  return fields
}

/** The scope as the engine's JSON: values stay values and are never pasted into text. */
export function scopeToEngine(scope: Scope): Pick<PolicyJson, 'principal' | 'action' | 'resource'> {
  return {
    principal: entityToEngine(scope.principal),
    action: actionToEngine(scope.action),
    resource: entityToEngine(scope.resource),
  }
}

function entityToEngine(scope: EntityScope): PrincipalConstraint {
  switch (scope.scope) {
    case 'any':
      return { op: 'All' }
    case 'eq':
      return { op: '==', entity: { type: scope.type, id: scope.id } }
    case 'in':
      return { op: 'in', entity: { type: scope.type, id: scope.id } }
    case 'is':
      return { op: 'is', entity_type: scope.type }
    case 'is_in':
      return { op: 'is', entity_type: scope.type, in: { entity: scope.group } }
  }
}

/** INVARIANT: a scope other than `any` never becomes all actions; an empty list is refused by the engine. */
function actionToEngine({ scope, ids }: ActionScope): ActionConstraint {
  if (scope === 'any') return { op: 'All' }
  const entities = ids.map((id) => ({ type: 'Action', id }))
  const [only] = entities
  return scope === 'eq' && only !== undefined ? { op: '==', entity: only } : { op: 'in', entities }
}

type Reference = { type: string; id: string } | { __entity: { type: string; id: string } }

/** The entity that a reference names, in either of the engine's two forms. */
export function plainReference(reference: Reference): { type: string; id: string } {
  const { type, id } = '__entity' in reference ? reference.__entity : reference
  return { type, id }
}

/** The scope of a parsed static statement (no template slots). */
export function scopeFromEngine(statement: Pick<PolicyJson, 'principal' | 'action' | 'resource'>): Scope {
  return {
    principal: entityFromEngine(statement.principal),
    action: actionFromEngine(statement.action),
    resource: entityFromEngine(statement.resource as PrincipalConstraint),
  }
}

function entityFromEngine(constraint: PrincipalConstraint): EntityScope {
  if (constraint.op === 'All') return { scope: 'any' }
  if (constraint.op === 'is') {
    const { entity_type: type } = constraint
    if (constraint.in === undefined) return { scope: 'is', type }
    if ('slot' in constraint.in) throw new Error('a rule holds no template slot')
    return { scope: 'is_in', type, group: plainReference(constraint.in.entity) }
  }
  if ('slot' in constraint) throw new Error('a rule holds no template slot')
  return { scope: constraint.op === '==' ? 'eq' : 'in', ...plainReference(constraint.entity) }
}

function actionFromEngine(constraint: ActionConstraint): ActionScope {
  if (constraint.op === 'All') return { scope: 'any', ids: [] }
  if ('slot' in constraint) throw new Error('a rule holds no template slot')
  const entities = 'entities' in constraint ? constraint.entities : [constraint.entity]
  return { scope: constraint.op === '==' ? 'eq' : 'in', ids: entities.map((entity) => plainReference(entity).id) }
}

/** Whether `wide` covers every question that `narrow` covers. False where that is not certain. */
export function covers(wide: Scope, narrow: Scope): boolean {
  return (
    entityCovers(wide.principal, narrow.principal) &&
    actionCovers(wide.action, narrow.action) &&
    entityCovers(wide.resource, narrow.resource)
  )
}

/** The same for entities alone. */
export function entityCovers(wide: EntityScope, narrow: EntityScope): boolean {
  if (wide.scope === 'any') return true
  if (wide.scope === 'is') return 'type' in narrow && narrow.scope !== 'in' && narrow.type === wide.type
  const container =
    narrow.scope === 'is_in' ? narrow.group : narrow.scope === 'in' || narrow.scope === 'eq' ? narrow : undefined
  if (container === undefined) return false
  if ('id' in wide) return (wide.scope === 'in' || narrow.scope === 'eq') && same(wide, container)
  return same(wide.group, container) && narrow.scope !== 'in' && 'type' in narrow && narrow.type === wide.type
}

function actionCovers(wide: ActionScope, narrow: ActionScope): boolean {
  // `any` covers requests only, not `approve`.
  if (wide.scope === 'any') return !narrow.ids.includes(approveAction)
  return narrow.scope !== 'any' && narrow.ids.every((id) => wide.ids.includes(id))
}

function same(a: { type: string; id: string }, b: { type: string; id: string }): boolean {
  return a.type === b.type && a.id === b.id
}
