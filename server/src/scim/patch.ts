/** Changes of a part of a resource (RFC 7644, section 3.5.2), as directories send them. Pure: it knows no table. */

import { ScimProblem } from '../http/scim-problem.ts'
import { isObject } from '../kernel/is-object.ts'
import { type Attribute, enterpriseSchema, findAttribute, type ResourceKind } from './attribute.ts'
import { type AttributePath, isExtension, readPath } from './attribute-path.ts'
import { chooses, type Filter, readValueFilter, searchedText } from './filter.ts'
import { type Resource, readValue, requireSize, withoutHollow } from './read-resource.ts'

export type PatchOperation = { op: 'add' | 'remove' | 'replace'; path: AttributePath; value: unknown }

/** The operations of one call: as many as a group of a large directory may need at once, and as many as a person has attributes. */
const maxOperations: Readonly<Record<ResourceKind['name'], number>> = { Group: 5_000, User: 500 }

/**
 * Reads the body of a PATCH: each operation with one path. An operation without a path becomes one for each attribute that it names; what is
 * not kept is left out.
 * @throws ScimProblem 400 `invalidSyntax`, `invalidPath`, `noTarget`
 */
export function readPatch(kind: ResourceKind, body: unknown): PatchOperation[] {
  const operations = isObject(body) ? fieldOf(body, 'operations') : undefined
  const most = maxOperations[kind.name]
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > most) {
    throw new ScimProblem(400, `\`Operations\` must be a list of 1 to ${most} operations`, 'invalidSyntax')
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
  if (value === undefined && op !== 'remove') {
    throw new ScimProblem(400, 'an operation that adds or replaces needs a `value`', 'invalidValue')
  }
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
  const after = operations.reduce((resource, operation) => {
    const next = apply(kind, resource, operation)
    requireSize(next)
    return next
  }, before)
  return withoutHollow(kind, after)
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
  const inside = isObject(present) ? present : {}
  if (sub !== undefined) {
    return readValue(attribute, withValue(inside, sub.name, op === 'remove' ? undefined : readValue(sub, value)))
  }
  const read = op === 'remove' ? undefined : changedOne(attribute, inside, value)
  if (read === undefined && attribute.required) {
    throw new ScimProblem(400, `\`${attribute.name}\` cannot be removed`, 'mutability')
  }
  return read
}

/** Of an object, the parts that the value names, in whatever case, and the others as they were. */
function changedOne(attribute: Attribute, inside: Resource, value: unknown): unknown {
  if (!isObject(value) || attribute.type !== 'complex' || Object.keys(value).length === 0) {
    const read = readValue(attribute, value)
    return isObject(read) ? { ...inside, ...read } : read
  }
  const named = attribute.subAttributes.filter(
    ({ name, mutability }) => mutability !== 'readOnly' && fieldOf(value, name.toLowerCase()) !== undefined,
  )
  const others = named.reduce((left, { name }) => withValue(left, name, undefined), inside)
  return readValue(attribute, { ...others, ...(readValue(attribute, value) as Resource | undefined) })
}

type Value = Record<string, unknown>
const listOf = (present: unknown): Value[] => (Array.isArray(present) ? present : [])

type ListChange = { op: PatchOperation['op']; value: unknown; present: Value[] }

/** A change of a whole list, or of a part of each of its values. */
function changedList(attribute: Attribute, sub: Attribute | undefined, { op, value, present }: ListChange): unknown {
  if (sub !== undefined) {
    const read = op === 'remove' ? undefined : readValue(sub, value)
    const changed = present.length === 0 && op !== 'remove' ? [{}] : present
    return readValue(
      attribute,
      changed.map((one) => withValue(one, sub.name, read)),
    )
  }
  const given = listOf(readValue(attribute, value))
  if (op === 'replace') return readValue(attribute, given)
  if (op === 'add') return readValue(attribute, [...present, ...given])
  if (value === undefined || value === null) return undefined
  return readValue(
    attribute,
    present.filter((one) => !given.some((gone) => isLike(attribute, one, gone))),
  )
}

/** Whether the value has everything that the other one names. */
function isLike({ subAttributes }: Attribute, value: Value, other: Value): boolean {
  return Object.entries(other).every(([name, part]) => {
    const sub = findAttribute(subAttributes, name)
    return sub !== undefined && value[name] !== undefined && searched(sub, value[name]) === searched(sub, part)
  })
}

const searched = (attribute: Attribute, value: unknown) => searchedText(attribute, String(value))

/** A change of the values that a filter chooses. Where none is, directories expect one to be made of what the filter says. */
function changedValues(
  { attribute, sub }: AttributePath,
  { op, value, present, chosen }: ListChange & { chosen: Filter },
): unknown {
  const isChosen = (one: Value) => chooses(chosen, attribute, one)
  if (op === 'remove') {
    const left = present.flatMap((one) => {
      if (!isChosen(one)) return [one]
      return sub === undefined ? [] : [withValue(one, sub.name, undefined)]
    })
    return readValue(attribute, left)
  }
  const read = sub === undefined ? listOf(readValue(attribute, value))[0] : { [sub.name]: readValue(sub, value) }
  const change = (one: Value): Value => (op === 'replace' && sub === undefined ? { ...read } : { ...one, ...read })
  const says = read !== undefined && Object.values(read).some((part) => part !== undefined)
  if (!says && !present.some(isChosen)) return readValue(attribute, present)
  const made = present.some(isChosen) ? undefined : change(madeOf(chosen, attribute))
  const after = present.map((one) => {
    if (isChosen(one)) return change(one)
    // The one that the operation makes primary is, wherever it stands.
    return read?.primary === true && one.primary === true ? { ...one, primary: false } : one
  })
  return readValue(attribute, made === undefined ? after : [...after, made])
}

/** The parts that say which of the values of a list one is, rather than what it is. */
const kinds: readonly string[] = ['type', 'primary']

/** The value that a filter describes, of which only `eq` says something. @throws ScimProblem 400 `noTarget` for any other filter */
function madeOf(filter: Filter, attribute: Attribute): Value {
  if (filter.op === 'and') return Object.assign({}, ...filter.filters.map((one) => madeOf(one, attribute)))
  const name = 'path' in filter ? filter.path.slice(attribute.name.length + 1) : ''
  if (filter.op !== 'eq' || !kinds.includes(name)) {
    throw new ScimProblem(400, `no value of \`${attribute.name}\` is one that the path chooses`, 'noTarget')
  }
  return { [name]: filter.type === 'boolean' ? filter.value === 'true' : filter.value }
}
