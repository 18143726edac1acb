/** Changes of a part of a resource (RFC 7644, section 3.5.2), as directories send them. Pure: it knows no table. */

import { ScimProblem } from '../http/scim-problem.ts'
import { type Attribute, enterpriseSchema, type ResourceKind } from './attribute.ts'
import { type AttributePath, isExtension, readPath } from './attribute-path.ts'
import { chooses, type Filter, readValueFilter } from './filter.ts'
import { isObject, type Resource, readValue } from './read-resource.ts'

export type PatchOperation = { op: 'add' | 'remove' | 'replace'; path: AttributePath; value: unknown }

/** The operations of one call: as many as a group of a large directory may need at once. */
const maxOperations = 5_000

/**
 * Reads the body of a PATCH: each operation with one path. An operation without a path becomes one for each attribute that it names; what is
 * not kept is left out.
 * @throws ScimProblem 400 `invalidSyntax`, `invalidPath`, `noTarget`
 */
export function readPatch(kind: ResourceKind, body: unknown): PatchOperation[] {
  const operations = isObject(body) ? fieldOf(body, 'operations') : undefined
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > maxOperations) {
    throw new ScimProblem(400, `\`Operations\` must be a list of 1 to ${maxOperations} operations`, 'invalidSyntax')
  }
  return operations.flatMap((operation) => readOperation(kind, operation))
}

/** Entra ID writes `Add`, and some clients write `OP`. */
function fieldOf(object: Record<string, unknown>, name: string): unknown {
  return Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1]
}

function readOperation(kind: ResourceKind, operation: unknown): PatchOperation[] {
  const [sentOp, path, value] = isObject(operation)
    ? ['op', 'path', 'value'].map((name) => fieldOf(operation, name))
    : [undefined, undefined, undefined]
  const op = typeof sentOp === 'string' ? sentOp.toLowerCase() : undefined
  if (op !== 'add' && op !== 'remove' && op !== 'replace') {
    throw new ScimProblem(400, 'the `op` of an operation must be add, remove or replace', 'invalidSyntax')
  }
  if (path === undefined || path === null || path === '') {
    if (op === 'remove') throw new ScimProblem(400, 'an operation that removes needs a `path`', 'noTarget')
    if (!isObject(value)) {
      throw new ScimProblem(400, 'the `value` of an operation without a `path` must be an object', 'invalidValue')
    }
    return Object.entries(value).flatMap(([name, one]) => atPath(kind, op, name, one))
  }
  if (typeof path !== 'string') throw new ScimProblem(400, 'a `path` must be a text', 'invalidPath')
  return atPath(kind, op, path, value)
}

function atPath(kind: ResourceKind, op: PatchOperation['op'], text: string, value: unknown): PatchOperation[] {
  if (isExtension(kind, text)) return atExtension(kind, op, text, value)
  const path = readPath(kind, text)
  if (path === 'ignored') return []
  if (path === 'unknown') {
    throw new ScimProblem(400, `the path \`${text.slice(0, 200)}\` leads to no attribute`, 'invalidPath')
  }
  const { mutability } = path.sub ?? path.attribute
  // Clients send back what they read: that changes nothing.
  return mutability === 'readOnly' ? [] : [{ op, path, value }]
}

function atExtension(kind: ResourceKind, op: PatchOperation['op'], uri: string, value: unknown): PatchOperation[] {
  const attributes = kind.extension?.attributes ?? []
  if (op === 'remove') return attributes.flatMap(({ name }) => atPath(kind, op, `${uri}:${name}`, undefined))
  if (!isObject(value)) throw new ScimProblem(400, `\`${enterpriseSchema}\` must be an object`, 'invalidValue')
  return Object.entries(value).flatMap(([name, one]) => atPath(kind, op, `${uri}:${name}`, one))
}

/** The resource after the operations, in their order. @throws ScimProblem 400 for what an attribute cannot hold */
export function patched(kind: ResourceKind, before: Resource, operations: readonly PatchOperation[]): Resource {
  return operations.reduce((resource, operation) => apply(kind, resource, operation), before)
}

function apply(kind: ResourceKind, resource: Resource, operation: PatchOperation): Resource {
  const { extension, attribute } = operation.path
  if (extension === undefined) return withValue(resource, attribute.name, changed(kind, resource, operation))
  const inside = isObject(resource[extension]) ? resource[extension] : {}
  const after = withValue(inside, attribute.name, changed(kind, inside, operation))
  return withValue(resource, extension, Object.keys(after).length === 0 ? undefined : after)
}

