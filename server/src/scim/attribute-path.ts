import {
  type Attribute,
  commonAttributes,
  externalId,
  findAttribute,
  ignoredAttributes,
  type ResourceKind,
} from './attribute.ts'

/** What a path names: an attribute, and one of its parts; of a list perhaps the values that a filter chooses. */
export type AttributePath = {
  attribute: Attribute
  sub: Attribute | undefined
  /** The text in the brackets. */
  filter: string | undefined
  /** The URI of the extension, for its attributes. */
  extension: string | undefined
}

/** A path that leads to no attribute: `ignored` for what is accepted and not kept, such as a schema that is not known here. */
export type NoPath = 'ignored' | 'unknown'

const form = /^(\$?[a-z][\w$-]*)(?:\[(.*)\])?(?:\.(\$?[a-z][\w$-]*))?$/is

/** Reads a path of a patch, a filter or a list of attributes: with or without the URI of its schema, in whatever case. */
export function readPath(kind: ResourceKind, text: string): AttributePath | NoPath {
  const { schema, rest } = withoutSchema(kind, text.trim())
  if (schema === 'foreign') return 'ignored'
  const parts = form.exec(rest)
  if (parts === null) return 'unknown'
  const [, name = '', filter, subName] = parts
  if (ignoredAttributes.has(name.toLowerCase())) return 'ignored'
  const found = findNamed(kind, name, schema === 'extension')
  if (found === undefined) return 'unknown'
  const sub = subName === undefined ? undefined : findAttribute(found.attribute.subAttributes, subName)
  if (subName !== undefined && sub === undefined) return 'unknown'
  if (filter !== undefined && !found.attribute.multiValued) return 'unknown'
  return { ...found, sub, filter }
}

/** Whether the text is the URI of the kind's extension, which stands for the whole of it. */
export function isExtension({ extension }: ResourceKind, text: string): boolean {
  return extension?.schema.toLowerCase() === text.trim().toLowerCase()
}

function withoutSchema({ schema, extension }: ResourceKind, text: string) {
  const lower = text.toLowerCase()
  for (const [uri, which] of [
    [extension?.schema, 'extension'],
    [schema, 'core'],
  ] as const) {
    if (uri !== undefined && lower.startsWith(`${uri.toLowerCase()}:`)) {
      return { schema: which, rest: text.slice(uri.length + 1) }
    }
  }
  return lower.startsWith('urn:') ? ({ schema: 'foreign', rest: '' } as const) : { schema: undefined, rest: text }
}

/** Directories also send the attributes of the extension without its URI; no core attribute has such a name. */
function findNamed({ attributes, extension }: ResourceKind, name: string, isOfExtension: boolean) {
  const core = isOfExtension ? undefined : findAttribute([...attributes, ...commonAttributes], name)
  if (core !== undefined) return { attribute: core, extension: undefined }
  const attribute = extension && findAttribute(extension.attributes, name)
  return attribute && { attribute, extension: extension.schema }
}

/** The attributes that a client may write at the top of a resource. */
export function writableAttributes({ attributes }: ResourceKind): readonly Attribute[] {
  return [externalId, ...attributes]
}
