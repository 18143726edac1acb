import { chmodSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
/** The space that the databases of a run may need together. */
const neededBytes = 4 * 1024 ** 3

/**
 * Makes the folder for everything that a run writes. In memory if there is room: a run makes hundreds of databases, and none
 * outlives it. The path is short, since the folder holds sockets. If root runs the tests, PostgreSQL's own user can access it.
 */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(holdsRuns() ? memory : tmpdir(), 'sallyport-'))
  chmodSync(folder, 0o711)
  return folder
}

/** Whether programs may be copied and run there. */
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
