import { isObject } from '../kernel/is-object.ts'
import { type Attribute, findAttribute, type ResourceKind } from './attribute.ts'
import { writableAttributes } from './attribute-path.ts'
import { searchedText } from './filter.ts'
import type { Resource } from './read-resource.ts'

/** One value of a resource as filters search it. `element`: the place of the value in its list. */
export type SearchedValue = { path: string; key: string; element: number }

/** Everything by which a resource can be found, but its id and its moments. Who is not said to be stopped is found as active. */
export function searchedValues(kind: ResourceKind, resource: Resource): SearchedValue[] {
  const inExtension = kind.extension === undefined ? undefined : resource[kind.extension.schema]
  return [
    ...valuesIn(writableAttributes(kind), kind.name === 'User' ? { active: true, ...resource } : resource),
    ...(isObject(inExtension) ? valuesIn(kind.extension?.attributes ?? [], inExtension) : []),
  ]
}

function valuesIn(attributes: readonly Attribute[], values: Record<string, unknown>): SearchedValue[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const attribute = findAttribute(attributes, name)
    return attribute === undefined ? [] : valuesOf(attribute, value)
  })
}

function valuesOf(attribute: Attribute, value: unknown): SearchedValue[] {
  return [value].flat().flatMap((one, element) => {
    if (!isObject(one)) return [{ path: attribute.name, key: searchedText(attribute, String(one)), element }]
    return valuesIn(attribute.subAttributes, one).map(({ path, key }) => ({
      path: `${attribute.name}.${path}`,
      key,
      element,
    }))
  })
}
