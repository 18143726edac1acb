import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientOn } from '../db/client/connect.ts'
import { superuser } from './cluster.ts'
import type { Place } from './place.ts'

/** The facts that a client needs to connect: `host` is the sockets' folder, or 127.0.0.1 with a password. */
export type Endpoint = { host: string; port: number; superuser: string; password: string | undefined }

export type Answer =
  | { state: 'ready'; dataFolder: string; version: string }
  | { state: 'starting' }
  | { state: 'absent' }

/** The endpoint of the place's server: by socket, or by loopback if there is no sockets' folder. */
export function endpointOf(place: Place, socketFolder: string, port: number): Endpoint {
  if (socketFolder !== '') return { host: socketFolder, port, superuser, password: undefined }
  if (!existsSync(place.passwordFile)) {
    throw new Error(`the database's password is missing: restore \`${place.passwordFile}\``)
  }
  return { host: '127.0.0.1', port, superuser, password: readFileSync(place.passwordFile, 'utf8').trim() }
}

/** Asks the server at the endpoint which data folder it serves. */
export async function probe({ host, port, superuser: user, password }: Endpoint): Promise<Answer> {
  const target = { host, port, user, password, database: 'postgres', ssl: false }
  const client = clientOn({ ...target, connectionTimeoutMillis: 2_000, query_timeout: 2_000 }, 'sallyport-probe')
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ data_folder: string; version: string }>(
      `select current_setting('data_directory') as data_folder,
        split_part(current_setting('server_version'), ' ', 1) as version`,
    )
    const [row] = rows
    return row === undefined
      ? { state: 'absent' }
      : { state: 'ready', dataFolder: row.data_folder, version: row.version }
  } catch (error) {
    const code = (error as { code?: string }).code
    // 57P03: starting or stopping; 53300: every connection is taken, so it serves.
    return { state: code === '57P03' || code === '53300' ? 'starting' : 'absent' }
  } finally {
    await client.end().catch(() => {})
  }
}

/** The note (`postmaster.pid`) that a running or killed server has written about itself. */
export type PostmasterNote = { pid: number; port: number; socketFolder: string }

export function readPostmasterNote(place: Place): PostmasterNote | undefined {
  let text: string
  try {
    text = readFileSync(join(place.data, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const [pid, , , port, socketFolder] = text.split('\n')
  const note = { pid: Math.abs(Number(pid)), port: Number(port), socketFolder: socketFolder?.trim() ?? '' }
  return Number.isInteger(note.pid) && note.pid > 0 && note.port > 0 ? note : undefined
}

/** Whether the process `pid` is alive and, on Linux, has the place's data folder as its working directory. */
export function isPostmaster(pid: number, place: Place): boolean {
  if (process.platform !== 'linux') return isAlive(pid)
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === place.data
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * A process may happen to have the pid of a dead server. This keeps PostgreSQL from taking that process for the server and
 * refusing to start. The note itself stays: PostgreSQL uses it to find out whether sessions of the dead server are still running.
 */
export function disarmStaleNote(place: Place, note: PostmasterNote): void {
  if (process.platform !== 'linux' || !isAlive(note.pid)) return
  const file = join(place.data, 'postmaster.pid')
  const noSuchPid = 2_147_483_647
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^-?\d+/, String(noSuchPid)))
  if (note.socketFolder === '' || !existsSync(note.socketFolder)) return
  for (const name of readdirSync(note.socketFolder)) {
    if (name.startsWith('.s.PGSQL.')) rmSync(join(note.socketFolder, name))
  }
}
