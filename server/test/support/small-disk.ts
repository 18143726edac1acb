import { spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/** A disk of its own, which a test fills and empties again; gone when the file's tests are done. `folder`: where it is mounted. */
export type SmallDisk = { folder: string; fill(): void; empty(): void; freeBytes(): number }

/** Mounts one in memory; or returns why that is not possible, such as without the right to mount. */
export function mountSmallDisk(megabytes: number): SmallDisk | string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-disk-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { encoding: 'utf8' })
  if (mounted.status !== 0) {
    rmdirSync(folder)
    return `a disk of its own cannot be mounted: ${mounted.error?.message ?? mounted.stderr.trim()}`
  }
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755)
  after(() => {
    spawnSync('umount', [folder])
    rmdirSync(folder)
  })
  const filling = join(folder, 'filling')
  return {
    folder,
    fill() {
      const file = openSync(filling, 'w')
      try {
        for (let size = 1 << 20; size >= 4_096; size /= 2) writeWhileItFits(file, Buffer.alloc(size, 1))
      } finally {
        closeSync(file)
      }
    },
    empty: () => rmSync(filling),
    freeBytes: () => {
      const { bavail, bsize } = statfsSync(folder)
      return bavail * bsize
    },
  }
}

function writeWhileItFits(file: number, bytes: Buffer): void {
  try {
    while (writeSync(file, bytes) === bytes.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
