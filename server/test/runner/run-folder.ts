import { chmodSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
/** Databases of a run, all at once, take a part of this. */
const neededBytes = 4 * 1024 ** 3

/**
 * Makes the folder in which a run keeps all that it writes. In memory where there is room: a run makes hundreds of databases,
 * and nothing of them outlives it. Short, since it holds sockets, and open to PostgreSQL's own user where the run is root's.
 */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(holdsRuns() ? memory : tmpdir(), 'sallyport-'))
  chmodSync(folder, 0o711)
  return folder
}

/** Programs may have to be copied there. */
function holdsRuns(): boolean {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === memory)
    const [, , type, options = 'noexec'] = mount?.split(' ') ?? []
    const { bavail, bsize } = statfsSync(memory)
    return type === 'tmpfs' && !options.split(',').includes('noexec') && bavail * bsize >= neededBytes
  } catch {
    return false
  }
}
