import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { AppliedMigration } from '../db/past-migrations.ts'

// A backup is gzipped lines of JSON. Only the database reads the row lines:
//   {"kind":"header",…}                                                first
//   {"kind":"subscriber","subscriber":…,"undelivered_from":"123"}      each subscriber to events
//   {"kind":"rows","table":…,"tenant_id":…,"rows":n}                   followed by n lines, one row each
//   {"kind":"end","rows":…,"tenants":…,"tables":{…},"sha256":…}        last: the counts, and the hash of everything before it

export type BackupHeader = {
  kind: 'header'
  format: number
  /** The migrations of the database that was backed up. */
  migrations: AppliedMigration[]
  postgresql: string
  made_at: string
  /** Whose data it is; absent in an export of one tenant, and in backups of versions without it. */
  installation?: { id: string; epoch: string }
}
/** The position of a subscriber: the first `seq` that was not delivered to it yet; null: everything was delivered. */
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

const backupFormat = 1

export type BackupCounts = Omit<BackupEnd, 'kind' | 'sha256'>

export type BackupWriter = {
  header(header: Omit<BackupHeader, 'kind' | 'format'>): Promise<void>
  subscriber(subscriber: Omit<BackupSubscriber, 'kind'>): Promise<void>
  /** `lines` are rows as the database wrote them. */
  rows(table: string, tenant_id: string | null, lines: readonly string[]): Promise<void>
  counted(): BackupCounts
  /** Writes the end, flushes everything to disk, and gives the file its name. */
  finish(): Promise<void>
  /** Removes the unfinished file; does nothing once the backup is finished. */
  abandon(): Promise<void>
}

/**
 * Begins a backup next to `file`, readable only by its owner. It gets the name `file` once it is complete.
 * @throws Error if the file exists: an older backup is never overwritten. Or if its folder does not.
 */
export async function createBackupFile(file: string): Promise<BackupWriter> {
  if (existsSync(file)) throw new Error(`\`${file}\` exists; name a new file, or remove that one first`)
  const folder = dirname(file)
  if (!existsSync(folder))
    throw new Error(`the folder \`${folder}\` does not exist; make it first, or name another file`)
  const partial = `${file}.partial-${process.pid}`
  const handle = await open(partial, 'wx', 0o600)
  const gzip = createGzip()
  const written = pipeline(gzip, handle.createWriteStream({ flush: true }))
  // The next write reports an error such as a full disk.
  written.catch(() => undefined)
  const hash = createHash('sha256')
  const counts: BackupCounts = { rows: 0, tenants: 0, tables: {} }
  const write = async (text: string) => {
    if (!gzip.write(text)) await Promise.race([once(gzip, 'drain'), written])
  }
  const writeSummed = async (text: string) => {
    hash.update(text)
    await write(text)
  }
  const part = (value: BackupHeader | BackupSubscriber | BackupRows) => writeSummed(`${JSON.stringify(value)}\n`)
  let finished = false
  return {
    header: (header) => part({ kind: 'header', format: backupFormat, ...header }),
    subscriber: (subscriber) => part({ kind: 'subscriber', ...subscriber }),
    rows: async (table, tenant_id, lines) => {
      count(counts, table, lines.length)
      await part({ kind: 'rows', table, tenant_id, rows: lines.length })
      await writeSummed(`${lines.join('\n')}\n`)
    },
    counted: () => counts,
    finish: async () => {
      const end: BackupEnd = { kind: 'end', ...counts, sha256: hash.digest('hex') }
      await write(`${JSON.stringify(end)}\n`)
      gzip.end()
      await written
      if (existsSync(file)) throw new Error(`\`${file}\` was created meanwhile; name another file`)
      await rename(partial, file)
      finished = true
    },
    abandon: async () => {
      if (finished) return
      gzip.destroy()
      await written.catch(() => undefined)
      await rm(partial, { force: true })
    },
  }
}

