import { randomUUID } from 'node:crypto'
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A build that is being made, or removed. No build has such a name, so what a killed process leaves is never served. */
const unfinished = '.tmp-'
const isBuild = (name: string) => /^[0-9a-f]{16}$/.test(name)

/** Another process may serve an older build, until it is replaced. */
const keptMs = 24 * 60 * 60 * 1_000
/** No build takes so long: its process was killed. */
const abandonedMs = 10 * 60 * 1_000

/** The folder of the build of this hash; undefined where there is none. */
export async function findBuild(builds: string, hash: string): Promise<string | undefined> {
  const folder = join(builds, hash)
  // It is put in place as a whole: with its page, it has everything.
  const page = await stat(join(folder, 'index.html')).catch(() => undefined)
  return page?.isFile() ? folder : undefined
}

/** @throws Error when no build can be put there */
export async function requireWritable(builds: string): Promise<void> {
  await mkdir(builds, { recursive: true })
  await access(builds, constants.W_OK)
}

/** Makes an empty folder for a new build, beside the others, so that a rename can put it in place. */
export async function makeBuildFolder(builds: string): Promise<string> {
  await mkdir(builds, { recursive: true })
  const folder = await mkdtemp(join(builds, unfinished))
  // A service that runs as another user than the one who built must be able to read it.
  await chmod(folder, 0o755)
  return folder
}

/** Puts a new build in place by one rename. Where another process was faster, its build stays, and this one is removed. */
export async function putInPlace(builds: string, made: string, hash: string): Promise<string> {
  const folder = join(builds, hash)
  try {
    await rename(made, folder)
    return folder
  } catch (error) {
    const other = await findBuild(builds, hash)
    if (other === undefined) throw error
    await rm(made, { recursive: true, force: true })
    return other
  }
}

/**
 * Removes builds of other hashes that are older than a day, and what killed builds left. `fresh`: a build that was just made, whose
 * time is compared: the clock of the file system alone says how old a folder is. What cannot be removed stays.
 */
export async function removeOldBuilds(builds: string, fresh: string): Promise<void> {
  const { mtimeMs: now } = await stat(fresh)
  for (const name of await readdir(builds)) {
    const folder = join(builds, name)
    const maxMs = isBuild(name) ? keptMs : name.startsWith(unfinished) ? abandonedMs : Number.POSITIVE_INFINITY
    const { mtimeMs = now } = (await stat(folder).catch(() => undefined)) ?? {}
    if (folder === fresh || now - mtimeMs < maxMs) continue
    // Under another name first: half a build is never found.
    const gone = join(builds, `${unfinished}${randomUUID()}`)
    await rename(folder, gone)
      .then(() => rm(gone, { recursive: true, force: true }))
      .catch(() => undefined)
  }
}
