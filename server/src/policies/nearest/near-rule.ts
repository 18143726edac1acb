/** Which rules speak of nearly what is asked: by their scopes alone, in plain code, since it is done for every rule. */
import type { AskQuestion, Resource } from '../cedar/question.ts'
import { approveAction } from '../cedar/schema.ts'
import type { EntityScope, Scope } from '../cedar/scope.ts'

export type Side = 'principal' | 'action' | 'resource'

type Entity = { type: string; id: string }

/** An entity of a question and all that it is in. */
export type Placed = Entity & { within: ReadonlySet<string> }

export type Asked = { principal: Placed; action: string; resources: readonly Placed[] }

/** What a scope is compared with. */
export function askedOf({
  principal,
  action,
  resources,
}: Pick<AskQuestion, 'principal' | 'action' | 'resources'>): Asked {
  const groups = principal.group_ids.map((id) => ({ type: 'Group', id }))
  const roles = principal.role_ids.map((id) => ({ type: 'Role', id }))
  return {
    principal: placed({ type: 'User', id: principal.id }, [...groups, ...roles]),
    action,
    resources: resources.map((resource: Resource) => placed(resource, resource.parents)),
  }
}

function placed(entity: Entity, parents: readonly Entity[]): Placed {
  return { type: entity.type, id: entity.id, within: new Set([entity, ...parents].map(keyOf)) }
}

function keyOf({ type, id }: Entity): string {
  return JSON.stringify([type, id])
}

/** The parts of the scope that do not speak of this; for `resource` one that they speak of is enough. */
export function missedSides(scope: Scope, asked: Asked): Side[] {
  const missed: Side[] = []
  if (!speaker(scope.principal)(asked.principal)) missed.push('principal')
  if (scope.action.scope === 'any' ? asked.action === approveAction : !scope.action.ids.includes(asked.action))
    missed.push('action')
  if (!asked.resources.some(speaker(scope.resource))) missed.push('resource')
  return missed
}

/** Whether the scope speaks of an entity. */
function speaker(scope: EntityScope): (entity: Placed) => boolean {
  if (scope.scope === 'any') return () => true
  if (scope.scope === 'eq') return ({ type, id }) => type === scope.type && id === scope.id
  if (scope.scope === 'is') return ({ type }) => type === scope.type
  const container = keyOf('group' in scope ? scope.group : scope)
  const type = 'group' in scope ? scope.type : undefined
  return (entity) => (type === undefined || type === entity.type) && entity.within.has(container)
}
