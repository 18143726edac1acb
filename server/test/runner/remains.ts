import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** A process that a run of tests started and that is there still. */
export type Remain = { pid: number; command: string }

/**
 * The processes that belong to the run whose temporary folder is `folder`: it stands in their environment, on their command
 * line, or they work in it. Only Linux tells; elsewhere none is found.
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
      // It ended while it was looked at, or is another user's.
      return []
    }
  })
}

/** Ends what is left of a run, and removes its folder. */
export async function endRemains(folder: string): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    const remains = findRemains(folder)
    if (remains.length === 0) break
    // PostgreSQL gives back its shared memory at the one signal and not at the other.
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
    // It ended meanwhile.
  }
}
