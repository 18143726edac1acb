import { chownSync, globSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { skipPostgres15 } from './system-postgres.ts'

/** Debian's package `libfaketime`: a library that answers a program's question for the time. */
const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1')

/** The reason to skip tests that set a database's clock; false: they run. */
export const skipSettableClock =
  skipPostgres15 || (library === undefined && 'there is no libfaketime: install it with `apt-get install libfaketime`')

/** A clock for programs that are started with `env`. Their monotonic clock goes on as it is. */
export async function openSettableClock() {
  const folder = await mkdtemp(join(tmpdir(), 'clock-'))
  // A server of PostgreSQL runs as another user.
  if (process.getuid?.() === 0) chownSync(folder, 65534, 65534)
  const file = join(folder, 'offset')
  /** Sets it to so many seconds after the machine's own, at once. */
  const set = async (seconds: number) => {
    await writeFile(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`)
    await rename(`${file}.new`, file)
  }
  await set(0)
  return {
    env: {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
    close: () => rm(folder, { recursive: true }),
  }
}
