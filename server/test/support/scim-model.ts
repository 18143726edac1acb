import type { Comparison, ParsedFilter } from '../../src/scim/filter-grammar.ts'

/** What a filter means, said once more and plainly: over the documents that the service answers with. It shares no code but the grammar. */
type Document = Record<string, unknown>

/** Texts that differ in case are two: by the schemas of RFC 7643. */
const caseExact = new Set([
  'id',
  'externalid',
  'profileurl',
  'manager',
  'manager.value',
  'members',
  'members.value',
  'meta.resourcetype',
])

export function finds(filter: ParsedFilter, document: Document, within = ''): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((one) => finds(one, document, within))
    case 'or':
      return filter.filters.some((one) => finds(one, document, within))
    case 'not':
      return !finds(filter.filter, document, within)
    case 'of':
      return elementsAt(document, filter.path).some((one) => finds(filter.filter, one as Document, `${filter.path}.`))
    case 'pr':
      return valuesAt(document, filter.path).length > 0
    default: {
      const exact = caseExact.has(`${within}${filter.path}`.toLowerCase())
      const plain = (value: unknown) => {
        const text = String(value).normalize('NFC')
        return exact ? text : text.toLowerCase()
      }
      if (filter.value === null) return (filter.op === 'eq') === (valuesAt(document, filter.path).length === 0)
      const values = valuesAt(document, filter.path, true).map(plain)
      const other = plain(filter.value)
      if (filter.op === 'ne') return !values.includes(other)
      const { op } = filter
      return values.some((value) => compares[op](value, other))
    }
  }
}

const inOrder = (text: string, other: string) => Buffer.compare(Buffer.from(text), Buffer.from(other))

const compares: Record<Exclude<Comparison, 'ne'>, (text: string, other: string) => boolean> = {
  eq: (text, other) => text === other,
  co: (text, other) => text.includes(other),
  sw: (text, other) => text.startsWith(other),
  ew: (text, other) => text.endsWith(other),
  gt: (text, other) => inOrder(text, other) > 0,
  ge: (text, other) => inOrder(text, other) >= 0,
  lt: (text, other) => inOrder(text, other) < 0,
  le: (text, other) => inOrder(text, other) <= 0,
}

function elementsAt(document: Document, path: string): unknown[] {
  return path.split('.').reduce<unknown[]>((values, name) => values.flatMap((one) => partOf(one, name)), [document])
}

function partOf(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  // The attributes of the extension are found without its URI too.
  const places = [value, ...Object.entries(value).flatMap(([key, part]) => (key.startsWith('urn:') ? [part] : []))]
  const found = places
    .flatMap((place) => Object.entries(place as Document))
    .find(([key]) => key.toLowerCase() === name.toLowerCase())
  return found === undefined ? [] : [found[1]].flat()
}

/** The values at a path. A comparison with what has parts means its `value`. */
function valuesAt(document: Document, path: string, compared = false): unknown[] {
  const values = elementsAt(document, path)
  if (!compared) return values
  return values.flatMap((one) => (typeof one === 'object' && one !== null ? partOf(one, 'value') : [one]))
}