function withValue(resource: Resource, name: string, value: unknown): Resource {
  const { [name]: _, ...others } = resource
  return value === undefined ? others : { ...others, [name]: value }
}

/** What the attribute holds after the operation; undefined: nothing. */
function changed(kind: ResourceKind, resource: Resource, { op, path, value }: PatchOperation): unknown {
  const { attribute, sub, filter } = path
  const present = resource[attribute.name]
  if (filter !== undefined) {
    const chosen = readValueFilter(kind, attribute, filter)
    return changedValues(path, { op, value, chosen, present: listOf(present) })
  }
  if (attribute.multiValued) return changedList(attribute, sub, { op, value, present: listOf(present) })
  if (sub !== undefined) {
    const parts = withValue(
      isObject(present) ? present : {},
      sub.name,
      op === 'remove' ? undefined : readValue(sub, value),
    )
    return readValue(attribute, parts)
  }
  if (op === 'remove') {
    if (attribute.required) throw new ScimProblem(400, `\`${attribute.name}\` cannot be removed`, 'mutability')
    return undefined
  }
  const read = readValue(attribute, value)
  return isObject(read) && isObject(present) ? { ...present, ...read } : read
}

type Values = Record<string, unknown>[]
const listOf = (present: unknown): Values => (Array.isArray(present) ? present : [])

type ListChange = { op: PatchOperation['op']; value: unknown; present: Values }

/** A change of a whole list, or of a part of each of its values. */
function changedList(attribute: Attribute, sub: Attribute | undefined, { op, value, present }: ListChange): unknown {
  if (sub !== undefined) {
    const read = op === 'remove' ? undefined : readValue(sub, value)
    return readValue(
      attribute,
      present.map((one) => withValue(one, sub.name, read)),
    )
  }
  const given = value === undefined ? undefined : listOf(readValue(attribute, value))
  if (op === 'replace') return readValue(attribute, given ?? [])
  if (op === 'add') return readValue(attribute, [...present, ...(given ?? [])])
  if (given === undefined) return undefined
  return readValue(
    attribute,
    present.filter((one) => !given.some((gone) => isLike(one, gone))),
  )
}

/** Whether the value has everything that the other one names. */
function isLike(value: Record<string, unknown>, other: Record<string, unknown>): boolean {
  return Object.entries(other).every(([name, part]) => value[name] === part)
}

/** A change of the values that a filter chooses. Where none is, directories expect one to be made of what the filter says. */
function changedValues(
  { attribute, sub }: AttributePath,
  { op, value, present, chosen }: ListChange & { chosen: Filter },
): unknown {
  const isChosen = (one: Record<string, unknown>) => chooses(chosen, attribute, one)
  if (op === 'remove') {
    if (sub === undefined)
      return readValue(
        attribute,
        present.filter((one) => !isChosen(one)),
      )
    return readValue(
      attribute,
      present.map((one) => (isChosen(one) ? withValue(one, sub.name, undefined) : one)),
    )
  }
  const change = (one: Record<string, unknown>) => {
    if (sub !== undefined) return withValue(one, sub.name, readValue(sub, value))
    const [read] = listOf(readValue(attribute, value))
    return op === 'replace' ? { ...read } : { ...one, ...read }
  }
  if (present.some(isChosen))
    return readValue(
      attribute,
      present.map((one) => (isChosen(one) ? change(one) : one)),
    )
  const made = madeOf(chosen, attribute)
  if (made === undefined)
    throw new ScimProblem(400, `no value of \`${attribute.name}\` is one that the path chooses`, 'noTarget')
  return readValue(attribute, [...present, change(made)])
}

/** The value that a filter of `eq` alone describes; undefined for any other filter. */
function madeOf(filter: Filter, attribute: Attribute): Record<string, unknown> | undefined {
  if (filter.op === 'and') {
    const parts = filter.filters.map((one) => madeOf(one, attribute))
    return parts.includes(undefined) ? undefined : Object.assign({}, ...parts)
  }
  if (filter.op !== 'eq') return undefined
  const name = filter.path.slice(attribute.name.length + 1)
  return { [name]: filter.type === 'boolean' ? filter.value === 'true' : filter.value }
}
