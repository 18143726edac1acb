import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionTarget, connectAlone } from '../../src/db/client/connect.ts'
import { migrate } from '../../src/db/migrate.ts'
import { ownerRole, setUpRoles } from '../../src/db/roles.ts'
import { startEmbedded } from '../../src/embedded-postgres/start.ts'
import { faultSchema } from './sandbox-faults.ts'
import { startPostgres15 } from './system-postgres.ts'

/** The address of the run's one PostgreSQL; test files find it in the environment. */
export type TestServer = { host: string; port: number; user: string; password: string }

export const serverVariable = 'SALLYPORT_TEST_SERVER'
export const templateDatabase = 'sallyport_template'

type RunningServer = { server: TestServer; stop(): Promise<void> }

/** Starts the run's server, or one for a test file that runs alone. Returns a function that stops it. */
export async function startTestServer(): Promise<RunningServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sallyport-test-'))
  const embedded = await startEmbedded({ dataDir, log: () => undefined, onCrash: (reason) => console.error(reason) })
  const { host, port, superuser: user, password = '' } = embedded
  const server = { host, port, user, password }
  await forgoDurability(server)
  await makeTemplate(server)
  return {
    server,
    stop: async () => {
      await embedded.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** The same on the system's PostgreSQL 15, the oldest supported version. `env`: added to its environment. */
export async function startTestServerOn15(env?: Readonly<Record<string, string>>): Promise<RunningServer> {
  const { superuser, stop } = await startPostgres15(undefined, env)
  const server = { host: superuser.host ?? '', port: superuser.port ?? 0, user: superuser.user ?? '', password: '' }
  await makeTemplate(server)
  return { server, stop }
}

/** No data of this server outlives the run, so it need not survive a power cut. */
async function forgoDurability(server: TestServer): Promise<void> {
  const admin = await connectAlone({ ...server, database: 'postgres' })
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    await admin.query(`alter system set ${setting} = off`)
  }
  // Hundreds of databases come and go: autovacuum would do nothing but start and end a worker for each in turn.
  await admin.query(`alter system set autovacuum_naptime = '10min'`)
  await admin.query('select pg_reload_conf()')
  await admin.end()
}

/** A migrated database that each test file clones. */
export async function makeTemplate(server: TestServer): Promise<void> {
  const admin = await connectAlone({ ...server, database: 'postgres' })
  await admin.query(`create database ${templateDatabase}`)
  await admin.end()
  const inside = await connectAlone({ ...server, database: templateDatabase })
  await setUpRoles(inside, templateDatabase, { owner: 'owner', app: 'app' })
  await inside.query(faultSchema)
  await inside.end()
  await migrate(asRole(server, ownerRole, 'owner', templateDatabase))
}

/** The same server with another role and database. */
export function asRole(server: TestServer, user: string, password: string, database: string): ConnectionTarget {
  return { host: server.host, port: server.port, user, password, database }
}
