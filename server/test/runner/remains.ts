import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** A process that a test run started and that is still running. */
export type Remain = { pid: number; command: string }

/**
 * The processes of the run whose temporary folder is `folder`: it is in their environment, on their command line, or is their
 * working folder. Works only on Linux; elsewhere none is found.
 */
export function findRemains(folder: string): Remain[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid) return []
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()
      const belongs = () =>
        command.includes(folder) ||
        readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) ||
        readFileSync(`/proc/${pid}/environ`, 'latin1').includes(folder)
      return command !== '' && belongs() ? [{ pid, command }] : []
    } catch {
      // It has ended meanwhile, or is another user's.
      return []
    }
  })
}

/** Ends the remaining processes of a run, and removes its folder. */
export async function endRemains(folder: string): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    const remains = findRemains(folder)
    if (remains.length === 0) break
    // PostgreSQL releases its shared memory at SIGQUIT and not at SIGKILL.
    for (const { pid, command } of remains) {
      signal(pid, command.includes('postgres') && round < 50 ? 'SIGQUIT' : 'SIGKILL')
    }
    await pause(100)
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended meanwhile.
  }
}
