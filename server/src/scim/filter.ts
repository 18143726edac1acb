/** The filters of lists and of paths (RFC 7644, section 3.4.2.2), read against the attributes of a kind of resource. */
import { type AttrExp, type Filter as ParsedFilter, parse } from 'scim2-parse-filter'
import { ScimProblem } from '../http/scim-problem.ts'
import type { Attribute, ResourceKind } from './attribute.ts'
import { findAttribute } from './attribute.ts'
import { readPath } from './attribute-path.ts'

export const comparisons = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type Comparison = (typeof comparisons)[number]

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

/** Bytes are few, and comparisons fewer: one filter never costs as much as a list of all. */
export const maxFilterLength = 2_000
const maxComparisons = 50

/** @throws ScimProblem 400 `invalidFilter` */
export function readFilter(kind: ResourceKind, text: string): Filter {
  const parsed = parseText(text)
  const state = { kind, left: maxComparisons, mergesSubs: hasSubOfValues(text) }
  return resolve(parsed, state, undefined)
}

/** The filter in the brackets of a path: its attributes are parts of that attribute. */
export function readValueFilter(kind: ResourceKind, attribute: Attribute, text: string): Filter {
  return resolve(parseText(text), { kind, left: maxComparisons, mergesSubs: false }, attribute)
}

const invalid = (message: string) => new ScimProblem(400, message, 'invalidFilter')

function parseText(text: string): ParsedFilter {
  if (text.length > maxFilterLength) throw invalid(`the filter is longer than ${maxFilterLength} characters`)
  // The parser knows JSON's words alone; Entra ID sends `True`.
  const spelled = text.replaceAll(
    /("(?:[^"\\]|\\.)*")|\b(true|false|null)\b/gi,
    (word, quoted) => quoted ?? word.toLowerCase(),
  )
  try {
    return parse(spelled)
  } catch {
    throw invalid('the filter is not one of RFC 7644, such as `userName eq "ada@example.com"`')
  }
}

/** `emails[type eq "work"].value eq "x"`: both conditions are about one value, which the parser does not say. */
function hasSubOfValues(text: string): boolean {
  return /\]\s*\.\s*\w/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'))
}

type State = { kind: ResourceKind; left: number; readonly mergesSubs: boolean }

function resolve(parsed: ParsedFilter, state: State, within: Attribute | undefined): Filter {
  if (parsed.op === 'not') return { op: 'not', filter: resolve(parsed.filter, state, within) }
  if (parsed.op === 'and' || parsed.op === 'or') {
    const filters = parsed.filters.map((one) => resolve(one, state, within))
    return { op: parsed.op, filters: parsed.op === 'and' && state.mergesSubs ? merged(filters) : filters }
  }
  state.left -= 1
  if (state.left < 0) throw invalid(`the filter has more than ${maxComparisons} comparisons`)
  if (parsed.op === '[]') {
    const found = within === undefined ? readPath(state.kind, parsed.attrPath) : 'unknown'
    if (found === 'ignored') return { op: 'nothing' }
    if (found === 'unknown' || !found.attribute.multiValued) throw unknownAttribute(parsed.attrPath)
    return { op: 'of', attribute: found.attribute.name, filter: resolve(parsed.valFilter, state, found.attribute) }
  }
  return comparisonOf(parsed as AttrExp, state.kind, within)
}

function comparisonOf(parsed: AttrExp, kind: ResourceKind, within: Attribute | undefined): Filter {
  const place = within === undefined ? placeOf(kind, parsed.attrPath) : partOf(within, parsed.attrPath)
  if (place === 'ignored') return { op: 'nothing' }
  return leavesOf(place, parsed.op, parsed.op === 'pr' ? undefined : parsed.compValue)
}

/** Joins each condition on a part to the one before it on the values of its list. */
function merged(filters: readonly Filter[]): readonly Filter[] {
  const joined: Filter[] = []
  for (const next of filters) {
    const before = joined.at(-1)
    if (before?.op === 'of' && 'path' in next && next.path.startsWith(`${before.attribute}.`)) {
      joined[joined.length - 1] = { ...before, filter: { op: 'and', filters: [before.filter, next] } }
    } else joined.push(next)
  }
  return joined
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

const unknownAttribute = (text: string) => invalid(`\`${text.slice(0, 100)}\` is not an attribute that can be searched`)

/** A comparison with a complex attribute means its `value`; it is present where one of its parts is. */
function leavesOf({ path, attribute }: Place, op: Comparison | 'pr', value: unknown): Filter {
  if (attribute.type === 'complex') {
    const parts = attribute.subAttributes.map((part) => ({ path: `${path}.${part.name}`, attribute: part }))
    if (op === 'pr') return { op: 'or', filters: parts.map((part) => ({ op: 'pr', path: part.path })) }
    const ofValue = parts.find((part) => part.attribute.name === 'value')
    if (ofValue === undefined) throw invalid(`\`${path}\` has parts: compare one of them`)
    return leavesOf(ofValue, op, value)
  }
  if (op === 'pr') return { op, path }
  if (value === null) {
    if (op === 'eq') return { op: 'not', filter: { op: 'pr', path } }
    if (op === 'ne') return { op: 'pr', path }
    throw invalid('only `eq` and `ne` compare with null')
  }
  return { op, path, type: attribute.type, value: comparedText(attribute, op, value) }
}

/** The compared value as a text, in the form in which values are searched. */
function comparedText(attribute: Attribute, op: Comparison, value: unknown): string {
  const text = String(value)
  if (attribute.type === 'dateTime') {
    if (Number.isNaN(Date.parse(text))) throw invalid(`\`${attribute.name}\` is compared with a date and time`)
    return new Date(text).toISOString()
  }
  if (attribute.type === 'boolean') {
    if (!/^(true|false)$/i.test(text) || (op !== 'eq' && op !== 'ne')) {
      throw invalid(`\`${attribute.name}\` is compared with \`eq\` or \`ne\`, and true or false`)
    }
  }
  return searchedText(attribute, text)
}

/** A value in the form in which it is searched: in lower case unless case counts. */
export function searchedText({ caseExact }: Pick<Attribute, 'caseExact'>, text: string): string {
  const whole = text.normalize('NFC')
  return caseExact ? whole : whole.toLowerCase()
}

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
  gt: (text, other) => text > other,
  ge: (text, other) => text >= other,
  lt: (text, other) => text < other,
  le: (text, other) => text <= other,
}
