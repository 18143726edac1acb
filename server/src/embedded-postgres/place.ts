import { createHash } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { makeFolder } from '../kernel/make-folder.ts'

/** The user that PostgreSQL runs as when Sallyport runs as root: PostgreSQL refuses to run as root. */
export type RunAs = { uid: number; gid: number }

/** The files of the embedded PostgreSQL. `home` belongs to Sallyport; `data` and the sockets belong to `runAs`. */
export type Place = {
  home: string
  data: string
  lockFile: string
  ownerFile: string
  logFile: string
  passwordFile: string
  /** Undefined: the user that Sallyport itself runs as. */
  runAs: RunAs | undefined
}

export type Log = (line: string, detail?: object) => void

/** Until the database has a user of its own. */
export const nobody: RunAs = { uid: 65534, gid: 65534 }
const pointerName = 'postgres-is-at'
/** A socket's full path, with its final NUL, must fit into 104 bytes on macOS and 108 on Linux. */
const socketPathBytes = 103

/** Whether `user` has the rights `bits` on this file or folder (4 read, 1 enter or execute), by its mode alone. */
export function allows(file: { uid: number; gid: number; mode: number }, user: RunAs, bits: number): boolean {
  const shift = file.uid === user.uid ? 6 : file.gid === user.gid ? 3 : 0
  return ((file.mode >> shift) & bits) === bits
}

/** The uppermost folder on the path to `path` (including `path` if it is a folder) that `user` cannot enter. */
export function closedFolder(path: string, user: RunAs): string | undefined {
  const parent = dirname(path)
  const above = parent === path ? undefined : closedFolder(parent, user)
  if (above !== undefined) return above
  const found = statSync(path)
  return found.isDirectory() && !allows(found, user, 1) ? path : undefined
}

/**
 * Finds or creates the folder of the database: `dataDir` itself, unless Sallyport is root and the user that PostgreSQL runs as
 * cannot enter it.
 * @throws Error with a sentence for the operator.
 */
export function choosePlace(dataDir: string, log: Log): Place {
  const isRoot = process.getuid?.() === 0
  const folder = openFolder(resolve(dataDir), isRoot ? 0o711 : 0o700)
  const pointed = followPointer(folder)
  if (pointed !== undefined) return placeIn(pointed)
  const place = placeIn(folder)
  if (place.runAs === undefined) return place
  const mode = statSync(folder).mode
  if (!allows(statSync(folder), place.runAs, 1)) chmodSync(folder, (mode & 0o7777) | 0o011)
  const closed = closedFolder(folder, place.runAs)
  if (closed === undefined) return place
  if (existsSync(join(place.data, 'PG_VERSION'))) {
    throw new Error(
      `the database in \`${place.data}\` runs as user ${place.runAs.uid}, who cannot enter \`${closed}\`: allow it with \`chmod o+x ${closed}\``,
    )
  }
  const elsewhere = `/var/lib/sallyport-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`
  log(`the user that the database runs as cannot enter \`${closed}\`: the database is kept in \`${elsewhere}\``, {
    data_dir: folder,
    kept_in: elsewhere,
  })
  return placeIn(openFolder(elsewhere, 0o711))
}

/** The place of a database that was started before; undefined if there is none. Creates nothing. */
export function findPlace(dataDir: string): Place | undefined {
  const folder = resolve(dataDir)
  if (!existsSync(folder)) return undefined
  const place = placeIn(followPointer(folder) ?? realpathSync(folder))
  return existsSync(place.data) ? place : undefined
}

/** Notes in DATA_DIR that the database is kept elsewhere, once it exists, so that a lost folder is not taken for a first start. */
export function notePlace(dataDir: string, place: Place): void {
  const folder = realpathSync(resolve(dataDir))
  if (folder !== place.home) writeFileSync(join(folder, pointerName), `${place.home}\n`, { mode: 0o600 })
}

