import { storableText } from '../../../kernel/foreign-text.ts'
import { onOneLine } from '../../../kernel/one-line-name.ts'
import { TargetError } from '../../../provisioners/driver.ts'
import type { Entry } from './read-message.ts'

const maxIdLength = 255
const guidBytes = 16
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** All values of an attribute. */
export function valuesOf({ attributes }: Entry, name: string): readonly Buffer[] {
  return attributes.get(name.toLowerCase()) ?? []
}

/** The values of an attribute that are texts, sorted: LDAP gives them no order. */
export function textsOf(entry: Entry, name: string): string[] {
  return valuesOf(entry, name)
    .map((value) => storableText(decode(value) ?? '').trim())
    .filter((text) => text !== '')
    .sort()
}

/** The first text of the first of these attributes that the entry has. */
export function firstText(entry: Entry, names: readonly string[]): string | undefined {
  for (const name of names) {
    const [text] = textsOf(entry, name)
    if (text !== undefined) return text
  }
  return undefined
}

/** The id of an entry. @throws TargetError where it has none, or more than one */
export function idOf(entry: Entry, names: readonly string[]): string {
  const listed = names.map((name) => `\`${name}\``).join(' or ')
  for (const name of names) {
    const [value, ...more] = valuesOf(entry, name)
    if (value === undefined) continue
    const id = name.toLowerCase() === 'objectguid' ? guidText(value) : decode(value)
    if (more.length > 0 || id === undefined || !isId(id)) {
      throw new TargetError(
        'permanent',
        `\`${shortDn(entry)}\` has a \`${name}\` that is no id: set \`id_attribute\` to an attribute with one short text that never changes`,
      )
    }
    return id
  }
  throw new TargetError(
    'permanent',
    `\`${shortDn(entry)}\` shows no ${listed}: let \`bind_dn\` read it, or set \`id_attribute\` to an attribute that never changes`,
  )
}

/** The entry's name for messages. */
export function shortDn({ dn }: Entry): string {
  return onOneLine(dn).slice(0, 200)
}

/** A GUID as Active Directory's own tools show it: the first three groups of bytes are stored in reverse. Undefined for another length. */
export function guidText(bytes: Buffer): string | undefined {
  if (bytes.length !== guidBytes) return undefined
  const reversed = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).reverse().toString('hex')
  const plain = (from: number, to: number) => bytes.toString('hex', from, to)
  return [reversed(0, 4), reversed(4, 6), reversed(6, 8), plain(8, 10), plain(10, 16)].join('-')
}

function isId(text: string): boolean {
  return text.length > 0 && text.length <= maxIdLength && !/[\p{Cc}\s]/u.test(text)
}

function decode(value: Buffer): string | undefined {
  try {
    return decoder.decode(value)
  } catch {
    return undefined
  }
}
