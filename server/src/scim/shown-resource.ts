import { ScimProblem } from '../http/scim-problem.ts'
import { isObject } from '../kernel/is-object.ts'
import type { ResourceKind } from './attribute.ts'
import { readPath } from './attribute-path.ts'
import type { Resource } from './read-resource.ts'

/** Which attributes a client wants to see: these alone, or all but these. */
export type Selection = { only?: readonly string[]; without?: readonly string[] }

const maxPaths = 100

/**
 * Reads `attributes` and `excludedAttributes` of a query. An attribute that is not known is left out.
 * @throws ScimProblem 400 for both at once
 */
export function readSelection(kind: ResourceKind, query: Record<string, unknown>): Selection {
  const [only, without] = [query.attributes, query.excludedAttributes].map((sent) => pathsIn(kind, sent))
  if (only !== undefined && without !== undefined) {
    throw new ScimProblem(400, 'send `attributes` or `excludedAttributes`, not both', 'invalidValue')
  }
  return { ...(only !== undefined && { only }), ...(without !== undefined && { without }) }
}

function pathsIn(kind: ResourceKind, sent: unknown): string[] | undefined {
  // Cut before it is read, too: a body has room for a hundred thousand.
  const texts = [sent]
    .flat()
    .slice(0, maxPaths)
    .filter((one) => typeof one === 'string')
  const paths = texts.flatMap((text) => text.split(',', maxPaths)).filter((text) => text.trim() !== '')
  if (paths.length === 0) return undefined
  return paths.slice(0, maxPaths).flatMap((text) => {
    if (kind.extension?.schema.toLowerCase() === text.trim().toLowerCase()) return [kind.extension.schema]
    const found = readPath(kind, text)
    if (typeof found === 'string') return []
    const { attribute, sub, extension } = found
    return [[extension, attribute.name, sub?.name].filter((part) => part !== undefined).join(' ')]
  })
}

/** Whether the answer shows an attribute, or a part of it. */
export function isShown({ only, without }: Selection, name: string): boolean {
  if (only !== undefined) return only.some((path) => path === name || path.startsWith(`${name} `))
  return !without?.includes(name)
}

/** The resource as far as it is wanted. `id` and `schemas` are always shown. */
export function selected(resource: Resource, selection: Selection): Resource {
  if (selection.only === undefined && selection.without === undefined) return resource
  return pick(resource, selection, []) as Resource
}

/** `parts`: not as a whole, but perhaps something in it. */
function isWanted(path: readonly string[], { only, without }: Selection): boolean | 'parts' {
  const text = path.join(' ')
  if (text === 'id' || text === 'schemas') return true
  if (without !== undefined) return without.includes(text) ? false : 'parts'
  if (only?.includes(text)) return true
  return only?.some((one) => one.startsWith(`${text} `)) ? 'parts' : false
}

function pick(value: unknown, selection: Selection, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => pick(one, selection, path)).filter((one) => !isEmpty(one))
  if (!isObject(value)) return value
  const kept = Object.entries(value).flatMap(([name, part]) => {
    const wanted = isWanted([...path, name], selection)
    if (wanted === false) return []
    const inside = wanted === 'parts' ? pick(part, selection, [...path, name]) : part
    return isEmpty(inside) ? [] : [[name, inside]]
  })
  return Object.fromEntries(kept)
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}
