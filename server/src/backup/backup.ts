import { type ConnectionTarget, connectAlone, type SingleConnection } from '../db/client/connect.ts'
import type { AppliedMigration } from '../db/past-migrations.ts'
import { type BackupCounts, type BackupHeader, type BackupWriter, createBackupFile } from './backup-file.ts'
import {
  asWorkRole,
  type BackupTable,
  hasInstallation,
  listBackupTables,
  prepareLongTransaction,
} from './backup-tables.ts'

export type LongWork = {
  /** Called after each batch with the number of rows done so far; the next batch begins when the call is done. */
  onRows?: (rows: number) => void | Promise<void>
  /** Ends the work between two batches, without leaving anything behind. */
  signal?: AbortSignal
}

/** The approximate size of a batch in memory; a batch has at least one row. */
const batchBytes = 2 * 1024 * 1024
const firstBatch = 50
const maxBatch = 2_000

/**
 * Writes the whole database into a new file, as it is at one moment, while the service runs. Rows are text that the database
 * writes and reads, so that nothing in between rounds a number or a moment.
 * @throws Error with a sentence if there is nothing to write or the file exists; then no file is written.
 */
export function writeBackup(service: ConnectionTarget, file: string, work: LongWork = {}): Promise<BackupCounts> {
  return write(service, file, work, undefined)
}

/**
 * The same for one tenant: a backup of an installation that has no other. Of what belongs to the service it has only the names of the root
 * keys, under which the tenant's own keys are wrapped; not the keys that sign tokens.
 */
export function writeExport(
  service: ConnectionTarget,
  tenant_id: string,
  file: string,
  work: LongWork = {},
): Promise<BackupCounts> {
  return write(service, file, work, tenant_id)
}

async function write(
  service: ConnectionTarget,
  file: string,
  work: LongWork,
  only: string | undefined,
): Promise<BackupCounts> {
  const client = await connectAlone(service)
  try {
    // A transaction without a write has no number, so the delivery of events does not wait for it.
    await client.query('begin isolation level repeatable read, read only')
    await prepareLongTransaction(client)
    await requireEndsMoved(client)
    const header = { ...(await readHeader(client)), ...(only === undefined && (await readInstallation(client))) }
    const all = await asWorkRole<{ id: string }>(client, 'select id from tenant order by id')
    const tenants = only === undefined ? all : all.filter(({ id }) => id === only)
    if (tenants.length === 0) {
      throw new Error('the database has no tenant, so there is nothing to back up; check DATABASE_URL or DATA_DIR')
    }
    const writer = await createBackupFile(file)
    try {
      await writer.header(header)
      await writeAll(client, writer, { tenants, only }, work)
      await writer.finish()
      return writer.counted()
    } finally {
      await writer.abandon()
    }
  } finally {
    await client.end()
  }
}

async function readHeader(client: SingleConnection) {
  const { rows } = await client.query<{ made: boolean; postgresql: string; made_at: string }>(
    `select to_regclass('public.migration') is not null as made, current_setting('server_version') as postgresql,
      to_jsonb(now()) #>> '{}' as made_at`,
  )
  const [found] = rows
  if (!found?.made) throw new Error('the database has no tables of Sallyport; check DATABASE_URL or DATA_DIR')
  const migrations = await client.query<AppliedMigration>(
    'select name, checksum from migration order by name collate "C"',
  )
  return { migrations: migrations.rows, postgresql: found.postgresql, made_at: found.made_at }
}

async function readInstallation(client: SingleConnection): Promise<Pick<BackupHeader, 'installation'>> {
  if (!(await hasInstallation(client))) return {}
  const found = await client.query<{ id: string; epoch: string }>('select id, epoch::text from installation')
  return found.rows[0] === undefined ? {} : { installation: found.rows[0] }
}

/** The file does not keep which ends of access are moved, after the database's clock was set back. */
async function requireEndsMoved(client: SingleConnection): Promise<void> {
  if (!(await hasInstallation(client))) return
  const { rows } = await client.query(`select from installation i where (to_jsonb(i) ->> 'ends_to_move')::boolean`)
  if (rows.length === 0) return
  throw new Error("ends of access are being moved, since the database's clock was set back: run this again in a minute")
}

