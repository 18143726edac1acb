import type { Call, Operation } from './history.ts'
import { type SeenRequest, seenIn } from './seen.ts'
import { type Sight, type Sights, sightsOf } from './sights.ts'

/**
 * A request, or a grant with its request. `extends`: the grant that a request extends. `isAtOnce`: whether it was approved when it was
 * made, as the answer of the call that made it says; undefined: there is none.
 */
export type LifeObject =
  | {
      kind: 'request'
      id: string
      owner: string | undefined
      extends: string | undefined
      isAtOnce: boolean | undefined
    }
  | { kind: 'grant'; id: string; owner: string | undefined; request: string }

/** A change that a call makes; `answered`: the request that its answer names as made. */
export type Write = { call: Call; by: string; answered: string | undefined }

/** What one operation of a history means for the objects of a life. */
export type Step = { operation: Operation; sights: readonly Sight[]; write: Write | undefined }

/** A request, its grants, and what extends them: calls about other objects have no part in their order. */
export type Life = { objects: readonly LifeObject[]; steps: readonly Step[] }

const writes: ReadonlySet<Call['name']> = new Set(['create', 'approve', 'deny', 'cancel', 'extend', 'revoke', 'retry'])

/** Divides a history into lives. Steps without meaning for a life are left out. */
export function livesOf(operations: readonly Operation[]): Life[] {
  const objects = objectsIn(operations)
  const groups = Map.groupBy(objects.values(), (object) => rootOf(object, objects))
  const read = operations.map((operation) => ({ operation, ...sightsOf(operation), write: writeOf(operation) }))
  return [...groups.values()].map((group) => {
    const ids = new Set(group.map(({ id }) => id))
    const steps = read.map(({ operation, write, ...seen }) => ({
      operation,
      sights: [...seen.sights.filter(({ object }) => ids.has(object)), ...missingSights(seen, group)],
      write: write !== undefined && concerns(write, ids, group) ? write : undefined,
    }))
    return { objects: group, steps: steps.filter(({ sights, write }) => sights.length > 0 || write !== undefined) }
  })
}

function objectsIn(operations: readonly Operation[]): Map<string, LifeObject> {
  const objects = new Map<string, LifeObject>()
  const extended = new Map<string, string>()
  for (const operation of operations) {
    const { call, answer } = operation
    const { requests, grants } = seenIn(operation)
    const isMade = call.name === 'create' || call.name === 'extend'
    for (const seen of requests) {
      if (typeof seen.extends === 'string') extended.set(seen.id, seen.extends)
      objects.set(seen.id, requestSeen(seen, isMade, objects.get(seen.id)))
    }
    for (const { id, request_id, user_id, extended_by } of grants) {
      objects.set(id, { kind: 'grant', id, owner: user_id ?? objects.get(id)?.owner, request: request_id })
      if (extended_by) extended.set(extended_by.request_id, id)
    }
    const named = (answer?.body.details as { request_id?: string } | undefined)?.request_id
    if (call.name === 'extend' && named !== undefined) extended.set(named, call.grant)
  }
  return withExtensions(objects, extended)
}

/** `isMade`: by the call that shows it. `known`: what earlier answers said of it. */
function requestSeen(seen: SeenRequest, isMade: boolean, known: LifeObject | undefined): LifeObject {
  const { id, requester_id: owner = known?.owner, status } = seen
  const isAtOnce = known?.kind === 'request' ? known.isAtOnce : undefined
  return { kind: 'request', id, owner, extends: undefined, isAtOnce: isMade ? status === 'approved' : isAtOnce }
}

/** Names the extended grant of each request, also of those that only a refusal or the detail of a grant has named. */
function withExtensions(objects: Map<string, LifeObject>, extended: ReadonlyMap<string, string>) {
  for (const grant of [...objects.values()].filter((object) => object.kind === 'grant')) {
    if (!objects.has(grant.request)) objects.set(grant.request, requestOf(grant.request, grant.owner))
  }
  for (const [id, former] of extended) {
    const known = objects.get(id) ?? requestOf(id, objects.get(former)?.owner)
    if (known.kind === 'request') objects.set(id, { ...known, extends: former })
  }
  return objects
}

function requestOf(id: string, owner: string | undefined): LifeObject {
  return { kind: 'request', id, owner, extends: undefined, isAtOnce: undefined }
}

/** The request at the beginning. */
function rootOf(object: LifeObject, objects: ReadonlyMap<string, LifeObject>): string {
  const up = object.kind === 'grant' ? object.request : object.extends
  const next = up === undefined ? undefined : objects.get(up)
  return next === undefined ? object.id : rootOf(next, objects)
}

/** What a list without one of the objects says about that object. */
function missingSights({ missing }: Sights, group: readonly LifeObject[]): Sight[] {
  if (missing === undefined) return []
  const { kind, owner, request, status, listed } = missing
  return group
    .filter((object) => object.kind === kind && !listed.includes(object.id))
    .filter((object) =>
      owner === undefined ? object.kind === 'grant' && object.request === request : object.owner === owner,
    )
    .map(({ id }) => (status === null ? { object: id, is: ['absent'] } : { object: id, not: [status] }))
}

/** The change that a call made, or may have made or may yet make where there is no answer. */
function writeOf({ call, caller, answer }: Operation): Write | undefined {
  if (!writes.has(call.name)) return undefined
  if (answer === undefined || answer.status >= 500) return { call, by: caller.id, answered: undefined }
  if (answer.status >= 300) return undefined
  const isMade = call.name === 'create' || call.name === 'extend'
  return { call, by: caller.id, answered: isMade ? String(answer.body.id) : undefined }
}

function concerns({ call, by, answered }: Write, ids: ReadonlySet<string>, group: readonly LifeObject[]): boolean {
  if ('request' in call) return ids.has(call.request)
  if ('grant' in call) return ids.has(call.grant)
  if (answered !== undefined) return ids.has(answered)
  return group.some((object) => object.kind === 'request' && object.extends === undefined && object.owner === by)
}
