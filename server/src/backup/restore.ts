import { type ConnectionTarget, connectAlone, type SingleConnection } from '../db/client/connect.ts'
import { listMigrations, migrate, restoreMarker } from '../db/migrate.ts'
import { type AppliedMigration, inOurTerms } from '../db/past-migrations.ts'
import type { LongWork } from './backup.ts'
import {
  type BackupCounts,
  type BackupHeader,
  type BackupRows,
  type BackupSubscriber,
  readBackupFile,
} from './backup-file.ts'
import {
  asWorkRole,
  type BackupTable,
  hasInstallation,
  hasTable,
  listBackupTables,
  prepareLongTransaction,
} from './backup-tables.ts'

/** The database of a restore: as the service role, and as the role that owns its tables. */
export type RestoreTarget = { service: ConnectionTarget; owner: ConnectionTarget }

/** An arbitrary fixed number: two restores into one database exclude each other. */
const advisoryLock = 7_255_102

/**
 * Reads a backup into a database that has no tenant yet: all of it or nothing. The tables are created as they were at the backup,
 * filled, and then migrated to this version. Subscribers to events continue where they were.
 * @throws Error with a sentence if the file is damaged or of another version, or the database is in use; then the database
 *   still has no tenant.
 */
export async function restoreBackup(target: RestoreTarget, file: string, work: LongWork = {}): Promise<BackupCounts> {
  const header = await inspect(file, work)
  const ours = await listMigrations()
  const theirs = inOurTerms(header.migrations, ours)
  const last = requireKnown(theirs, ours)
  const client = await connectAlone(target.service)
  const owner = await connectAlone(target.owner).catch(async (error: unknown) => {
    await client.end()
    throw error
  })
  try {
    await requireEmpty(client, theirs, ours)
    await migrate(target.owner, last)
    const counts = await fill({ client, owner }, file, header, work)
    const ran = await migrate(target.owner)
    if (ran.length > 0) await beginEpoch(client, header)
    // Also that of a restore before this one, which left no rows.
    if (await hasTable(client, restoreMarker)) await owner.query(`drop table ${restoreMarker}`)
    return counts
  } finally {
    await client.end()
    await owner.end()
  }
}

/** Reads the whole file before anything is changed. */
async function inspect(file: string, { signal }: LongWork): Promise<BackupHeader> {
  let header: BackupHeader | undefined
  for await (const part of readBackupFile(file)) {
    signal?.throwIfAborted()
    if (part.kind === 'header') header = part
  }
  if (header === undefined) throw new Error(`\`${file}\` is not a backup of Sallyport`)
  return header
}

/** The last migration of the backup. All of its migrations must be identical to ours. */
export function requireKnown(theirs: readonly AppliedMigration[], ours: readonly AppliedMigration[]): string {
  const checksums = new Map(ours.map(({ name, checksum }) => [name, checksum]))
  const unknown = theirs.find(({ name }) => !checksums.has(name))
  const last = theirs.at(-1)
  if (last === undefined) throw new Error('the backup names no migration; use another copy')
  if (unknown !== undefined) {
    throw new Error(
      `the backup was made by a later version of Sallyport (it has \`${unknown.name}\`): restore it with that version, or one after it`,
    )
  }
  const other = theirs.find(({ name, checksum }) => checksums.get(name) !== checksum)
  if (other !== undefined) {
    throw new Error(
      `the backup was made by another version of Sallyport (its \`${other.name}\` is not this one's): restore it with the version that made it`,
    )
  }
  const skipped = ours.find(({ name }) => name < last.name && !theirs.some((migration) => migration.name === name))
  if (skipped !== undefined) {
    throw new Error(`the backup's database lacked \`${skipped.name}\`: restore it with the version that made it`)
  }
  return last.name
}

/** Requires a database without tables, or with empty tables and at most at the backup's version. */
async function requireEmpty(
  client: SingleConnection,
  theirs: readonly AppliedMigration[],
  ours: readonly AppliedMigration[],
): Promise<void> {
  const { rows } = await client.query<{ made: boolean }>(
    `select to_regclass('public.migration') is not null and to_regclass('public.tenant') is not null as made`,
  )
  if (!rows[0]?.made) return
  await client.query('begin read only')
  await requireNoRows(client, await listBackupTables(client))
  await client.query('commit')
  const applied = await client.query<AppliedMigration>('select name, checksum from migration')
  const ahead = inOurTerms(applied.rows, ours).find(({ name }) => !theirs.some((migration) => migration.name === name))
  if (ahead !== undefined) {
    throw new Error(
      `the database already has \`${ahead.name}\`, which is newer than the backup: restore into a new database, which is filled first and then migrated to this version`,
    )
  }
}

async function requireNoRows(client: SingleConnection, tables: readonly BackupTable[]): Promise<void> {
  const newOne = 'restore into a new database, on which Sallyport was never started'
  const tenants = await asWorkRole(client, 'select from tenant limit 1')
  if (tenants.length > 0) throw new Error(`the database has tenants: ${newOne}`)
  for (const { name } of tables.filter(({ tenant_column }) => tenant_column === null)) {
    const { rows } = await client.query(`select from ${client.escapeIdentifier(name)} limit 1`)
    if (rows.length > 0) throw new Error(`the database has rows in \`${name}\`: ${newOne}`)
  }
}

