import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { waitFor } from './wait.ts'

/** How long an owner that is just ending may keep the next one waiting. */
const patienceMs = 1_500

/** A hold on a data folder: one process at a time has it. */
export type Ownership = { release(): void }

type OwnerNote = { pid: number; mark: string }

/**
 * A text that names this very run of the process `pid`, so that a number used again is not taken for the old process:
 * its start moment where the system tells it. Undefined when there is no such process, or only its unreaped remains.
 */
export function processMark(pid: number): string | undefined {
  if (process.platform === 'linux') return linuxMark(pid)
  if (process.platform === 'darwin') {
    try {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
    } catch {
      return undefined
    }
  }
  return answersToSignal(pid) ? 'alive' : undefined
}

/** Whether the process that had `mark` is running still: cheap enough to be asked all the time. */
export function stillRuns(pid: number, mark: string): boolean {
  return process.platform === 'linux' ? linuxMark(pid) === mark : answersToSignal(pid)
}

function linuxMark(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program stands in parentheses and may hold anything: count from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}/${fields[19]}`
  } catch {
    return undefined
  }
}

function answersToSignal(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Makes this process the only owner of a data folder, through the file `file`. What a process left behind that was
 * killed is no obstacle; one that is alive is given a moment to end.
 * @throws Error naming the other process, when it stays.
 */
export async function takeOwnership(file: string): Promise<Ownership> {
  const mine = JSON.stringify({ pid: process.pid, mark: processMark(process.pid) ?? '' })
  let holder: number | undefined
  const taken = await waitFor(
    () => {
      holder = tryToTake(file, mine)
      return holder === undefined ? true : undefined
    },
    patienceMs,
    50,
  )
  if (taken === undefined) {
    throw new Error(
      `another Sallyport (pid ${holder}) is running on this data folder: stop it, or give this one a DATA_DIR of its own (\`${file}\` names the owner)`,
    )
  }
  return {
    release() {
      if (readText(file) === mine) rmSync(file, { force: true })
    },
  }
}

/** Undefined when the file is ours now, else the pid of the process that has it. */
function tryToTake(file: string, mine: string): number | undefined {
  const found = readText(file)
  if (found !== undefined) {
    const note = parseNote(found)
    if (note !== undefined && processMark(note.pid) === note.mark) return note.pid
    rmSync(file, { force: true })
  }
  try {
    writeFileSync(file, mine, { flag: 'wx', mode: 0o600 })
    return undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return parseNote(readText(file) ?? '')?.pid ?? 0
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function parseNote(text: string): OwnerNote | undefined {
  try {
    const note: unknown = JSON.parse(text)
    if (typeof note !== 'object' || note === null || !('pid' in note) || !('mark' in note)) return undefined
    return typeof note.pid === 'number' && typeof note.mark === 'string'
      ? { pid: note.pid, mark: note.mark }
      : undefined
  } catch {
    return undefined
  }
}
