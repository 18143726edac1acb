import { listBackupTables } from '../../src/backup/backup-tables.ts'
import { type ConnectionTarget, connectAlone } from '../../src/db/client/connect.ts'
import { appRole, ownerRole, workRole } from '../../src/db/roles.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { serverVariable, startTestServer } from './server.ts'

/** The tables that a backup of this database contains. */
export const tablesOf = async (owner: ConnectionTarget) => {
  const client = await connectAlone(owner)
  try {
    return await listBackupTables(client)
  } finally {
    await client.end()
  }
}

/** Every row of every table as the database writes it, without the columns that a restore sets again. */
export async function everything({ owner, asSuperuser }: Pick<TestDatabase, 'owner' | 'asSuperuser'>) {
  await asSuperuser(`set timezone to 'UTC'`)
  const all: Record<string, string[]> = {}
  for (const { name } of await tablesOf(owner)) {
    const rows = await asSuperuser<{ line: string }>(
      `select (to_jsonb(t) - 'xid' - 'lease_until')::text as line from ${name} t order by 1`,
    )
    all[name] = rows.map(({ line }) => line)
  }
  return all
}

/** A database on which Sallyport has never run. */
export async function bareDatabase(): Promise<TestDatabase> {
  const db = await testDatabase()
  await dropOwned(db)
  const [row] = await db.asSuperuser<{ name: string }>('select current_database() as name')
  await db.asSuperuser(`grant connect, create on database ${row?.name} to ${ownerRole}`)
  await db.asSuperuser(`grant usage, create on schema public to ${ownerRole}`)
  await db.asSuperuser(`grant usage on schema public to ${appRole}, ${workRole}`)
  return db
}

/**
 * Drops what the owner owns in this database. PostgreSQL also changes the list of all the server's databases then, and fails if another
 * test file makes or drops one at that moment.
 */
async function dropOwned(db: Pick<TestDatabase, 'asSuperuser'>, attempts = 20): Promise<void> {
  try {
    await db.asSuperuser(`drop owned by ${ownerRole}`)
  } catch (error) {
    if (attempts === 1 || !/tuple concurrently|cache lookup failed for database/.test(String(error))) throw error
    await dropOwned(db, attempts - 1)
  }
}

/**
 * Gives this test file's databases their own server; returns a function that stops it. A restore is one long transaction, and
 * while it runs no later event is delivered in any database of its server: other files' tests would wait.
 */
export async function useOwnServer(): Promise<() => Promise<void>> {
  const { server, stop } = await startTestServer()
  const shared = process.env[serverVariable]
  process.env[serverVariable] = JSON.stringify(server)
  return async () => {
    if (shared === undefined) delete process.env[serverVariable]
    else process.env[serverVariable] = shared
    await stop()
  }
}
