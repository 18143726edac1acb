import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { type Log, makePrivateFolder, type Place } from './place.ts'

/** How the database is reached: by a unix socket in a private folder, or (on Windows) by a loopback port and password. */
export type Transport = 'socket' | 'loopback'

export const superuser = 'postgres'

const partialPrefix = 'postgres.partial-'

/**
 * Ensures a database of this version in the place: creates one if there is none.
 * @throws Error with a sentence if the folder has another major version, another user's database, or no database at all.
 */
export async function ensureCluster(place: Place, binaries: Binaries, transport: Transport, log: Log): Promise<void> {
  removeHalfMade(place, log)
  if (dataIsThere(place)) {
    requireMajor(place.data, readFileSync(join(place.data, 'PG_VERSION'), 'utf8').trim(), binaries.version)
    return
  }
  const partial = join(place.home, `${partialPrefix}${randomBytes(4).toString('hex')}`)
  makePrivateFolder(partial, place.runAs)
  await runInitdb(place, partial, binaries, transport)
  rmSync(place.data, { recursive: true, force: true })
  renameSync(partial, place.data)
  syncFolder(place.home)
  log(`a new database was made in \`${place.data}\``, { postgresql: binaries.version })
}

/**
 * Only the major version that created the database's files can read them.
 * @throws Error that says how to move from one version to the other.
 */
export function requireMajor(data: string, found: string, version: string): void {
  const major = version.split('.')[0]
  if (found === major) return
  throw new Error(
    `the database in \`${data}\` was made by PostgreSQL ${found} and this is PostgreSQL ${major}: write it to a file with \`npm run backup\` of the Sallyport version that made it, then read it into a new DATA_DIR with \`npm run restore\``,
  )
}

/** Whether the place holds a database; an empty folder counts as none. */
function dataIsThere(place: Place): boolean {
  if (!existsSync(place.data)) return false
  if (process.getuid !== undefined && process.getuid() !== 0 && statSync(place.data).uid !== process.getuid()) {
    throw new Error(
      `the database in \`${place.data}\` belongs to another user (${statSync(place.data).uid}): start Sallyport as that user, or as root`,
    )
  }
  const names = readdirSync(place.data)
  if (names.includes('PG_VERSION')) return true
  if (names.length === 0) return false
  throw new Error(`\`${place.data}\` is not empty and holds no database: move it away, or set another DATA_DIR`)
}

/** Removes the incomplete database of an earlier start that was killed. */
function removeHalfMade(place: Place, log: Log): void {
  for (const name of readdirSync(place.home).filter((entry) => entry.startsWith(partialPrefix))) {
    log(`removing an incomplete database of an interrupted start: \`${name}\``)
    // The process that made it may still be adding files: the next start removes the rest.
    try {
      rmSync(join(place.home, name), { recursive: true, force: true, maxRetries: 2 })
    } catch {}
  }
}

async function runInitdb(place: Place, folder: string, binaries: Binaries, transport: Transport): Promise<void> {
  const options = [
    ...['-D', folder, '-U', superuser, '--encoding=UTF8', '--data-checksums', '--no-instructions'],
    // The collation comes from PostgreSQL itself, so it does not change with the system's libraries.
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
    // No password on the socket: its folder, closed to all but its owner and root, protects it. A user that can enter the
    // folder could also read the database's files, and change what asks for a password.
    '--auth-local=trust',
    transport === 'socket' ? '--auth-host=reject' : '--auth-host=scram-sha-256',
    ...(transport === 'socket' ? [] : [`--pwfile=${writePassword(place)}`]),
  ]
  const child = spawn(join(binaries.folder, 'bin', 'initdb'), options, {
    cwd: folder,
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...place.runAs,
  })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => output.push(text.toString()))
  const outcome = await new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `exit code ${code}`)))
  })
  if (outcome === undefined) return
  rmSync(folder, { recursive: true, force: true })
  throw new Error(`the database could not be made in \`${place.data}\`: ${explainInitdb(output.join(''), outcome)}`)
}

/** Explains PostgreSQL's own error messages after initdb failed. */
export function explainInitdb(output: string, outcome: string): string {
  // Containers often run as a user without a name; the server itself does not need a name.
  const nameless = /could not look up effective user ID (\d+)/.exec(output)?.[1]
  if (nameless !== undefined) {
    return `PostgreSQL needs a name for the user it runs as, and this system has none for user ${nameless}: add a line for it to \`/etc/passwd\`, run as a user that has one, or set DATABASE_URL to use a PostgreSQL of your own`
  }
  const lines = output.split('\n').filter((line) => /error|fatal|could not/i.test(line))
  return `${outcome}; ${lines.slice(-3).join('; ')}`
}

function writePassword(place: Place): string {
  rmSync(place.passwordFile, { force: true })
  writeFileSync(place.passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' })
  if (place.runAs !== undefined) chownSync(place.passwordFile, place.runAs.uid, place.runAs.gid)
  return place.passwordFile
}

/** The part of our environment that PostgreSQL's programs get: no secret, and no setting meant for another database. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'SystemRoot', 'windir', 'TEMP', 'TMP'].map((name) => [name, process.env[name]] as const)
  return { ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)), LC_ALL: 'C', TZ: 'UTC' }
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** The server's settings at each start: a small share of memory and disk for one node. fsync stays on. */
export function serverOptions(data: string, transport: Transport, socketFolder: string, port: number): string[] {
  const settings: Record<string, string> = {
    cluster_name: 'sallyport',
    listen_addresses: transport === 'socket' ? '' : '127.0.0.1',
    unix_socket_directories: transport === 'socket' ? `"${socketFolder.replaceAll('"', '""')}"` : '',
    unix_socket_permissions: '0700',
    port: String(port),
    // A service uses at most thirty; several may share the server while one takes over from another.
    max_connections: '150',
    shared_buffers: '64MB',
    effective_cache_size: '256MB',
    // No replica reads the write-ahead log: the minimal level suffices, without processes for it.
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_logical_replication_workers: '0',
    min_wal_size: '64MB',
    max_wal_size: '512MB',
    // Features that only cost a small node: parallel queries, I/O workers, compiled queries.
    max_parallel_workers_per_gather: '0',
    max_parallel_maintenance_workers: '0',
    io_method: 'sync',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    // The log stays small: the error of a statement goes to its sender, which logs it. Terse leaves out the detail lines,
    // which quote rows.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    logging_collector: 'off',
  }
  return ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}
