import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { newId } from '../kernel/id.ts'

/** What a key gives access to: the API, or one identity provider's SCIM endpoint. */
export type KeyKind = 'api' | 'scim'

/** The parts of a key's text: the record's id, and the hash that its secret must have. */
export type KeyText = { kind: KeyKind; id: string; secret_hash: Buffer }

const prefixes = { api: 'sp', scim: 'spscim' } as const satisfies Record<KeyKind, string>
const secretBytes = 32
const form = /^(sp|spscim)_([0-9a-f]{32})_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/

/**
 * A new key: `sp_<id>_<secret>_<checksum>`, or `spscim_…`. `text` is shown once and stored nowhere; `id` and `secret_hash`
 * (SHA-256) are stored. A plain hash is enough, because the secret has 256 random bits.
 */
export function makeKeyText(kind: KeyKind): { id: string; text: string; secret_hash: Buffer } {
  const id = newId()
  const secret = base62(BigInt(`0x${randomBytes(secretBytes).toString('hex')}`), 43)
  const body = `${prefixes[kind]}_${id.replaceAll('-', '')}_${secret}`
  return { id, text: `${body}_${checksumOf(body)}`, secret_hash: hashOf(secret) }
}

/**
 * Reads a key from a header; undefined when it lacks the form or the checksum of a key, so that typing errors and guesses
 * cost no database query. The caller checks in the database whether the key exists and is live, and uses `sameHash`.
 */
export function readKeyText(text: string): KeyText | undefined {
  const [, prefix, id = '', secret = '', checksum] = form.exec(text) ?? []
  if (prefix === undefined || checksumOf(`${prefix}_${id}_${secret}`) !== checksum) return undefined
  const kind = prefix === prefixes.api ? 'api' : 'scim'
  return { kind, id: id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'), secret_hash: hashOf(secret) }
}

/** Whether two hashes are equal, in constant time. */
export function sameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** The checksum catches typing errors and lets scanners recognize leaked keys; it is no protection. */
function checksumOf(body: string): string {
  return base62(BigInt(crc32(body)), 6)
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function base62(number: bigint, width: number): string {
  const digits: string[] = []
  for (let rest = number; rest > 0n; rest /= 62n) digits.unshift(letters.charAt(Number(rest % 62n)))
  return digits.join('').padStart(width, '0')
}
