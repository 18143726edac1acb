/** Other names of the attributes that names are made of (RFC 4514, section 3; RFC 4519). */
const shortNames = new Map(
  [
    ['cn', 'commonname', '2.5.4.3'],
    ['sn', 'surname', '2.5.4.4'],
    ['c', 'countryname', '2.5.4.6'],
    ['l', 'localityname', '2.5.4.7'],
    ['st', 'stateorprovincename', '2.5.4.8'],
    ['street', 'streetaddress', '2.5.4.9'],
    ['o', 'organizationname', '2.5.4.10'],
    ['ou', 'organizationalunitname', '2.5.4.11'],
    ['dc', 'domaincomponent', '0.9.2342.19200300.100.1.25'],
    ['uid', 'userid', '0.9.2342.19200300.100.1.1'],
    ['mail', 'rfc822mailbox', '0.9.2342.19200300.100.1.3'],
  ].flatMap(([short = '', ...others]) => others.map((other) => [other, short] as const)),
)

const maxDnLength = 8_192
/** An attribute's name at the beginning of what is left. */
const namePart = /\s*([A-Za-z][A-Za-z0-9-]*|(?:oid\.)?\d+(?:\.\d+)*)\s*=\s*/iy
/** Everything in a value up to its end or an escape. A quote must be escaped. */
const plainPart = /[^,+;\\"]+/y
const escapedPart = /\\(?:([0-9A-Fa-f]{2})|([ "#+,;<=>\\]))/y

/**
 * One spelling for all spellings of a DN (RFC 4514): names of attributes and values without regard to case, without insignificant spaces,
 * with the same escapes. Undefined for what is no DN.
 */
export function dnKey(dn: string): string | undefined {
  if (dn.trim() === '' || dn.length > maxDnLength) return undefined
  const names: string[] = []
  let parts: string[] = []
  let at = 0
  for (;;) {
    const part = readPart(dn, at)
    if (part === undefined) return undefined
    parts.push(`${part.name}=${part.value}`)
    const mark = dn[part.end]
    if (mark !== '+') {
      names.push(parts.sort().join('+'))
      parts = []
    }
    if (mark === undefined) return names.join(',')
    at = part.end + 1
  }
}

/** One attribute and its value, and where what follows it begins. */
function readPart(dn: string, at: number): { name: string; value: string; end: number } | undefined {
  const named = matchAt(namePart, dn, at)
  if (named?.[1] === undefined) return undefined
  const value = readValue(dn, at + named[0].length)
  if (value === undefined) return undefined
  const name = named[1].toLowerCase().replace(/^oid\./, '')
  return { name: shortNames.get(name) ?? name, value: valueKey(value.text), end: value.end }
}

/** A value with its escapes replaced. Escaped bytes are UTF-8. */
function readValue(dn: string, begin: number): { text: string; end: number } | undefined {
  const whole = matchAt(plainPart, dn, begin)?.[0] ?? ''
  if (isEnd(dn[begin + whole.length])) return { text: whole, end: begin + whole.length }
  const pieces: Buffer[] = []
  let at = begin
  while (!isEnd(dn[at])) {
    const plain = matchAt(plainPart, dn, at)
    const escaped = plain === undefined ? matchAt(escapedPart, dn, at) : undefined
    const found = plain ?? escaped
    if (found === undefined) return undefined
    const [, hex, character] = escaped ?? []
    pieces.push(hex === undefined ? Buffer.from(character ?? found[0]) : Buffer.from(hex, 'hex'))
    at += found[0].length
  }
  return { text: Buffer.concat(pieces).toString('utf8'), end: at }
}

/** As servers compare names: without regard to case, and with one space where there are several (RFC 4518). */
function valueKey(text: string): string {
  const folded = text.normalize('NFKC').toLowerCase().trim().replace(/\s+/g, ' ')
  return folded.replace(/[,+=\\]/g, '\\$&')
}

/** Whether a value ends here. */
function isEnd(character: string | undefined): boolean {
  return character === undefined || character === ',' || character === ';' || character === '+'
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}
