import { closeSync, lchownSync, lstatSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Place } from './place.ts'
import { waitFor } from './wait.ts'

/** How long an owner that is just ending may keep the next one waiting. */
const maxWaitMs = 1_500

/** The lock of a data folder: one process at a time has it. */
export type FolderLock = { release(): void }

/**
 * Makes this process the only owner of a data folder. An owner that is just ending is given a moment.
 * @throws Error naming the other process, when it stays.
 */
export async function lockFolder(place: Pick<Place, 'lockFile' | 'ownerFile'>): Promise<FolderLock> {
  const { lockFile, ownerFile } = place
  const lock = await waitFor(() => tryLock(lockFile), maxWaitMs, 50)
  if (lock === undefined) {
    const owner = readPid(ownerFile)
    const who = owner === undefined ? 'another Sallyport' : `another Sallyport (pid ${owner})`
    throw new Error(
      `${who} is running on this data folder: stop it, or give this one a DATA_DIR of its own (\`${lockFile}\` is locked)`,
    )
  }
  // For the message above alone: the lock does not depend on it.
  writeFileSync(ownerFile, JSON.stringify({ pid: process.pid }), { mode: 0o600 })
  return {
    release() {
      rmSync(ownerFile, { force: true })
      lock.release()
    },
  }
}

/**
 * Takes the lock, or returns undefined where another has it. SQLite asks the operating system, which releases the lock with
 * the end of the process, however that ends. Two that come at once cannot both find it free, as they can with a note in a
 * file; and unlike a socket, it is seen across containers on one volume.
 *
 * INVARIANT: nothing else in this process opens the file. The system releases the locks of a process on a file as soon as
 * the process closes it once.
 */
export function tryLock(file: string): FolderLock | undefined {
  makePrivateFile(file)
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // Nothing is ever written: no journal beside the file.
    database.exec('pragma journal_mode = memory; begin exclusive')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined
    throw error
  }
}

const sqliteBusy = 5

/** Makes the file where it is missing: for its owner alone, since another user could lock what they can read. */
function makePrivateFile(file: string): void {
  try {
    // Closed before anything is locked: it is new.
    closeSync(openSync(file, 'wx', 0o600))
    const { uid, gid } = statSync(dirname(file))
    // A user's own folder, started by root this time: the file is that user's.
    if (process.getuid?.() === 0) lchownSync(file, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (!lstatSync(file).isFile()) throw new Error(`\`${file}\` is no file: remove it`)
  }
}

function readPid(file: string): number | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const pid = typeof note === 'object' && note !== null && 'pid' in note ? note.pid : undefined
    return typeof pid === 'number' ? pid : undefined
  } catch {
    return undefined
  }
}
