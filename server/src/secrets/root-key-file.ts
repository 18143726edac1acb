import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type RootKey, type RootKeys, readRootKey, rootKeysOf } from './root-key.ts'

/** How often a running process looks at most, unasked, whether the file has got a new key. */
const rereadEveryMs = 1_000

/**
 * The root keys: `secretKey` (the setting SECRET_KEY, several parted by commas) when given, else the file `secret.key` in
 * `dataDir`, one a line, made at the first start. The newest stands first. Whoever loses them loses every sealed secret;
 * whoever reads them reads them all. With `isSealed` nothing is made: another key opens nothing that is there.
 * @throws Error with the sentence to show the operator: a key that is missing or of the wrong form, or a file that others may read
 */
export function loadRootKeys(from: { secretKey?: string | undefined; dataDir: string; isSealed?: boolean }): RootKeys {
  if (from.secretKey !== undefined) {
    return rootKeysOf(from.secretKey.split(',').map((text) => readRootKey(text, 'SECRET_KEY')))
  }
  const path = pathIn(from.dataDir)
  if (!exists(path) && from.isSealed) {
    throw new Error(
      `\`${path}\` is missing, and what is secret in this database was sealed with it: put it back, or set SECRET_KEY to what ` +
        'it held. To begin anew without what is there, delete the database too',
    )
  }
  if (!exists(path)) makeKeyFile(path, from.dataDir)
  return rootKeysOf(readKeyFile(path), rereads(path))
}

/**
 * Puts a new key before those in the file, whole or not at all; running processes find it there. Answers the path.
 * @throws Error with a sentence where there is no file, or somebody else is at it
 */
export function addRootKey(dataDir: string): string {
  const path = pathIn(dataDir)
  if (!exists(path)) throw new Error(`\`${path}\` is missing: a new root key is put before the one that is in use`)
  readKeyFile(path)
  // The name is no other's: of two at once one gets it, and neither loses the other's key.
  const draft = `${path}.new`
  try {
    writeDraft(draft, `${newKeyText()}\n${readFileSync(path, 'utf8').trim()}\n`)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) rmSync(draft, { force: true })
    if (!isCode(error, 'EEXIST')) throw error
    throw new Error(`\`${draft}\` is there: somebody else is at it, or was cut short; then remove that file`)
  }
  try {
    const { uid, gid } = statSync(path)
    if (process.getuid?.() === 0) chownSync(draft, uid, gid)
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  return path
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

function readKeyFile(path: string): RootKey[] {
  requirePrivate(path)
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => readRootKey(line, `\`${path}\``))
}

/** What is at hand goes on to count where the file cannot be read just now. */
function rereads(path: string): Parameters<typeof rootKeysOf>[1] {
  let readAt = performance.now()
  return (asked) => {
    if (asked === 'now and then' && performance.now() - readAt < rereadEveryMs) return []
    readAt = performance.now()
    try {
      return readKeyFile(path)
    } catch {
      return []
    }
  }
}

/**
 * Makes the file whole or not at all: written beside its place under a name of its own, then linked into place, which fails
 * when another process was quicker. Then that one's key counts.
 */
function makeKeyFile(path: string, dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeDraft(draft, `${newKeyText()}\n`)
    linkSync(draft, path)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function newKeyText(): string {
  return randomBytes(32).toString('base64')
}

function writeDraft(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
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