/** One transaction. Identity columns are advanced before it ends, so that no later write reuses a number. */
async function fill(
  { client, owner }: { client: SingleConnection; owner: SingleConnection },
  file: string,
  header: BackupHeader,
  work: LongWork,
): Promise<BackupCounts> {
  await client.query('begin')
  await prepareLongTransaction(client)
  // A person may come before their manager.
  await client.query('set constraints all deferred')
  const { rows } = await client.query<{ free: boolean }>('select pg_try_advisory_xact_lock($1) as free', [advisoryLock])
  if (!rows[0]?.free) throw new Error('another restore into this database is under way')
  const tables = await listBackupTables(client)
  await requireNoRows(client, tables)
  const { counts, subscribers, reached } = await insertAll(client, tables, file, work)
  await placeSubscribers(client, subscribers)
  for (const [table, byColumn] of reached) {
    for (const [column, last] of byColumn) {
      const sequence = [client.escapeIdentifier(table), column, last]
      await owner.query('select setval(pg_get_serial_sequence($1, $2), $3::bigint)', sequence)
    }
  }
  if (await hasInstallation(client)) await beginEpoch(client, header)
  else await owner.query(`create table if not exists ${restoreMarker} ()`)
  await client.query('commit')
  return counts
}

/**
 * The restored database knows less than the one that was backed up, which may still run: a new epoch begins, and nothing is changed at targets
 * until the operator says that this is the original. A backup from before installations had ids restores into one of its own: until its schema
 * has one, the marker of the restore keeps the service from starting.
 */
async function beginEpoch(client: SingleConnection, { installation }: BackupHeader): Promise<void> {
  await client.query(
    `update installation set id = coalesce($1::uuid, gen_random_uuid()),
      read_only_since = clock_timestamp(), read_only_reason = 'restored',
      epoch = greatest(coalesce($2::bigint, epoch) + 1, ceil(extract(epoch from clock_timestamp()))::bigint)
      where read_only_since is null`,
    [installation?.id ?? null, installation?.epoch ?? null],
  )
}

/** For each table, the highest number in each of its identity columns. */
type Reached = Map<string, Map<string, string>>

async function insertAll(client: SingleConnection, tables: readonly BackupTable[], file: string, work: LongWork) {
  const byName = new Map(tables.map((table) => [table.name, table]))
  const subscribers: BackupSubscriber[] = []
  const reached: Reached = new Map()
  let counts: BackupCounts = { rows: 0, tenants: 0, tables: {} }
  let tenant: string | null = null
  let done = 0
  // INVARIANT: the file is read to its end, where its hash is verified again.
  for await (const part of readBackupFile(file)) {
    work.signal?.throwIfAborted()
    if (part.kind === 'subscriber') subscribers.push(part)
    if (part.kind === 'end') counts = { rows: part.rows, tenants: part.tenants, tables: part.tables }
    if (part.kind !== 'rows') continue
    const table = byName.get(part.table)
    if (table === undefined) throw new Error(`the backup has a table \`${part.table}\` that this version does not know`)
    if (part.tenant_id !== null && part.tenant_id !== tenant) {
      await client.query(`select set_config('app.tenant_id', $1, true)`, [part.tenant_id])
      tenant = part.tenant_id
    }
    await insertRows(client, table, part, reached)
    done += part.rows
    await work.onRows?.(done)
  }
  return { counts, subscribers, reached }
}

async function insertRows(
  client: SingleConnection,
  table: BackupTable,
  part: BackupRows & { lines: string[] },
  reached: Reached,
): Promise<void> {
  const name = client.escapeIdentifier(table.name)
  const columns = table.columns.map((column) => client.escapeIdentifier(column.name))
  // In the row as JSON, a column with a JSON null looks like a column with an SQL null.
  const values = table.columns.map((column, place) =>
    column.type === 'jsonb' && column.not_null ? `coalesce(${columns[place]}, 'null')` : columns[place],
  )
  const identities = table.columns.filter((column) => column.identity)
  const kept = identities.map((column) => client.escapeIdentifier(column.name))
  const highest = kept.map((column) => `max(${column})::text`)
  const { rows } = await client.query<{ made: string; highest: (string | null)[] }>(
    `with made as (insert into ${name} (${columns.join(', ')}) overriding system value
        select ${values.join(', ')} from jsonb_populate_recordset(null::${name}, $1::jsonb)
        returning ${kept.join(', ') || '1'})
      select count(*)::text as made, array[${highest.join(', ')}]::text[] as highest from made`,
    [`[${part.lines.join(',')}]`],
  )
  const [answer] = rows
  if (answer?.made !== String(part.rows)) {
    throw new Error(`of ${part.rows} rows for \`${table.name}\` only ${answer?.made ?? 0} were written`)
  }
  const byColumn = reached.get(table.name) ?? new Map<string, string>()
  for (const [place, { name: column }] of identities.entries()) {
    const number = BigInt(answer.highest[place] ?? 0)
    if (number > BigInt(byColumn.get(column) ?? 0)) byColumn.set(column, String(number))
  }
  reached.set(table.name, byColumn)
}

/**
 * Every restored event has this transaction's number, so `seq` alone orders the events. Each subscriber is placed right before
 * the first event that was not delivered to it.
 */
async function placeSubscribers(client: SingleConnection, subscribers: readonly BackupSubscriber[]): Promise<void> {
  for (const { subscriber, undelivered_from } of subscribers) {
    await asWorkRole(
      client,
      `insert into event_cursor (subscriber, xid, seq)
        values ($1, pg_current_xact_id(), coalesce($2::bigint - 1, (select coalesce(max(seq), 0) from event)))
        on conflict (subscriber) do update set xid = excluded.xid, seq = excluded.seq, lease_until = null,
          generation = event_cursor.generation + 1`,
      [subscriber, undelivered_from],
    )
  }
}
