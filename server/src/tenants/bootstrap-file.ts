import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isUuid } from '../kernel/id.ts'
import { makeFolder } from '../kernel/make-folder.ts'

/** The data that the first start leaves for the operator, or `bootstrap again`. */
export type Bootstrap = {
  base_url: string
  tenant_id: string
  /** The first owner; absent in a file that was written again. */
  admin?: { email: string; password: string }
  api_key: string
  /** When the API key expires. */
  expires_at: string
}

const fileName = 'bootstrap.json'

export function bootstrapPath(dataDir: string): string {
  return join(dataDir, fileName)
}

export function bootstrapExists(dataDir: string): boolean {
  return existsSync(bootstrapPath(dataDir))
}

/** Undefined when there is no file. */
export function readBootstrap(dataDir: string): Bootstrap | undefined {
  const path = bootstrapPath(dataDir)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Bootstrap) : undefined
}

/** Updates the service's address in the file after a change of port, so that the key is not sent to an old address. */
export function moveBootstrap(dataDir: string, base_url: string): void {
  const bootstrap = readBootstrap(dataDir)
  if (bootstrap === undefined || bootstrap.base_url === base_url) return
  writeDraft(dataDir, { ...bootstrap, base_url })
  publishDraft(dataDir, bootstrap.tenant_id)
}

export function removeBootstrap(dataDir: string): void {
  rmSync(bootstrapPath(dataDir), { force: true })
}

/** Writes the draft under its tenant's name, readable by its owner only, and syncs it to disk before anything is committed. */
export function writeDraft(dataDir: string, bootstrap: Bootstrap): void {
  makeFolder(dataDir, 0o711)
  const file = openSync(draftPath(dataDir, bootstrap.tenant_id), 'wx', 0o600)
  try {
    writeFileSync(file, `${JSON.stringify(bootstrap, null, 2)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** The tenants with a draft. After a crash, a draft may be neither committed nor published. */
export function listDrafts(dataDir: string): string[] {
  const names = existsSync(dataDir) ? readdirSync(dataDir) : []
  return names
    .filter((name) => name.startsWith(`${fileName}.`))
    .map((name) => name.slice(fileName.length + 1))
    .filter(isUuid)
}

/** Renames the draft to its final name. Another process may have done so first. */
export function publishDraft(dataDir: string, tenant_id: string): void {
  try {
    renameSync(draftPath(dataDir, tenant_id), bootstrapPath(dataDir))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !bootstrapExists(dataDir)) throw error
  }
}

export function removeDraft(dataDir: string, tenant_id: string): void {
  rmSync(draftPath(dataDir, tenant_id), { force: true })
}

function draftPath(dataDir: string, tenant_id: string): string {
  return join(dataDir, `${fileName}.${tenant_id}`)
}
