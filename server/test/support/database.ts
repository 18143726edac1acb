import { after } from 'node:test'
import { type ConnectionTarget, connectAlone } from '../../src/db/client/connect.ts'
import { appRole, ownerRole } from '../../src/db/roles.ts'
import { type Database, openDatabase } from '../../src/db/transaction.ts'
import { newId } from '../../src/kernel/id.ts'
import { asRole, serverVariable, startTestServer, type TestServer, templateDatabase } from './server.ts'
import { until } from './wait.ts'

export type TestDatabase = {
  database: Database
  /** As the service connects. */
  service: ConnectionTarget
  owner: ConnectionTarget
  /** As the superuser, exempt from tenant isolation: for reading or changing any row. */
  asSuperuser<Row extends Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>
  /** Registers a stop that must run before the database is dropped. */
  atEnd(stop: () => Promise<unknown>): void
}

/**
 * A migrated database of this test file's own, dropped when the file's tests are done. Await it at the top level of the file:
 * inside a `before` it would be dropped right after that `before`. `findTemplate`: a database to copy in place of the empty
 * one.
 */
export async function testDatabase(findTemplate?: (server: TestServer) => Promise<string>): Promise<TestDatabase> {
  const { server, stop } = await findServer()
  const { close, ...database } = await makeDatabase(server, await findTemplate?.(server))
  after(async () => {
    await close()
    await stop()
  })
  return database
}

/** A database on an existing server: `close` drops it, `leave` disconnects from it and keeps it. */
export type MadeDatabase = TestDatabase & { name: string; close(): Promise<void>; leave(): Promise<void> }

/** The same for a command that is not a test. */
export async function makeDatabase(server: TestServer, template = templateDatabase): Promise<MadeDatabase> {
  const name = `test_${newId().replaceAll('-', '')}`
  const admin = await connectAlone({ ...server, database: 'postgres' })
  // Copied as files: copying through the write-ahead log takes twice as long on a server that does not sync.
  await admin.query(`create database ${name} template ${template} strategy file_copy`)
  await admin.query(`grant connect on database ${name} to ${appRole}, ${ownerRole}`)
  await admin.query(`grant create on database ${name} to ${ownerRole}`)
  // On a busy machine a wait for a lock is no failure. After 8 s without an answer the service leaves its connection; and what waits holds
  // up the events of all databases.
  for (const [timeout, limit] of [['lock_timeout', '5s'] as const, ['statement_timeout', '7s'] as const]) {
    await admin.query(`alter role ${appRole} in database ${name} set ${timeout} = '${limit}'`)
  }
  const superuser = await connectAlone({ ...server, database: name })
  // If the server goes away, the next query reports it.
  superuser.on('error', () => undefined)
  const service = asRole(server, appRole, 'app', name)
  const database = openDatabase(service, { writes: 4, long: 3 })
  const stops: (() => Promise<unknown>)[] = []
  const leave = async () => {
    for (const end of stops.splice(0)) await end()
    await database.close()
    await superuser.end()
  }
  return {
    name,
    database,
    service,
    owner: asRole(server, ownerRole, 'owner', name),
    asSuperuser: async <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
      (await superuser.query<Row>(text, values)).rows,
    atEnd: (end) => {
      stops.push(end)
    },
    leave: async () => {
      await leave()
      await admin.end()
    },
    close: async () => {
      try {
        await leave()
        await dropDatabase(admin, name)
      } finally {
        await admin.end()
      }
    },
  }
}

async function dropDatabase(admin: Awaited<ReturnType<typeof connectAlone>>, name: string): Promise<void> {
  await undisturbed(`${name} is dropped`, () => admin.query(`drop database if exists ${name} with (force)`))
}

/** Takes connections away from everybody but superusers: 0, or gives them back: -1. */
export async function limitConnections(
  { asSuperuser }: Pick<TestDatabase, 'asSuperuser'>,
  limit: 0 | -1,
): Promise<void> {
  const [row] = await asSuperuser<{ name: string }>('select current_database() as name')
  const text = `alter database ${row?.name} connection limit ${limit}`
  await undisturbed(`${row?.name} has another limit`, () => asSuperuser(text))
  if (limit === -1) return
  await asSuperuser(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`)
}

/**
 * While many databases are created and dropped at once, PostgreSQL can refuse to change or drop one because another session has
 * just changed its catalog (XX000), or changes it, too (40P01), with nothing done.
 */
async function undisturbed(what: string, attempt: () => Promise<unknown>): Promise<void> {
  await until(what, async () => {
    try {
      await attempt()
      return true
    } catch (error) {
      if (['XX000', '40P01'].includes((error as { code?: string }).code ?? '')) return false
      throw error
    }
  })
}

export async function findServer(): Promise<{ server: TestServer; stop(): Promise<void> }> {
  const runningServer = process.env[serverVariable]
  if (runningServer === undefined) return startTestServer()
  return { server: JSON.parse(runningServer) as TestServer, stop: () => Promise.resolve() }
}
