import { existsSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { until } from './wait.ts'

/**
 * A new DATA_DIR, removed when the file's tests are done together with an embedded PostgreSQL that a killed service left
 * running.
 */
export async function dataFolder(): Promise<string> {
  const data_dir = await mkdtemp(join(tmpdir(), 'sallyport-journey-'))
  after(async () => {
    const pid = postmasterOf(data_dir)
    if (pid !== undefined && isAlive(pid)) {
      process.kill(pid, 'SIGQUIT')
      await until('the PostgreSQL left behind has ended', async () => !isAlive(pid))
    }
    rmSync(data_dir, { recursive: true, force: true })
  })
  return data_dir
}

/** The process id of the embedded PostgreSQL from its own PID file, while that exists. */
export function postmasterOf(data_dir: string): number | undefined {
  const note = join(data_dir, 'postgres', 'postmaster.pid')
  return existsSync(note) ? Number(readFileSync(note, 'utf8').split('\n', 1)[0]) : undefined
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
