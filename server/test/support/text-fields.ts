import type { TSchema } from 'typebox'

/** The path to a place in a value: names of properties, and `[]` for an item of an array. */
export type Way = readonly string[]

type Keywords = {
  type?: string | string[]
  enum?: unknown[]
  format?: string
  properties?: Record<string, Keywords>
  items?: Keywords
}

/** Stands for any property of an object that allows all properties. */
const anyProperty = 'note'

/**
 * Every place for text in the values of a schema, including dates, ids and enumerated words: an attacker sends any text there.
 */
export function textFields(schema: TSchema | undefined): Way[] {
  return schema === undefined ? [] : waysIn(schema as unknown as Keywords)
}

function waysIn({ type, enum: words, properties, items }: Keywords): Way[] {
  const types = [type ?? (words === undefined ? [] : 'string')].flat()
  const below = (name: string, keywords: Keywords) => waysIn(keywords).map((way) => [name, ...way])
  if (types.includes('string')) return [[]]
  if (types.includes('array')) return items === undefined ? [['[]']] : below('[]', items)
  if (!types.includes('object')) return []
  if (properties === undefined) return [[anyProperty]]
  return Object.entries(properties).flatMap(([name, keywords]) => below(name, keywords))
}

/** The value with this text in that place; an array on the path is reduced to that item. */
export function withText(value: unknown, way: Way, text: string): unknown {
  const [name, ...rest] = way
  if (name === undefined) return text
  if (name === '[]') return [withText(Array.isArray(value) ? value[0] : undefined, rest, text)]
  const before = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return { ...before, [name]: withText(before[name], rest, text) }
}

/** The value in that place. */
export function textAt(value: unknown, way: Way): unknown {
  const [name, ...rest] = way
  if (name === undefined) return value
  const inside = Array.isArray(value) ? value[0] : (value as Record<string, unknown> | undefined)?.[name]
  return textAt(inside, rest)
}
