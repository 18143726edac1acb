import { spawn } from 'node:child_process'
import { chownSync, existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionTarget, connectAlone } from '../../src/db/client/connect.ts'
import { appRole, ownerRole, setUpRoles } from '../../src/db/roles.ts'
import { until } from './wait.ts'

const folder = '/usr/lib/postgresql/15/bin'

/** The reason to skip tests on the oldest supported PostgreSQL here; false: they run. */
export const skipPostgres15 = existsSync(join(folder, 'postgres')) ? false : `there is no PostgreSQL 15 in ${folder}`

type SystemPostgres = {
  service: ConnectionTarget
  owner: ConnectionTarget
  superuser: ConnectionTarget
  stop(): Promise<void>
}

/**
 * Starts the system's PostgreSQL 15 on a new data folder with our roles and an empty database, reached by a socket; with
 * `port`, also by TCP with a password. `env`: added to its environment.
 */
export async function startPostgres15(
  port?: number,
  env: Readonly<Record<string, string>> = {},
): Promise<SystemPostgres> {
  // Short, because a socket's path has a maximum length.
  const home = await mkdtemp(join(tmpdir(), '15-'))
  // PostgreSQL refuses to run as root.
  const runAs = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined
  if (runAs !== undefined) chownSync(home, runAs.uid, runAs.gid)
  const data = join(home, 'data')
  const run = (program: string, args: string[]) =>
    spawn(join(folder, program), args, { cwd: home, stdio: 'ignore', env: { LC_ALL: 'C', ...env }, ...runAs })
  const auth = ['--auth-local=trust', '--auth-host=scram-sha-256']
  const made = run('initdb', ['-D', data, '-U', 'postgres', ...auth, '--encoding=UTF8', '--locale=C', '-N'])
  const code = await new Promise((resolve) => made.on('exit', resolve))
  if (code !== 0) throw new Error(`initdb of PostgreSQL 15 ended with ${code}`)
  const at = port === undefined ? ['-c', 'listen_addresses='] : ['-c', 'listen_addresses=127.0.0.1', '-p', `${port}`]
  const server = run('postgres', ['-D', data, '-k', home, '-c', 'fsync=off', '-c', 'max_connections=150', ...at])
  const ended = new Promise((resolve) => server.on('exit', resolve))
  const as = (user: string): ConnectionTarget => ({ host: home, port: port ?? 5432, user, database: 'postgres' })
  const admin = await until('PostgreSQL 15 answers', () => {
    if (server.exitCode !== null) throw new Error(`PostgreSQL 15 ended with ${server.exitCode} before it answered`)
    return connectAlone(as('postgres')).catch(() => undefined)
  })
  await setUpRoles(admin, 'postgres', undefined)
  await admin.end()
  return {
    service: as(appRole),
    owner: as(ownerRole),
    superuser: as('postgres'),
    stop: async () => {
      server.kill('SIGINT')
      await ended
      await rm(home, { recursive: true, force: true })
    },
  }
}
