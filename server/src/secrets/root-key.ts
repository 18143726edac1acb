import { hkdfSync } from 'node:crypto'

const keyLength = 32
const hex = /^[0-9a-fA-F]{64}$/

/** A key that other keys are derived from, and its fingerprint, which tells nothing of it. */
export type RootKey = { id: string; bytes: Buffer }

/** The root keys of an installation: one, or while they are being changed several. */
export type RootKeys = {
  /** Every key that opens, the newest first. */
  all(): readonly [RootKey, ...RootKey[]]
  /** The key of this id, looked for anew where it is not known; undefined where it is not here. */
  find(id: string): RootKey | undefined
  /** The key that wraps and seals now: the first until the database has told which. */
  inUse(): RootKey
  /** Told which key the database says is in use. One that is not here is passed over. */
  use(id: string): void
}

/** The list as it is now, since a running process has to learn of a new key; empty where nothing is new. */
type Reread = (asked: 'at once' | 'now and then') => readonly RootKey[]

/** Root keys of a list, the newest first; read anew when one is not known, and now and then when all are wanted. */
export function rootKeysOf(first: readonly RootKey[], reread?: Reread): RootKeys {
  let keys = withOne(first)
  // INVARIANT: a key that comes to the list later seals nothing before the database says so: others may not have it yet.
  let used = keys[0].id
  const look = (asked: Parameters<Reread>[0]) => {
    const found = reread?.(asked) ?? []
    if (found.length > 0) keys = withOne(found)
    return keys
  }
  const find = (id: string) => keys.find((key) => key.id === id) ?? look('at once').find((key) => key.id === id)
  return {
    all: () => look('now and then'),
    find,
    inUse: () => keys.find((key) => key.id === used) ?? keys[0],
    use(id) {
      if (find(id) !== undefined) used = id
    },
  }
}

/** A root key of these 32 bytes. */
export function rootKeyOf(bytes: Buffer): RootKey {
  return { bytes, id: deriveKey(bytes, 'root-key-id').subarray(0, 8).toString('hex') }
}

/**
 * A key of 32 bytes for one purpose, such as `cursor` or `tenant-key`: always the same for the same root and purpose;
 * none tells anything about another.
 */
export function deriveKey(root: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', root, '', purpose, keyLength))
}

/** Keys for one purpose: `inUse` seals, all open, the newest first. */
export type DerivedKeys = { inUse(): Buffer; all(): readonly Buffer[] }

/** For what lives for minutes and is sealed all the time: each is derived once. */
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
 * 32 bytes from hexadecimal, base64 or base64url.
 * @throws Error that names what holds it. The text itself is never shown: it may be a key with one slip
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
