import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { type ConnectionTarget, connectAlone } from './client/connect.ts'
import { type AppliedMigration, inOurTerms } from './past-migrations.ts'

const folder = new URL('../../migrations/', import.meta.url)

/** An arbitrary fixed number: two processes that start together migrate one after the other. */
const advisoryLock = 7_255_101

type Migration = AppliedMigration & { text: string }

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
 * Migrates the database to this version: plain SQL files in order, each in a transaction of its own, under a lock.
 * Returns the names of the migrations that it ran. Throws if a migration was edited after it ran. `last` names the last one to
 * run: a restore fills the tables as they were at the backup, before the later migrations run.
 */
export async function migrate(owner: ConnectionTarget, last?: string): Promise<string[]> {
  const migrations = (await listMigrations()).filter((migration) => last === undefined || migration.name <= last)
  const client = await connectAlone(owner)
  try {
    await client.query('select pg_advisory_lock($1)', [advisoryLock])
    await client.query(`create table if not exists migration (
      name text constraint migration_pk primary key,
      checksum text not null,
      ran_at timestamptz not null default clock_timestamp())`)
    await client.query('grant select on migration to sallyport_app')
    const done = await client.query<AppliedMigration>('select name, checksum from migration')
    const checksums = new Map(inOurTerms(done.rows, migrations).map(({ name, checksum }) => [name, checksum]))
    const ran: string[] = []
    for (const migration of migrations) {
      const before = checksums.get(migration.name)
      if (before === migration.checksum) continue
      if (before !== undefined) {
        throw new Error(`migration \`${migration.name}\` was edited after it ran; put the file back and add a new one`)
      }
      await client.query('begin')
      await client.query(migration.text)
      await client.query('insert into migration (name, checksum) values ($1, $2)', [migration.name, migration.checksum])
      await client.query('commit')
      ran.push(migration.name)
    }
    return ran
  } finally {
    await client.end()
  }
}

/** The names of the migrations that a database still lacks, read as the service role. */
export async function findMissingMigrations(service: ConnectionTarget): Promise<string[]> {
  const migrations = await listMigrations()
  const client = await connectAlone(service)
  try {
    const { rows } = await client.query<{ exists: boolean }>(
      `select to_regclass('public.migration') is not null as exists`,
    )
    if (!rows[0]?.exists) return migrations.map((migration) => migration.name)
    const done = await client.query<AppliedMigration>('select name, checksum from migration')
    const names = new Set(inOurTerms(done.rows, migrations).map(({ name }) => name))
    return migrations.map((migration) => migration.name).filter((name) => !names.has(name))
  } finally {
    await client.end()
  }
}
