import { hkdfSync } from 'node:crypto'

const keyLength = 32
const hex = /^[0-9a-fA-F]{64}$/

/** A key that other keys are derived from. `id` is its fingerprint, which reveals nothing about the key. */
export type RootKey = { id: string; bytes: Buffer }

/** The root keys of an installation: one, or several during a rotation. */
export type RootKeys = {
  /** Every key that can open values, the newest first. */
  all(): readonly [RootKey, ...RootKey[]]
  /** The key with this id. Rereads the list when the id is unknown; undefined when the key is not here. */
  find(id: string): RootKey | undefined
  /** The key that wraps and seals now: the first one until the database has named another. */
  inUse(): RootKey
  /** Sets the key that the database says is in use. An id that is not here is ignored. */
  use(id: string): void
}

/** Returns the current list, so that a running process learns of a new key; empty when there is nothing new. */
type Reread = (when: 'at once' | 'now and then') => readonly RootKey[]

/** Root keys from a list, the newest first. The list is reread at once for an unknown id, and now and then by `all`. */
export function rootKeysOf(first: readonly RootKey[], reread?: Reread): RootKeys {
  let keys = withOne(first)
  // INVARIANT: a key added to the list later seals nothing before the database says so: other processes may not have it yet.
  let used = keys[0].id
  const refresh = (when: Parameters<Reread>[0]) => {
    const found = reread?.(when) ?? []
    if (found.length > 0) keys = withOne(found)
    return keys
  }
  const find = (id: string) => keys.find((key) => key.id === id) ?? refresh('at once').find((key) => key.id === id)
  return {
    all: () => refresh('now and then'),
    find,
    inUse: () => keys.find((key) => key.id === used) ?? keys[0],
    use(id) {
      if (find(id) !== undefined) used = id
    },
  }
}

/** Makes a root key of these 32 bytes. */
export function rootKeyOf(bytes: Buffer): RootKey {
  return { bytes, id: deriveKey(bytes, 'root-key-id').subarray(0, 8).toString('hex') }
}

/**
 * Derives a key of 32 bytes for one purpose, such as `cursor` or `tenant-key`. It is always the same for the same root and
 * purpose, and reveals nothing about other keys.
 */
export function deriveKey(root: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', root, '', purpose, keyLength))
}

/** Keys for one purpose: `inUse` seals, any of `all` opens, the newest first. */
export type DerivedKeys = { inUse(): Buffer; all(): readonly Buffer[] }

/** Derives each key once, for short-lived values that are sealed all the time. */
export function derivedKeys(roots: RootKeys, purpose: string): DerivedKeys {
  const derived = new Map<string, Buffer>()
  const keyOf = ({ id, bytes }: RootKey) => {
    const known = derived.get(id) ?? deriveKey(bytes, purpose)
    derived.set(id, known)
    return known
  }
  return { inUse: () => keyOf(roots.inUse()), all: () => roots.all().map(keyOf) }
}

/**
 * Reads 32 bytes from hexadecimal, base64 or base64url.
 * @throws Error that names the source. It never shows the text, which may be a key with one typing error
 */
export function readRootKey(text: string, name: string): RootKey {
  const trimmed = text.trim()
  if (hex.test(trimmed)) return rootKeyOf(Buffer.from(trimmed, 'hex'))
  const bytes = Buffer.from(trimmed, 'base64')
  const spellings = [bytes.toString('base64'), bytes.toString('base64url')]
  const canonical = spellings.some((spelling) => spelling.replace('=', '') === trimmed.replace('=', ''))
  if (bytes.length !== keyLength || !canonical) {
    throw new Error(`${name} must be 32 bytes in base64 or hexadecimal: make one with \`openssl rand -base64 32\``)
  }
  return rootKeyOf(bytes)
}

function withOne(keys: readonly RootKey[]): readonly [RootKey, ...RootKey[]] {
  const [first, ...rest] = keys
  if (first === undefined) throw new Error('there is no root key')
  return [first, ...rest]
}
