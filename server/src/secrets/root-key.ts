import { hkdfSync, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const keyLength = 32
const hex = /^[0-9a-fA-F]{64}$/

/** The key that every other key of this installation is derived from. */
export type RootKey = Buffer

/**
 * The root key: `secretKey` (the setting SECRET_KEY) when given, else the file `secret.key` in `dataDir`, made at the first
 * start. Whoever loses it loses every sealed secret; whoever reads it reads them. With `isSealed` nothing is made: another
 * key opens nothing that is there.
 * @throws Error with the sentence to show the operator: a key that is missing or of the wrong form, or a file that others may read
 */
export function loadRootKey(from: { secretKey?: string | undefined; dataDir: string; isSealed?: boolean }): RootKey {
  if (from.secretKey !== undefined) return readKey(from.secretKey, 'SECRET_KEY')
  const path = join(from.dataDir, 'secret.key')
  if (!exists(path) && from.isSealed) {
    throw new Error(
      `\`${path}\` is missing, and what is secret in this database was sealed with it: put it back, or set SECRET_KEY to what ` +
        'it held. To begin anew without what is there, delete the database too',
    )
  }
  if (!exists(path)) makeKeyFile(path, from.dataDir)
  requirePrivate(path)
  return readKey(readFileSync(path, 'utf8'), `\`${path}\``)
}

/**
 * A key of 32 bytes for one purpose, such as `cursor` or `seal:<tenant id>`: always the same for the same root and purpose;
 * none tells anything about another.
 */
export function deriveKey(root: RootKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', root, '', purpose, keyLength))
}

/** 32 bytes from hexadecimal, base64 or base64url. The text itself is never shown: it may be a key with one slip. */
function readKey(text: string, name: string): RootKey {
  const trimmed = text.trim()
  if (hex.test(trimmed)) return Buffer.from(trimmed, 'hex')
  const bytes = Buffer.from(trimmed, 'base64')
  const spellings = [bytes.toString('base64'), bytes.toString('base64url')]
  const canonical = spellings.some((spelling) => spelling.replace('=', '') === trimmed.replace('=', ''))
  if (bytes.length !== keyLength || !canonical) {
    throw new Error(`${name} must be 32 bytes in base64 or hexadecimal: make one with \`openssl rand -base64 32\``)
  }
  return bytes
}

/**
 * Makes the file whole or not at all: written beside its place under a name of its own, then linked into place, which fails
 * when another process was quicker. Then that one's key counts.
 */
function makeKeyFile(path: string, dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = openSync(draft, 'wx', 0o600)
    writeFileSync(file, `${randomBytes(keyLength).toString('base64')}\n`)
    fsyncSync(file)
    closeSync(file)
    linkSync(draft, path)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Windows has no such bits: there the folder's own rights stand guard. */
function requirePrivate(path: string): void {
  const othersMay = statSync(path).mode & 0o077
  if (othersMay === 0 || process.platform === 'win32') return
  throw new Error(`\`${path}\` may be read or changed by others on this machine: type \`chmod 600 '${path}'\``)
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
