import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { type ConnectionTarget, connectAlone, type SingleConnection } from './client/connect.ts'
import { addEventQuarters } from './event-quarters.ts'
import { findTooNew, type RecordedMigration, requireNoneTooNew } from './newer-schema.ts'
import { inOurTerms } from './past-migrations.ts'
import { type Migration, runMigration } from './run-migration.ts'

const folder = new URL('../../migrations/', import.meta.url)

/** An arbitrary fixed number: two processes that start together migrate one after the other. */
const advisoryLock = 7_255_101

/** The migrations of this version, in order. */
export async function listMigrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8')
      return { name: file.replace(/\.sql$/, ''), text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

/**
 * Migrates the database to this version: plain SQL files in order, each by itself, under a lock.
 * Returns the names of the migrations that it ran. Throws if a migration was edited after it ran, or if the database is too new for this
 * version. `last` names the last one to run: a restore fills the tables as they were at the backup, before the later migrations run.
 * Each call also makes the partitions of events that are due; `say` gets a sentence about those that it cannot make.
 */
export async function migrate(
  owner: ConnectionTarget,
  last?: string,
  say: (sentence: string) => void = () => undefined,
): Promise<string[]> {
  const all = await listMigrations()
  const migrations = all.filter((migration) => last === undefined || migration.name <= last)
  const client = await connectAlone(owner)
  try {
    await client.query('select pg_advisory_lock($1)', [advisoryLock])
    await ensureTable(client)
    const recorded = await readRecorded(client)
    requireNoneTooNew(findTooNew(recorded, all))
    const checksums = new Map(inOurTerms(recorded, migrations).map(({ name, checksum }) => [name, checksum]))
    const ran: string[] = []
    for (const migration of migrations) {
      const before = checksums.get(migration.name)
      if (before === migration.checksum) continue
      if (before !== undefined) {
        throw new Error(`migration \`${migration.name}\` was edited after it ran; put the file back and add a new one`)
      }
      await runMigration(client, migration)
      ran.push(migration.name)
    }
    await addEventQuarters(client, say)
    return ran
  } finally {
    await client.end()
  }
}

async function ensureTable(client: SingleConnection): Promise<void> {
  await client.query(`create table if not exists migration (
    name text constraint migration_pk primary key,
    checksum text not null,
    ran_at timestamptz not null default clock_timestamp(),
    oldest_code text)`)
  // Not `add column if not exists`, which would wait for a backup that is reading the table.
  const { rows } = await client.query(
    `select from pg_attribute where attrelid = 'migration'::regclass and attname = 'oldest_code'`,
  )
  if (rows.length === 0) await client.query('alter table migration add column oldest_code text')
  await client.query('grant select on migration to sallyport_app')
}

/** Earlier versions recorded nothing about older code. */
async function readRecorded(client: SingleConnection): Promise<RecordedMigration[]> {
  const { rows } = await client.query<RecordedMigration>(
    `select name, checksum, to_jsonb(migration) ->> 'oldest_code' as oldest_code from migration`,
  )
  return rows
}

/**
 * The table that a database has while a restore of a schema without installations fills and migrates it: nothing else there says that the
 * operator has not called it the original yet.
 */
export const restoreMarker = 'restore_under_way'

type Comparison = { missing: string[]; too_new: string[]; is_half_restored: boolean }

/**
 * Compares a database with this version, read as the service role: the migrations that it lacks, and those for which this version is too
 * old; and whether a restore into it did not end.
 */
export async function compareMigrations(service: ConnectionTarget): Promise<Comparison> {
  const migrations = await listMigrations()
  const client = await connectAlone(service)
  try {
    const { rows } = await client.query<{ exists: boolean; is_half_restored: boolean }>(
      `select to_regclass('public.migration') is not null as exists,
        to_regclass('public.${restoreMarker}') is not null as is_half_restored`,
    )
    const recorded = rows[0]?.exists ? await readRecorded(client) : []
    const names = new Set(inOurTerms(recorded, migrations).map(({ name }) => name))
    return {
      missing: migrations.map((migration) => migration.name).filter((name) => !names.has(name)),
      too_new: findTooNew(recorded, migrations),
      is_half_restored: rows[0]?.is_half_restored ?? false,
    }
  } finally {
    await client.end()
  }
}