function followPointer(folder: string): string | undefined {
  const pointer = join(folder, pointerName)
  if (!existsSync(pointer)) return undefined
  const home = readFileSync(pointer, 'utf8').trim()
  if (existsSync(join(home, 'postgres'))) return home
  throw new Error(
    `the database of this data folder is kept in \`${home}\`, which is gone: restore that folder, or remove \`${pointer}\` to begin with an empty database`,
  )
}

function placeIn(home: string): Place {
  // The real path, as PostgreSQL reports it: the folder may be a link to another disk.
  const data = existsSync(join(home, 'postgres')) ? realpathSync(join(home, 'postgres')) : join(home, 'postgres')
  return {
    home,
    data,
    lockFile: join(home, 'postgres-owner.lock'),
    ownerFile: join(home, 'postgres-owner.json'),
    logFile: join(home, 'postgres.log'),
    passwordFile: join(home, 'postgres-password'),
    runAs: process.getuid?.() === 0 ? ownerOf(data) : undefined,
  }
}

/** A database that an ordinary user created keeps that user, even if root starts it. */
function ownerOf(data: string): RunAs {
  const found = statSync(data, { throwIfNoEntry: false })
  return found === undefined || found.uid === 0 ? nobody : { uid: found.uid, gid: found.gid }
}

function openFolder(path: string, mode: number): string {
  try {
    makeFolder(path, mode)
    accessSync(path, constants.W_OK | constants.X_OK)
    return realpathSync(path)
  } catch (error) {
    throw new Error(
      `the data folder \`${path}\` cannot be used (${(error as Error).message}): set DATA_DIR to a folder that Sallyport may write to, or start it as the folder's user`,
    )
  }
}

/** Creates a folder that is private to the user PostgreSQL runs as. */
export function makePrivateFolder(path: string, runAs: RunAs | undefined): void {
  makeFolder(path, 0o700)
  try {
    if (runAs !== undefined) chownSync(path, runAs.uid, runAs.gid)
  } catch (error) {
    throw new Error(
      `PostgreSQL does not run as root, and \`${path}\` cannot be given to user ${runAs?.uid} (${(error as Error).message}): start Sallyport as an ordinary user, or set DATABASE_URL to use a PostgreSQL of your own`,
    )
  }
  chmodSync(path, 0o700)
}

/**
 * Creates the private folder of the sockets: next to the data, or a separate short one if that path is too long for a socket. A
 * note keeps the name of the short folder, so that killed starts leave at most one behind.
 */
export function openSocketFolder(place: Place, port: number): string {
  const natural = join(place.home, 'postgres-socket')
  if (Buffer.byteLength(join(natural, `.s.PGSQL.${port}`)) <= socketPathBytes) {
    makePrivateFolder(natural, place.runAs)
    return natural
  }
  const noted = notedSocketFolder(place)
  if (noted !== undefined) return noted
  const root = Buffer.byteLength(tmpdir()) <= 60 ? tmpdir() : '/tmp'
  const short = mkdtempSync(join(root, 'sallyport-'))
  makePrivateFolder(short, place.runAs)
  writeFileSync(socketNote(place), short, { mode: 0o600 })
  return short
}

/** Removes the sockets' short folder, if there is one. */
export function closeSocketFolder(place: Place): void {
  const noted = notedSocketFolder(place)
  if (noted !== undefined) rmSync(noted, { recursive: true, force: true })
  rmSync(socketNote(place), { force: true })
}

function socketNote(place: Place): string {
  return join(place.home, 'postgres-socket-at')
}

/** The noted short folder, if it is still the private one we made: once it is gone, any user can create one of that name. */
function notedSocketFolder(place: Place): string | undefined {
  if (!existsSync(socketNote(place))) return undefined
  const folder = readFileSync(socketNote(place), 'utf8')
  const found: Stats | undefined = lstatSync(folder, { throwIfNoEntry: false })
  const owner = place.runAs?.uid ?? process.getuid?.()
  return found?.isDirectory() && found.uid === owner && (found.mode & 0o777) === 0o700 ? folder : undefined
}
