import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionTarget, connectAlone } from '../server/src/db/client/connect.ts'
import { migrate } from '../server/src/db/migrate.ts'
import { appRole, ownerRole, setUpRoles } from '../server/src/db/roles.ts'
import { startEmbedded } from '../server/src/embedded-postgres/start.ts'
import { fill, firstPending, type Rows } from './rows.ts'
import { gather, type People, startService } from './sallyport.ts'

/** The common fixture of all endpoint benches. */
export type Stage = People & {
  /** The database of the running service. */
  served: ConnectionTarget
  /** A copy that no service uses: writes to it trigger no work. */
  quiet: ConnectionTarget
  port: number
  rows: Rows
  serverVersion: string
  /** The number of the first of `count` pending requests that no other caller gets. */
  takePending(where: 'served' | 'quiet', count: number): number
  /** Postpones all due work, so that the service only handles the measured calls. */
  postponeWork(): Promise<void>
  close(): Promise<void>
}

export const database = 'sallyport'
const copy = 'sallyport_copy'

/** An embedded PostgreSQL with rows and the real service, in a folder that `close` removes. */
export async function openStage(rows: Rows): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  // Otherwise PostgreSQL would outlive this process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => close().finally(() => process.exit(1)))
  try {
    const { as, superuser, stop } = await startPostgres(folder)
    stops.push(stop)
    await makeDatabase(as(superuser, 'postgres'), as(superuser, database), as(ownerRole, database))
    const env = {
      DATA_DIR: join(folder, 'service'),
      DATABASE_URL: urlOf(as(appRole, database)),
      // Tokens are issued in this URL's name, so it must stay the same; the port changes with each start.
      PUBLIC_URL: 'http://127.0.0.1',
      SECRET_KEY: randomBytes(32).toString('base64'),
    }
    const first = await startService(env)
    const people = await gather(first.base_url, env.DATA_DIR).finally(first.stop)
    await fill(as(superuser, database), rows, people)
    await copyDatabase(as(superuser, 'postgres'))
    const service = await startService(env)
    stops.push(service.stop)
    const inside = await connectAlone(as(superuser, database))
    stops.push(() => inside.end())
    const { rows: versions } = await inside.query<{ server_version: string }>('show server_version')
    const postpone = (table: string) =>
      inside.query(`update ${table} set next_look_at = now() + interval '10 hours' where next_look_at < now()`)
    return {
      ...people,
      served: as(appRole, database),
      quiet: as(appRole, copy),
      port: service.port,
      rows,
      serverVersion: versions[0]?.server_version ?? '',
      takePending: givesPending(rows),
      postponeWork: async () => {
        await postpone('entitlement')
        await postpone('access_grant')
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function givesPending({ pending }: Rows): Stage['takePending'] {
  const taken = { served: 0, quiet: 0 }
  return (where, count) => {
    const first = firstPending + taken[where]
    taken[where] += count
    if (taken[where] > pending) throw new Error('there are no pending requests left')
    return first
  }
}

export async function startPostgres(dataDir: string) {
  const onCrash = (reason: string) => console.error(`PostgreSQL ended: ${reason}`)
  const { host, port, superuser, password, stop } = await startEmbedded({ dataDir, log: () => undefined, onCrash })
  const as = (user: string, database: string): ConnectionTarget => ({
    ...{ host, port, user, database },
    ...(password !== undefined && { password }),
  })
  return { as, superuser, stop }
}

export async function makeDatabase(
  server: ConnectionTarget,
  inside: ConnectionTarget,
  owner: ConnectionTarget,
): Promise<void> {
  const admin = await connectAlone(server)
  await admin.query(`create database ${database}`)
  await admin.end()
  const client = await connectAlone(inside)
  await setUpRoles(client, database, undefined)
  await client.end()
  await migrate(owner)
}

async function copyDatabase(server: ConnectionTarget): Promise<void> {
  const admin = await connectAlone(server)
  await admin.query(`create database ${copy} template ${database}`)
  await admin.query(`grant connect on database ${copy} to ${appRole}`)
  await admin.end()
}

export function urlOf({ host, port, user, password, database }: ConnectionTarget): string {
  const secret = password === undefined ? '' : `:${encodeURIComponent(String(password))}`
  return `postgres://${user}${secret}@/${database}?host=${encodeURIComponent(host ?? '')}&port=${port}`
}
