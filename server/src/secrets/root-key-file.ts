import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../kernel/make-folder.ts'
import { type RootKey, type RootKeys, readRootKey, rootKeysOf } from './root-key.ts'

/** A running process checks the file for a new key at most this often, unless it meets an unknown key. */
const rereadEveryMs = 1_000

/**
 * Loads the root keys: `secretKey` (the setting SECRET_KEY, comma-separated) when given, else the file `secret.key` in
 * `dataDir`, one key per line, made at the first start. The newest key is first. Losing the keys loses every sealed secret;
 * reading them reveals every secret. With `isSealed` no key is made, because a new key opens no existing value.
 * @throws Error with a message for the operator: a missing or malformed key, or a file that others may read
 */
export function loadRootKeys(from: { secretKey?: string | undefined; dataDir: string; isSealed?: boolean }): RootKeys {
  if (from.secretKey !== undefined) {
    return rootKeysOf(from.secretKey.split(',').map((text) => readRootKey(text, 'SECRET_KEY')))
  }
  const path = pathIn(from.dataDir)
  if (!exists(path) && from.isSealed) {
    throw new Error(
      `\`${path}\` is missing, and the secrets in this database were sealed with it: restore the file, or set SECRET_KEY to ` +
        'its content. To start over without the existing data, delete the database too',
    )
  }
  if (!exists(path)) makeKeyFile(path, from.dataDir)
  return rootKeysOf(readKeyFile(path), rereads(path))
}

/**
 * Puts a new key before those in the file, atomically. Running processes find it there. Returns the path.
 * @throws Error with a message when there is no file, or another process is changing it
 */
export function addRootKey(dataDir: string): string {
  const path = pathIn(dataDir)
  if (!exists(path))
    throw new Error(`\`${path}\` is missing: restore it first, since a new root key is added before the one in use`)
  readKeyFile(path)
  // Creating this fixed name is exclusive: of two concurrent calls one gets it, and neither loses the other's key.
  const draft = `${path}.new`
  try {
    writeDraft(draft, `${newKeyText()}\n${readFileSync(path, 'utf8').trim()}\n`)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) rmSync(draft, { force: true })
    if (!isCode(error, 'EEXIST')) throw error
    throw new Error(
      `\`${draft}\` exists: another process is adding a key, or was interrupted; if it was interrupted, remove that file`,
    )
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

/** Rereads the file. While the file cannot be read, the known keys remain in use. */
function rereads(path: string): Parameters<typeof rootKeysOf>[1] {
  let readAt = performance.now()
  return (when) => {
    if (when === 'now and then' && performance.now() - readAt < rereadEveryMs) return []
    readAt = performance.now()
    try {
      return readKeyFile(path)
    } catch {
      return []
    }
  }
}

/**
 * Makes the file atomically: writes it under a unique name beside its place, then links it into place. The link fails when
 * another process was faster; that process's key is then used.
 */
function makeKeyFile(path: string, dataDir: string): void {
  makeFolder(dataDir, 0o711)
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

/** Windows has no such mode bits: there the folder's access rights protect the file. */
function requirePrivate(path: string): void {
  const othersMode = statSync(path).mode & 0o077
  if (othersMode === 0 || process.platform === 'win32') return
  throw new Error(`\`${path}\` may be read or changed by others on this machine: run \`chmod 600 '${path}'\``)
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
