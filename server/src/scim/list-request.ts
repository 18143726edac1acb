import { ScimProblem } from '../http/scim-problem.ts'
import type { ResourceKind } from './attribute.ts'
import { readPath } from './attribute-path.ts'
import { type Filter, readFilter } from './filter.ts'
import { invalidFilter } from './filter-grammar.ts'
import { readSelection, type Selection } from './shown-resource.ts'

/** Which resources of a kind are listed: `start` is the place of the first one, from 1 on. */
export type ListRequest = {
  filter: Filter | undefined
  sort: { path: string; descending: boolean } | undefined
  start: number
  count: number
  selection: Selection
}

/** How many resources a page has, where the client does not say, and at most. */
export const pageSizes = { usual: 100, max: 200 } as const
/** How far a client pages: beyond it, it searches. */
const maxStart = 1_000_000

/** Reads the query of a list, or the body of a search (RFC 7644, sections 3.4.2 and 3.4.3). @throws ScimProblem 400 */
export function readListRequest(kind: ResourceKind, query: Readonly<Record<string, unknown>>): ListRequest {
  const { filter, sortBy, sortOrder, startIndex, count } = query
  return {
    filter: filterOf(kind, filter),
    sort: readSort(kind, sortBy, sortOrder),
    start: Math.min(Math.max(wholeNumber('startIndex', startIndex) ?? 1, 1), maxStart),
    count: Math.min(Math.max(wholeNumber('count', count) ?? pageSizes.usual, 0), pageSizes.max),
    selection: readSelection(kind, query),
  }
}

/** A filter that is none is refused: without it, everybody would be found. */
function filterOf(kind: ResourceKind, sent: unknown): Filter | undefined {
  if (sent === undefined || sent === null) return undefined
  if (typeof sent !== 'string') throw invalidFilter('`filter` must be one text')
  return sent.trim() === '' ? undefined : readFilter(kind, sent)
}

function wholeNumber(name: string, sent: unknown): number | undefined {
  if (sent === undefined || sent === '' || sent === null) return undefined
  const text = String(sent)
  if (!/^-?\d{1,9}$/.test(text)) throw new ScimProblem(400, `\`${name}\` must be a whole number`, 'invalidValue')
  return Number(text)
}

/** A list is sorted by its primary values: of a complex attribute by its `value`. Unknown attributes leave the order as it is. */
function readSort(kind: ResourceKind, sortBy: unknown, sortOrder: unknown): ListRequest['sort'] {
  if (typeof sortBy !== 'string' || sortBy === '') return undefined
  const found = readPath(kind, sortBy)
  if (typeof found === 'string') return undefined
  const { attribute, sub } = found
  const part = sub?.name ?? (attribute.type === 'complex' ? 'value' : undefined)
  const path = part === undefined ? attribute.name : `${attribute.name}.${part}`
  return { path, descending: typeof sortOrder === 'string' && sortOrder.toLowerCase() === 'descending' }
}

/** The answer with a page of resources. */
export function listResponse(page: { total: number; resources: readonly object[] }, start: number): object {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: page.total,
    startIndex: start,
    itemsPerPage: page.resources.length,
    Resources: page.resources,
  }
}
