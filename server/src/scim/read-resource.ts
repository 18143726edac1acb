import { invalidValue, ScimProblem } from '../http/scim-problem.ts'
import { isObject } from '../kernel/is-object.ts'
import { type Attribute, findAttribute, type ResourceKind } from './attribute.ts'
import { writableAttributes } from './attribute-path.ts'

/** A resource as it is kept: the attributes of the table under their own names, without what is not assigned. */
export type Resource = { [name: string]: unknown }

/** The longest text of an attribute, in characters: each fits into an index, whatever its characters are made of. */
export const maxValueLength = 600
/** The values of one attribute that has several, other than the members of a group. */
const maxValues = 100
/** The longest JSON text of a user, in characters. A page has two hundred of them, and a patch reads a list again for each operation. */
const maxUserLength = 65_536

/**
 * Reads what a client sent for a whole resource. Names count in whatever case; what the table does not have is left out.
 * @throws ScimProblem 400 for a value that its attribute cannot hold, and for one name twice
 */
export function readResource(kind: ResourceKind, sent: unknown): Resource {
  if (!isObject(sent)) throw new ScimProblem(400, 'the body must be an object', 'invalidSyntax')
  const core = withoutHollow(kind, readAttributes(writableAttributes(kind), sent))
  if (kind.extension === undefined) return core
  requireSize(core)
  const { schema, attributes } = kind.extension
  const key = Object.keys(sent).find((name) => name.toLowerCase() === schema.toLowerCase())
  if (key === undefined) return core
  const inside = sent[key]
  if (!isObject(inside)) throw invalidValue(`\`${schema}\` must be an object`)
  const extension = readAttributes(attributes, inside)
  return Object.keys(extension).length === 0 ? core : { ...core, [schema]: extension }
}

/** @throws ScimProblem 400 for a user of whom more is said than is kept */
export function requireSize(user: Resource): void {
  if (JSON.stringify(user).length > maxUserLength) {
    throw invalidValue(`the user is longer than ${maxUserLength} characters: send fewer values`)
  }
}

/**
 * The resource without the entries of lists that have a kind but no value: nobody can be reached by a telephone without a number. Only once
 * everything is read, since a patch may set the kind before the value.
 */
export function withoutHollow(kind: ResourceKind, resource: Resource): Resource {
  const lists = kind.attributes.filter(
    ({ name, multiValued, subAttributes }) =>
      multiValued && name !== 'members' && findAttribute(subAttributes, 'value') !== undefined,
  )
  const kept = Object.entries(resource).flatMap(([name, value]) => {
    if (!Array.isArray(value) || !lists.some((one) => one.name === name)) return [[name, value] as const]
    const full = value.filter((one) => isObject(one) && one.value !== undefined)
    return full.length === 0 ? [] : [[name, full] as const]
  })
  return Object.fromEntries(kept)
}

function readAttributes(attributes: readonly Attribute[], sent: Record<string, unknown>): Resource {
  const read: Resource = {}
  for (const [name, value] of Object.entries(sent)) {
    const attribute = findAttribute(attributes, name)
    if (attribute === undefined || attribute.mutability === 'readOnly') continue
    if (attribute.name in read) {
      throw new ScimProblem(400, `\`${attribute.name}\` is present twice: send it once`, 'invalidSyntax')
    }
    const kept = readValue(attribute, value)
    if (kept !== undefined) read[attribute.name] = kept
  }
  return read
}

/**
 * The value of an attribute as it is kept; undefined for what means that there is none: null, an empty text, list or object.
 * @throws ScimProblem 400
 */
export function readValue(attribute: Attribute, value: unknown): unknown {
  if (!attribute.multiValued) return readOne(attribute, value)
  const values = Array.isArray(value) ? value : [value]
  const read = values.map((one) => readOne(attribute, one)).filter((one) => one !== undefined)
  if (attribute.name !== 'members' && read.length > maxValues) {
    throw invalidValue(`\`${attribute.name}\` has more than ${maxValues} values`)
  }
  const kept = onePrimary(withoutRepeats(read))
  return kept.length === 0 ? undefined : kept
}

/** One value. Some directories send a list of one, and the bare value of what is a `{"value": …}`. */
function readOne(attribute: Attribute, sent: unknown): unknown {
  const value = Array.isArray(sent) && !attribute.multiValued && sent.length <= 1 ? sent[0] : sent
  if (value === null || value === undefined || value === '') return undefined
  if (attribute.type === 'complex') return readComplex(attribute, value)
  if (attribute.type === 'boolean') return readBoolean(attribute, value)
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (typeof text !== 'string') throw invalidValue(`\`${attribute.name}\` must be a text`)
  // Searched in its normal form, which can be longer.
  if (text.length > maxValueLength || text.normalize('NFC').length > maxValueLength) {
    throw invalidValue(`\`${attribute.name}\` is longer than ${maxValueLength} characters`)
  }
  return text
}

/** Entra ID sends `"True"` and `"False"`. */
function readBoolean({ name }: Attribute, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' ? value.trim().toLowerCase() : undefined
  if (word === 'true') return true
  if (word === 'false') return false
  throw invalidValue(`\`${name}\` must be true or false`)
}

function readComplex(attribute: Attribute, value: unknown): Resource | undefined {
  const { name, subAttributes } = attribute
  const isBare = typeof value === 'string' && findAttribute(subAttributes, 'value') !== undefined
  if (!isBare && !isObject(value)) throw invalidValue(`\`${name}\` must be an object`)
  const read = readAttributes(subAttributes, isBare ? { value } : (value as Record<string, unknown>))
  return Object.keys(read).length === 0 ? undefined : read
}

/** A value is there once for each kind of it: what is said of it later counts, and stands at the place of the last. */
function withoutRepeats(values: unknown[]): unknown[] {
  const byText = new Map<string, unknown>()
  for (const value of values) {
    const isValue = isObject(value) && value.value !== undefined
    const key = JSON.stringify(isValue ? [value.value, value.type] : value)
    const before = byText.get(key)
    byText.delete(key)
    byText.set(key, isObject(before) && isObject(value) ? { ...before, ...value } : value)
  }
  return [...byText.values()]
}

/** The last one that says that it is the primary one is: who patches a list adds the new one at its end. */
function onePrimary(values: unknown[]): unknown[] {
  const last = values.findLastIndex((value) => isObject(value) && value.primary === true)
  return values.map((value, place) =>
    place < last && isObject(value) && value.primary === true ? { ...value, primary: false } : value,
  )
}
