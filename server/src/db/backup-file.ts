import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { finished, pipeline } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import type { AppliedMigration } from './migrate.ts'

// A backup is gzipped lines of JSON, and only the database ever reads its rows:
//   {"kind":"header",…}                                                first
//   {"kind":"subscriber","subscriber":…,"undelivered_from":"123"}      each subscriber to events
//   {"kind":"rows","table":…,"tenant_id":…,"rows":n}                   followed by n lines, a row each
//   {"kind":"end","rows":…,"tenants":…,"tables":{…},"sha256":…}        last: the counts, and the sum of all before it

export type BackupHeader = {
  kind: 'header'
  format: number
  /** The migrations of the database that it was made from. */
  migrations: AppliedMigration[]
  postgresql: string
  made_at: string
}
/** How far a subscriber had come: the first `seq` that it was not handed yet; null: it was handed everything. */
export type BackupSubscriber = { kind: 'subscriber'; subscriber: string; undelivered_from: string | null }
export type BackupRows = { kind: 'rows'; table: string; tenant_id: string | null; rows: number }
export type BackupEnd = {
  kind: 'end'
  rows: number
  tenants: number
  tables: Record<string, number>
  sha256: string
}

export type BackupPart = BackupHeader | BackupSubscriber | (BackupRows & { lines: string[] }) | BackupEnd

export const backupFormat = 1

export type BackupCounts = Omit<BackupEnd, 'kind' | 'sha256'>

export type BackupWriter = {
  header(header: Omit<BackupHeader, 'kind' | 'format'>): Promise<void>
  subscriber(subscriber: Omit<BackupSubscriber, 'kind'>): Promise<void>
  /** `lines` are rows as the database wrote them. */
  rows(table: string, tenant_id: string | null, lines: readonly string[]): Promise<void>
  counted(): BackupCounts
  /** Writes the end, brings everything to the disk, and gives the file its name. */
  finish(): Promise<void>
  /** Leaves nothing behind; does nothing once it is finished. */
  abandon(): Promise<void>
}

/**
 * Begins a backup beside `file`, for its owner's eyes alone; it has that name once it is whole.
 * @throws Error when there is such a file: an older backup is never written over.
 */
export async function createBackupFile(file: string): Promise<BackupWriter> {
  if (existsSync(file)) throw new Error(`\`${file}\` exists; name a new file, or remove that one first`)
  const partial = `${file}.partial-${process.pid}`
  const handle = await open(partial, 'wx', 0o600)
  const gzip = createGzip()
  const toDisk = handle.createWriteStream({ flush: true })
  // A full disk shows at the next write, or at the end.
  pipeline(gzip, toDisk, () => undefined)
  const hash = createHash('sha256')
  const counts: BackupCounts = { rows: 0, tenants: 0, tables: {} }
  let open_ = true
  const write = async (text: string) => {
    hash.update(text)
    await writeThrough(gzip, text)
  }
  const part = (value: unknown) => write(`${JSON.stringify(value)}\n`)
  return {
    header: (header) => part({ kind: 'header', format: backupFormat, ...header }),
    subscriber: (subscriber) => part({ kind: 'subscriber', ...subscriber }),
    rows: async (table, tenant_id, lines) => {
      count(counts, table, lines.length)
      await part({ kind: 'rows', table, tenant_id, rows: lines.length } satisfies BackupRows)
      await write(`${lines.join('\n')}\n`)
    },
    counted: () => counts,
    finish: async () => {
      const end: BackupEnd = { kind: 'end', ...counts, sha256: hash.digest('hex') }
      await writeThrough(gzip, `${JSON.stringify(end)}\n`)
      gzip.end()
      await whenFinished(toDisk)
      if (existsSync(file)) throw new Error(`\`${file}\` has appeared meanwhile; name a new file`)
      await rename(partial, file)
      open_ = false
    },
    abandon: async () => {
      if (!open_) return
      open_ = false
      gzip.destroy()
      toDisk.destroy()
      await rm(partial, { force: true })
    },
  }
}

async function writeThrough(stream: NodeJS.WritableStream & { errored: Error | null }, text: string): Promise<void> {
  if (stream.errored) throw stream.errored
  if (!stream.write(text)) await once(stream, 'drain')
}

function whenFinished(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    finished(stream, (error) => (error ? reject(error) : resolve()))
  })
}

function count(counts: BackupCounts, table: string, rows: number): void {
  counts.rows += rows
  counts.tables[table] = (counts.tables[table] ?? 0) + rows
  if (table === 'tenant') counts.tenants += rows
}
