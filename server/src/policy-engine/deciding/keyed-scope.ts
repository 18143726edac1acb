/** The scopes of rules, and what of a question they are compared with. */
import type { EngineQuestion } from '../cedar/question.ts'
import { type EntityScope, plainReference, type Scope } from '../cedar/scope.ts'

/** A scope whose entities are keys. */
export type KeyedScope = {
  principal: KeyedEntity
  /** Undefined: any action. */
  actions: readonly string[] | undefined
  resource: KeyedEntity
}
export type KeyedEntity = {
  /** The entity must be this one. */
  is?: string
  /** The entity must be this one or in it. */
  within?: string
  type?: string
}

/** An entity of a question: its own key, its type, and the keys of itself and of all its ancestors. */
export type Reach = { key: string; type: string; within: ReadonlySet<string> }
export type Reaches = { principal: Reach; action: string; resource: Reach }

/** A type cannot contain a space. */
export const entityKeyOf = ({ type, id }: { type: string; id: string }) => `${type} ${id}`

export function keyedScope({ principal, action, resource }: Scope): KeyedScope {
  const actions = action.scope === 'any' ? undefined : action.ids
  return { principal: keyedEntity(principal), actions, resource: keyedEntity(resource) }
}

function keyedEntity(scope: EntityScope): KeyedEntity {
  switch (scope.scope) {
    case 'any':
      return {}
    case 'eq':
      return { is: entityKeyOf(scope) }
    case 'in':
      return { within: entityKeyOf(scope) }
    case 'is':
      return { type: scope.type }
    case 'is_in':
      return { type: scope.type, within: entityKeyOf(scope.group) }
  }
}

/** The question's principal and resource, with their ancestors among the question's entities. */
export function reachesOf({ principal, action, resource, entities }: EngineQuestion): Reaches {
  const parents = new Map(
    entities.map(({ uid, parents: above }) => [
      entityKeyOf(plainReference(uid)),
      above.map(plainReference).map(entityKeyOf),
    ]),
  )
  const reach = (entity: { type: string; id: string }): Reach => {
    const key = entityKeyOf(entity)
    const within = new Set([key])
    // The iteration of a set includes elements that are added meanwhile.
    for (const one of within) for (const parent of parents.get(one) ?? []) within.add(parent)
    return { key, type: entity.type, within }
  }
  return {
    principal: reach(plainReference(principal)),
    action: plainReference(action).id,
    resource: reach(plainReference(resource)),
  }
}

/** The reach of an entity whose ancestors are all listed. */
export function reachOf(
  entity: { type: string; id: string },
  ancestors: readonly { type: string; id: string }[],
): Reach {
  return { key: entityKeyOf(entity), type: entity.type, within: new Set([entity, ...ancestors].map(entityKeyOf)) }
}

/** Whether the scope matches the question, by the same rules as the engine. */
export function fits({ principal, actions, resource }: KeyedScope, asked: Reaches): boolean {
  return (
    entityFits(principal, asked.principal) &&
    entityFits(resource, asked.resource) &&
    (actions === undefined || actions.includes(asked.action))
  )
}

/** Whether the scope's side matches the entity, by the same rules as the engine. */
export function entityFits({ is, within, type }: KeyedEntity, reach: Reach): boolean {
  return (
    (is === undefined || is === reach.key) &&
    (within === undefined || reach.within.has(within)) &&
    (type === undefined || type === reach.type)
  )
}