async function writeAll(
  client: SingleConnection,
  writer: BackupWriter,
  { tenants, only }: { tenants: { id: string }[]; only: string | undefined },
  work: LongWork,
): Promise<void> {
  const tables = await listBackupTables(client)
  for (const subscriber of await readSubscribers(client, only)) await writer.subscriber(subscriber)
  for (const table of only === undefined ? tables.filter(isOfService) : neededByTenants(tables)) {
    await writeTable(client, writer, table, null, work)
  }
  for (const { id } of tenants) {
    await client.query(`select set_config('app.tenant_id', $1, true)`, [id])
    for (const table of tables.filter(({ tenant_column }) => tenant_column !== null)) {
      await writeTable(client, writer, table, id, work)
    }
  }
}

function isOfService({ tenant_column }: BackupTable): boolean {
  return tenant_column === null
}

/** Tables of the service to whose rows those of tenants refer. */
function neededByTenants(tables: readonly BackupTable[]): BackupTable[] {
  const named = new Set(tables.filter((table) => !isOfService(table)).flatMap(({ refers_to }) => refers_to))
  return tables.filter((table) => isOfService(table) && named.has(table.name))
}

/**
 * The position of each subscriber to events, of one tenant or of all, in the order that a restore keeps: the lowest `seq` that was not delivered to it.
 * After a restore it receives events above that a second time, which subscribers allow.
 */
async function readSubscribers(client: SingleConnection, only: string | undefined) {
  // A database of an earlier version has no queues.
  const [made] = await asWorkRole<{ queues: boolean }>(
    client,
    `select to_regclass('public.event_queue') is not null as queues`,
  )
  const queued = `union all select e.seq, e.tenant_id from event_queue q join event e on e.tenant_id = q.tenant_id
      and (e.xid, e.seq) > (q.xid, q.seq) and (e.xid, e.seq) <= (q.until_xid, q.until_seq)
    where q.subscriber = c.subscriber`
  return asWorkRole<{ subscriber: string; undelivered_from: string | null }>(
    client,
    `select c.subscriber, (select min(waits.seq)::text from (
          select e.seq, e.tenant_id from event e where (e.xid, e.seq) > (c.xid, c.seq)
          ${made?.queues ? queued : ''}) waits
          where $1::uuid is null or waits.tenant_id = $1)
        as undelivered_from
      from event_cursor c order by c.subscriber`,
    [only ?? null],
  )
}

/** Writes one table's rows, all of them or one tenant's, through a cursor. */
async function writeTable(
  client: SingleConnection,
  writer: BackupWriter,
  table: BackupTable,
  tenant_id: string | null,
  { onRows, signal }: LongWork,
): Promise<void> {
  const quote = (name: string) => client.escapeIdentifier(name)
  const theirs =
    table.tenant_column === null || tenant_id === null
      ? ''
      : `where t.${quote(table.tenant_column)} = ${client.escapeLiteral(tenant_id)}`
  const order = table.primary_key.map((column) => `t.${quote(column)}`).join(', ')
  await client.query(`declare backup_rows no scroll cursor for
    select to_jsonb(t)::text as line from ${quote(table.name)} t ${theirs} ${order && `order by ${order}`}`)
  let size = firstBatch
  for (;;) {
    signal?.throwIfAborted()
    const { rows } = await client.query<{ line: string }>(`fetch forward ${size} from backup_rows`)
    if (rows.length === 0) break
    const lines = rows.map(({ line }) => line)
    await writer.rows(table.name, tenant_id, lines)
    await onRows?.(writer.counted().rows)
    size = nextSize(lines)
  }
  await client.query('close backup_rows')
}

/** The number of rows that fill a batch if they are as long as the last ones; at most four times as many as the last batch. */
function nextSize(lines: readonly string[]): number {
  const bytes = lines.reduce((sum, line) => sum + line.length, 0)
  const fitting = Math.floor((batchBytes * lines.length) / bytes)
  return Math.max(1, Math.min(fitting, lines.length * 4, maxBatch))
}