function count(counts: BackupCounts, table: string, rows: number): void {
  counts.rows += rows
  counts.tables[table] = (counts.tables[table] ?? 0) + rows
  if (table === 'tenant') counts.tenants += rows
}

/**
 * Reads a backup part by part, with at most one part in memory.
 * @throws Error with a sentence if the file is not a backup, is cut short or was altered. An alteration that keeps the format is
 *   found only at the end, when the hash of everything read is known.
 */
export async function* readBackupFile(file: string): AsyncGenerator<BackupPart> {
  const hash = createHash('sha256')
  const counts: BackupCounts = { rows: 0, tenants: 0, tables: {} }
  const lines = readLines(file)
  let header: BackupHeader | undefined
  let end: BackupEnd | undefined
  for await (const line of lines) {
    if (end !== undefined) throw damaged(file, 'it continues after its end')
    const part = parsePart(line)
    if (header === undefined) header = requireHeader(file, part)
    if (part?.kind === 'end') {
      requireSame(file, part, counts, hash.digest('hex'))
      end = part
    } else {
      hash.update(line).update('\n')
    }
    if (part?.kind !== 'rows') {
      if (part === undefined) throw damaged(file, 'it has a line that is not part of a backup')
      yield part
      continue
    }
    const rows: string[] = []
    while (rows.length < part.rows) {
      const next = await lines.next()
      if (next.done) throw damaged(file, 'it ends too early')
      hash.update(next.value).update('\n')
      rows.push(next.value)
    }
    count(counts, part.table, rows.length)
    yield { ...part, lines: rows }
  }
  if (end === undefined) throw damaged(file, 'it ends too early')
}

function requireHeader(file: string, part: BackupPart | BackupRows | undefined): BackupHeader {
  if (part?.kind !== 'header') throw new Error(`\`${file}\` is not a backup of Sallyport`)
  if (part.format !== backupFormat) {
    throw new Error(
      `\`${file}\` is a backup in format ${part.format}, but this version reads format ${backupFormat}: restore it with the version of Sallyport that made it`,
    )
  }
  return part
}

function requireSame(file: string, end: BackupEnd, counts: BackupCounts, sha256: string): void {
  if (end.sha256 !== sha256) throw damaged(file, 'its content is not what was written')
  const same = end.rows === counts.rows && end.tenants === counts.tenants
  if (!same) throw damaged(file, `it should have ${end.rows} rows, but has ${counts.rows}`)
}

function parsePart(line: string): BackupHeader | BackupSubscriber | BackupRows | BackupEnd | undefined {
  try {
    const part = JSON.parse(line) as BackupHeader | BackupSubscriber | BackupRows | BackupEnd
    return ['header', 'subscriber', 'rows', 'end'].includes(part.kind) ? part : undefined
  } catch {
    return undefined
  }
}

/** Lines of the unzipped file, independent of the chunk boundaries. */
async function* readLines(file: string): AsyncGenerator<string> {
  const gunzip = createGunzip()
  // The loop below throws errors of the pipeline.
  pipeline(createReadStream(file), gunzip).catch(() => undefined)
  let pending: Buffer[] = []
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        yield Buffer.concat([...pending, chunk.subarray(start, end)]).toString('utf8')
        pending = []
        start = end + 1
      }
      if (start < chunk.length) pending.push(chunk.subarray(start))
    }
  } catch (error) {
    throw explainUnreadable(file, error as NodeJS.ErrnoException)
  }
  if (pending.length > 0) throw damaged(file, 'it ends too early')
}

function explainUnreadable(file: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'ENOENT') return new Error(`there is no file \`${file}\``)
  if (error.code === 'Z_BUF_ERROR') return damaged(file, 'it ends too early')
  if (error.code === 'Z_DATA_ERROR') return damaged(file, 'it is not a backup of Sallyport, or it was altered')
  return error
}

function damaged(file: string, how: string): Error {
  return new Error(`\`${file}\` is damaged: ${how}; use another copy`)
}
