/** The filters of lists and of paths (RFC 7644, section 3.4.2.2), read against the attributes of a kind of resource. */
import { readMoment } from '../kernel/moment.ts'
import type { Attribute, ResourceKind } from './attribute.ts'
import { findAttribute } from './attribute.ts'
import { readPath } from './attribute-path.ts'
import {
  type Comparison,
  invalidFilter,
  type ParsedComparison,
  type ParsedFilter,
  parseFilter,
} from './filter-grammar.ts'

/** `path`: the name of the attribute and of its part, as `emails.value`. A text is in lower case where case does not count. */
export type Leaf = { op: Comparison; path: string; type: Attribute['type']; value: string } | { op: 'pr'; path: string }

export type Filter =
  | Leaf
  | { op: 'and' | 'or'; filters: readonly Filter[] }
  | { op: 'not'; filter: Filter }
  /** For one and the same value of a list, the inner filter holds. */
  | { op: 'of'; attribute: string; filter: Filter }
  /** For an attribute that is not kept: nobody has it. */
  | { op: 'nothing' }

/** One filter never costs as much as a list of all. */
const maxComparisons = 50

/** @throws ScimProblem 400 `invalidFilter` */
export function readFilter(kind: ResourceKind, text: string): Filter {
  return resolve(parseFilter(text), { kind, left: maxComparisons }, undefined)
}

/** The filter in the brackets of a path: its attributes are parts of that attribute. */
export function readValueFilter(kind: ResourceKind, attribute: Attribute, text: string): Filter {
  return resolve(parseFilter(text), { kind, left: maxComparisons }, attribute)
}

type State = { readonly kind: ResourceKind; left: number }

function resolve(parsed: ParsedFilter, state: State, within: Attribute | undefined): Filter {
  if (parsed.op === 'not') return { op: 'not', filter: resolve(parsed.filter, state, within) }
  if (parsed.op === 'and' || parsed.op === 'or') {
    return { op: parsed.op, filters: parsed.filters.map((one) => resolve(one, state, within)) }
  }
  if (parsed.op === 'of') {
    const found = within === undefined ? readPath(state.kind, parsed.path) : 'unknown'
    if (found === 'ignored') return { op: 'nothing' }
    if (found === 'unknown' || found.sub !== undefined || !found.attribute.multiValued) {
      throw unknownAttribute(parsed.path)
    }
    return { op: 'of', attribute: found.attribute.name, filter: resolve(parsed.filter, state, found.attribute) }
  }
  const place = within === undefined ? placeOf(state.kind, parsed.path) : partOf(within, parsed.path)
  if (place === 'ignored') return { op: 'nothing' }
  const filter =
    constantOf(state.kind, place, parsed) ?? leavesOf(place, parsed.op, parsed.op === 'pr' ? undefined : parsed.value)
  state.left -= filter.op === 'or' ? filter.filters.length : 1
  if (state.left < 0) throw invalidFilter(`the filter has more than ${maxComparisons} comparisons`)
  return filter
}

type Place = { path: string; attribute: Attribute }

function placeOf(kind: ResourceKind, text: string): Place | 'ignored' {
  const found = readPath(kind, text)
  if (found === 'ignored') return 'ignored'
  if (found === 'unknown' || found.filter !== undefined) throw unknownAttribute(text)
  const { attribute, sub } = found
  return sub === undefined ? { path: attribute.name, attribute } : partOf(attribute, sub.name)
}

function partOf(within: Attribute, name: string): Place {
  const attribute = findAttribute(within.subAttributes, name)
  if (attribute === undefined) throw unknownAttribute(`${within.name}.${name}`)
  return { path: `${within.name}.${attribute.name}`, attribute }
}

/** What is the same for every resource of a kind, or only said in answers, is in no table. */
function constantOf(kind: ResourceKind, { path }: Place, parsed: ParsedComparison): Filter | undefined {
  if (parsed.op === 'pr' || !path.startsWith('meta.')) return undefined
  if (path === 'meta.location' || path === 'meta.version') throw unknownAttribute(path)
  if (path !== 'meta.resourceType') return undefined
  return compares[parsed.op](kind.name, String(parsed.value)) ? { op: 'pr', path: 'id' } : { op: 'nothing' }
}

