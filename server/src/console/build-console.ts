import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { childEnvironment } from '../config/child-environment.ts'
import { findBuild, makeBuildFolder, putInPlace, removeOldBuilds, requireWritable } from './builds.ts'
import { type Place, shownPath } from './place.ts'
import { hashSources } from './source-hash.ts'

/** Why there is no build, for the log. `shown`: for readers of the console's page, who need not know more. */
export class NoBuild extends Error {
  readonly shown: string
  constructor(message: string, shown = message) {
    super(message)
    this.shown = shown
  }
}

/** No build takes so long on any machine that can run the service. */
const maxBuildMs = 600_000
/** How often a build begins again because its sources have changed meanwhile. */
const maxTries = 3
/** Of what the build writes to standard error, enough for its one line. */
const maxErrorLength = 4_000

/** The folder of the build of this version; undefined if it must be built. @throws NoBuild when it cannot be */
export async function findConsole(place: Place): Promise<string | undefined> {
  const found = await findBuild(place.builds, await versionOf(place.root))
  if (found === undefined) await orNoBuild(place, () => requireWritable(place.builds))
  return found
}

/**
 * The folder of the build of this version, which is built if there is none. Several processes may do so at once.
 * @param onBegin called before a build begins
 * @throws NoBuild, also when the signal has ended it; nothing of the build is left then
 */
export async function buildConsole(place: Place, signal: AbortSignal, onBegin: () => unknown): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const version = await versionOf(place.root)
    const found = await findBuild(place.builds, version)
    if (found !== undefined) return found
    const made = await orNoBuild(place, () => makeBuildFolder(place.builds))
    try {
      if (tries === 1) onBegin()
      await runBuild(place, made, signal)
      // A build is named by what it was made of. Somebody who edits the console meanwhile gets the build of the edited one.
      if ((await versionOf(place.root)) === version) {
        const folder = await putInPlace(place.builds, made, version)
        // The build is there; what is left of others only takes space.
        await removeOldBuilds(place.builds, folder).catch(() => undefined)
        return folder
      }
    } finally {
      await rm(made, { recursive: true, force: true })
    }
    if (tries === maxTries) throw new NoBuild('its sources change while it is built; try again when they stay')
  }
}

/** The hash of the sources, which names their build. @throws NoBuild */
async function versionOf(root: string): Promise<string> {
  try {
    return await hashSources(root)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw new NoBuild(`its sources cannot be read (${message})`, 'its sources cannot be read')
    throw new NoBuild('this installation lacks the folder `console`; install the whole repository to have one')
  }
}

/** Does what writes into the folder of all builds. @throws NoBuild when it cannot be written */
async function orNoBuild<Result>(place: Place, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const path = shownPath(place, place.builds)
    throw new NoBuild(
      `\`${path}\` holds no build of this version and cannot be written (${code}); run \`npm run console:build\` ` +
        'where it can, and install the folder with the service',
    )
  }
}

/** Runs `console/build.ts`, at a low priority: the API answers meanwhile. */
async function runBuild({ root }: Place, folder: string, signal: AbortSignal): Promise<void> {
  const child = spawn(process.execPath, ['--no-warnings', join(root, 'console', 'build.ts'), folder], {
    cwd: root,
    env: childEnvironment(),
    // By the channel the build notices that this process is gone.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: maxBuildMs,
    killSignal: 'SIGKILL',
  })
  const end = () => child.kill('SIGKILL')
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(0, maxErrorLength)
  })
  lowerPriority(child.pid)
  const outcome = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, by) =>
      resolve(code === 0 ? undefined : (by ?? firstLine(errors) ?? `exit code ${code}`)),
    )
  })
  signal.removeEventListener('abort', end)
  if (outcome === undefined) return
  throw new NoBuild(
    `its build failed: ${outcome}; try \`npm run console:build\`, then start the service again`,
    'its build failed; the log of the service says why',
  )
}

function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It has ended already, or the system does not allow it.
  }
}

const firstLine = (text: string): string | undefined => text.split('\n').find((line) => line.trim() !== '')
