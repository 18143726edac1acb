import type { TSchema } from 'typebox'
import { jsonSchemaOf } from '../../src/http/schema.ts'

type Step = string | number
/** A place in a body: its path and its valid kinds of value. */
export type BodyField = { path: readonly Step[]; kinds: readonly string[]; words: boolean; schema: TSchema }

/** Keywords of a schema that the schema library's types hide. */
type Keywords = { type?: string | string[]; items?: TSchema; enum?: unknown[]; properties?: Record<string, TSchema> }

/** Every place that a body's schema names, the root first; of an array, its first item. */
export function fieldsOf(schema: TSchema, path: readonly Step[] = []): BodyField[] {
  const { type, items, properties = {}, ...rest } = jsonSchemaOf(schema) as Keywords
  const field: BodyField = { path, kinds: [type ?? []].flat(), words: rest.enum !== undefined, schema }
  return [
    field,
    ...Object.entries(properties).flatMap(([name, inner]) => fieldsOf(inner, [...path, name])),
    ...(items === undefined ? [] : fieldsOf(items, [...path, 0])),
  ]
}

/** An object whose keys the caller chooses, such as metadata. */
export function isFree({ kinds, schema }: BodyField): boolean {
  return kinds.includes('object') && jsonSchemaOf(schema).properties === undefined
}

/** The JSON pointer of a place. */
export function pointerOf(path: readonly Step[]): string {
  return path.map((step) => `/${step}`).join('')
}

const mark = '@put it here@'

/** The body as JSON with this raw text at the place. The text may be JSON that no object can produce. */
export function bodyWith(body: unknown, path: readonly Step[], text: string): string {
  return JSON.stringify(put(body, path)).replace(JSON.stringify(mark), () => text)
}

function put(inside: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return mark
  if (typeof step === 'number') {
    const items = Array.isArray(inside) ? [...inside] : []
    items[step] = put(items[step], rest)
    return items
  }
  const object = typeof inside === 'object' && inside !== null ? inside : {}
  return { ...object, [step]: put((object as Record<string, unknown>)[step], rest) }
}
