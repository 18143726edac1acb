import { closeSync, lchownSync, lstatSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Place } from './place.ts'
import { waitFor } from './wait.ts'

/** How long a new owner waits for the previous one that is ending. */
const maxWaitMs = 1_500

/** The lock of a data folder: only one process at a time has it. */
export type FolderLock = { release(): void }

/**
 * Makes this process the only owner of a data folder. It waits shortly for an owner that is ending.
 * @throws Error naming the other process, if that keeps the lock.
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
  // Only for the message above: the lock does not depend on it.
  writeFileSync(ownerFile, JSON.stringify({ pid: process.pid }), { mode: 0o600 })
  return {
    release() {
      rmSync(ownerFile, { force: true })
      lock.release()
    },
  }
}

/**
 * Takes the lock, or returns undefined if another process has it. SQLite uses a lock of the operating system, which releases it
 * when the process ends, for any reason. Unlike with a note in a file, two processes cannot both find it free; unlike a socket,
 * it works across containers on one volume.
 *
 * INVARIANT: nothing else in this process opens the file. The system releases all locks of a process on a file as soon as the
 * process closes the file once.
 */
export function tryLock(file: string): FolderLock | undefined {
  makePrivateFile(file)
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // Nothing is ever written, so no journal file is needed. `begin exclusive` would also wait until no other process reads: of
    // several processes that try at the same moment, each could see another and none would get the lock.
    database.exec('pragma journal_mode = memory; begin immediate')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined
    throw error
  }
}

const sqliteBusy = 5

/** Creates the file if it is missing: private to its owner, since another user could lock a file that they can read. */
function makePrivateFile(file: string): void {
  try {
    // Closing it releases no lock, because the file is new.
    closeSync(openSync(file, 'wx', 0o600))
    const { uid, gid } = statSync(dirname(file))
    // The folder may belong to a user, and root starts it this time: the file must belong to that user.
    if (process.getuid?.() === 0) lchownSync(file, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (!lstatSync(file).isFile()) throw new Error(`\`${file}\` is not a file: remove it`)
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