const unknownAttribute = (text: string) =>
  invalidFilter(`\`${text.slice(0, 100)}\` is not an attribute that can be searched`)

/** A comparison with a complex attribute means its `value`; it is present where one of its parts is. */
function leavesOf({ path, attribute }: Place, op: Comparison | 'pr', value: unknown): Filter {
  if (attribute.type === 'complex') {
    const parts = attribute.subAttributes.map((part) => ({ path: `${path}.${part.name}`, attribute: part }))
    if (op === 'pr') return { op: 'or', filters: parts.map((part) => ({ op: 'pr', path: part.path })) }
    const ofValue = parts.find((part) => part.attribute.name === 'value')
    if (ofValue === undefined) throw invalidFilter(`\`${path}\` has parts: compare one of them`)
    return leavesOf(ofValue, op, value)
  }
  if (op === 'pr') return { op, path }
  if (value === null) {
    if (op === 'eq') return { op: 'not', filter: { op: 'pr', path } }
    if (op === 'ne') return { op: 'pr', path }
    throw invalidFilter('only `eq` and `ne` compare with null')
  }
  return { op, path, type: attribute.type, value: comparedText(attribute, op, value) }
}

/** The compared value as a text, in the form in which values are searched. */
function comparedText(attribute: Attribute, op: Comparison, value: unknown): string {
  const text = String(value)
  if (attribute.type === 'dateTime') {
    const moment = readMoment(text)
    if (moment !== undefined) return moment.toISOString()
    throw invalidFilter(`\`${attribute.name}\` is compared with a date and time, such as 2026-01-31T09:00:00Z`)
  }
  if (attribute.type === 'boolean') {
    if (!/^(true|false)$/i.test(text) || (op !== 'eq' && op !== 'ne')) {
      throw invalidFilter(`\`${attribute.name}\` is compared with \`eq\` or \`ne\`, and true or false`)
    }
  }
  return searchedText(attribute, text)
}

/** A value in the form in which it is searched: in lower case unless case counts. */
export function searchedText({ caseExact }: Pick<Attribute, 'caseExact'>, text: string): string {
  const whole = text.normalize('NFC')
  return caseExact ? whole : whole.toLowerCase()
}

/** A name in the form in which it is searched, and in which two are the same. */
export const searchedName = (name: string): string => searchedText({ caseExact: false }, name)

/** Whether a value of a list (`{type: "work", value: …}`) is one that the filter chooses. */
export function chooses(filter: Filter, attribute: Attribute, element: Record<string, unknown>): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((one) => chooses(one, attribute, element))
    case 'or':
      return filter.filters.some((one) => chooses(one, attribute, element))
    case 'not':
      return !chooses(filter.filter, attribute, element)
    case 'of':
    case 'nothing':
      return false
    default:
      return leafHolds(filter, attribute, element)
  }
}

function leafHolds(leaf: Leaf, attribute: Attribute, element: Record<string, unknown>): boolean {
  const name = leaf.path.slice(attribute.name.length + 1)
  const part = findAttribute(attribute.subAttributes, name)
  const value = element[name]
  if (leaf.op === 'pr') return value !== undefined
  if (part === undefined || value === undefined) return leaf.op === 'ne'
  const text = searchedText(part, String(value))
  return compares[leaf.op](text, leaf.value)
}

const compares: Record<Comparison, (text: string, other: string) => boolean> = {
  eq: (text, other) => text === other,
  ne: (text, other) => text !== other,
  co: (text, other) => text.includes(other),
  sw: (text, other) => text.startsWith(other),
  ew: (text, other) => text.endsWith(other),
  gt: (text, other) => inOrder(text, other) > 0,
  ge: (text, other) => inOrder(text, other) >= 0,
  lt: (text, other) => inOrder(text, other) < 0,
  le: (text, other) => inOrder(text, other) <= 0,
}

/** As the database orders texts: by their characters, not by the halves of them. */
const inOrder = (text: string, other: string) => Buffer.compare(Buffer.from(text), Buffer.from(other))
