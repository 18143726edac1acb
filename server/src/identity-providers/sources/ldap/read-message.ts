/**
 * Reads what an LDAP server sends (RFC 4511), strictly: each length must fit exactly. `ldapts` writes the requests. It does not read the
 * answers: a malformed message of 13 bytes keeps its reader in a loop until the memory of the process is used up.
 */

/** What a directory says of one thing. The names of attributes are in lower case, with their options, as in `member;range=0-1499`. */
export type Entry = { dn: string; attributes: ReadonlyMap<string, readonly Buffer[]> }

/** How an operation ended. `code`: 0 is success. */
export type Result = { code: number; diagnostic: string }

/** `cookie`: where the next page begins, empty after the last; undefined where the server said nothing of pages. */
export type Message = { id: number } & (
  | { kind: 'entry'; entry: Entry }
  | { kind: 'reference'; urls: string[] }
  | { kind: 'result'; of: 'bind' | 'search' | 'extended'; result: Result; cookie: Buffer | undefined }
)

type Element = { type: number; content: Buffer }

/** The first bytes of the elements that LDAP uses. */
const types = {
  integer: 0x02,
  text: 0x04,
  enumerated: 0x0a,
  sequence: 0x30,
  set: 0x31,
  bindResponse: 0x61,
  entry: 0x64,
  searchDone: 0x65,
  reference: 0x73,
  extendedResponse: 0x78,
  controls: 0xa0,
} as const

const results = new Map<number, 'bind' | 'search' | 'extended'>([
  [types.bindResponse, 'bind'],
  [types.searchDone, 'search'],
  [types.extendedResponse, 'extended'],
])

const pagesControl = '1.2.840.113556.1.4.319'
const maxLengthBytes = 4

/** The server does not speak LDAP. */
export class MalformedMessage extends Error {}

/**
 * The length of the message that begins here, with its head, in bytes; undefined while too little of it is here to know.
 * @throws MalformedMessage
 */
export function lengthOfMessage(bytes: Buffer): number | undefined {
  if (bytes.length > 0 && bytes[0] !== types.sequence) throw malformed()
  const head = readHead(bytes, 0)
  return head === undefined ? undefined : head.begin + head.length
}

/** One whole message. @throws MalformedMessage */
export function readMessage(bytes: Buffer): Message {
  const [whole] = elementsOf(bytes, 1)
  const [id, operation, controls] = elementsOf(contentOf(whole, types.sequence), 3)
  const base = { id: numberOf(id, types.integer) }
  const of = results.get(operation?.type ?? -1)
  if (operation === undefined) throw malformed()
  if (operation.type === types.entry) return { ...base, kind: 'entry', entry: readEntry(operation.content) }
  if (operation.type === types.reference) {
    return { ...base, kind: 'reference', urls: elementsOf(operation.content).map(textOf) }
  }
  if (of === undefined) throw malformed()
  return { ...base, kind: 'result', of, result: readResult(operation.content), cookie: readCookie(controls) }
}

function readEntry(content: Buffer): Entry {
  const [dn, list] = elementsOf(content, 2)
  const attributes = new Map<string, readonly Buffer[]>()
  for (const attribute of elementsOf(contentOf(list, types.sequence))) {
    const [name, values] = elementsOf(contentOf(attribute, types.sequence), 2)
    attributes.set(
      textOf(name).toLowerCase(),
      elementsOf(contentOf(values, types.set)).map((value) => contentOf(value, types.text)),
    )
  }
  return { dn: textOf(dn), attributes }
}

/** What follows the diagnostic text depends on the operation, and is not needed: a referral, a name. */
function readResult(content: Buffer): Result {
  const [code, , diagnostic] = elementsOf(content)
  return { code: numberOf(code, types.enumerated), diagnostic: textOf(diagnostic) }
}

function readCookie(controls: Element | undefined): Buffer | undefined {
  if (controls === undefined) return undefined
  for (const control of elementsOf(contentOf(controls, types.controls))) {
    const parts = elementsOf(contentOf(control, types.sequence), 3)
    if (textOf(parts[0]) !== pagesControl) continue
    const [value] = elementsOf(contentOf(parts.at(-1), types.text), 1)
    const [, cookie] = elementsOf(contentOf(value, types.sequence), 2)
    return contentOf(cookie, types.text)
  }
  return undefined
}

/** All elements of a content, which must end where the content does. */
function elementsOf(content: Buffer, max = Number.POSITIVE_INFINITY): Element[] {
  const found: Element[] = []
  let at = 0
  while (at < content.length) {
    const head = readHead(content, at)
    if (head === undefined || head.begin + head.length > content.length || found.length === max) throw malformed()
    found.push({ type: content[at] ?? 0, content: content.subarray(head.begin, head.begin + head.length) })
    at = head.begin + head.length
  }
  return found
}

/** Where the content of the element begins, and its length; undefined if its head is not all here. */
function readHead(bytes: Buffer, at: number): { begin: number; length: number } | undefined {
  const first = bytes[at + 1]
  if (first === undefined) return undefined
  if (first < 0x80) return { begin: at + 2, length: first }
  const count = first - 0x80
  // None: the length is not known. LDAP does not allow that.
  if (count === 0 || count > maxLengthBytes) throw malformed()
  const begin = at + 2 + count
  return begin > bytes.length ? undefined : { begin, length: bytes.readUIntBE(at + 2, count) }
}

function contentOf(element: Element | undefined, type: number): Buffer {
  if (element?.type !== type) throw malformed()
  return element.content
}

function textOf(element: Element | undefined): string {
  return contentOf(element, types.text).toString('utf8')
}

function numberOf(element: Element | undefined, type: number): number {
  const content = contentOf(element, type)
  if (content.length === 0 || content.length > maxLengthBytes) throw malformed()
  return content.readIntBE(0, content.length)
}

function malformed(): MalformedMessage {
  return new MalformedMessage('it does not speak LDAP')
}
