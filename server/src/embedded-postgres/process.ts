import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, constants, fchownSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import { childEnvironment, serverOptions, type Transport } from './cluster.ts'
import { openSocketFolder, type Place } from './place.ts'
import { type Endpoint, endpointOf, isPostmaster, probe } from './probe.ts'
import { waitFor } from './wait.ts'

/** A PostgreSQL server that answers. `end` returns how it ended; undefined while it runs. */
export type Running = { pid: number; endpoint: Endpoint; end(): string | undefined }

/** Recovery after a crash replays at most 512 MB of log, which takes far less than this on any usable disk. */
export const readyWithinMs = 60_000
/** The remains of a server that was just killed (its lock, its shared memory) are gone within moments. */
const maxLockWaitMs = 5_000
const temporaryObstacle = /lock file ".*" already exists|shared memory block .* still in use|Address already in use/
const logLimitBytes = 4 * 1024 * 1024

/**
 * Starts PostgreSQL on the place's data, in a process group of its own: Ctrl-C reaches only Sallyport, which finishes its work
 * first and then stops the database.
 * @throws Error with PostgreSQL's own messages if it does not start.
 */
export async function launch(place: Place, binaries: Binaries, transport: Transport): Promise<Running> {
  keepLogSmall(place.logFile)
  const deadline = performance.now() + maxLockWaitMs
  for (;;) {
    const outcome = await launchOnce(place, binaries, transport)
    if (typeof outcome !== 'string') return outcome
    if (!temporaryObstacle.test(outcome) || performance.now() > deadline) {
      throw new Error(`the embedded PostgreSQL did not start: ${outcome} (its log is \`${place.logFile}\`)`)
    }
    await pause(50)
  }
}

/** The running server, or the reason why there is none. */
async function launchOnce(place: Place, binaries: Binaries, transport: Transport): Promise<Running | string> {
  const port = transport === 'socket' ? 5432 : await freePort()
  const sockets = transport === 'socket' ? openSocketFolder(place, port) : ''
  const endpoint = endpointOf(place, transport === 'socket' ? sockets : '', port)
  // Does not follow a link: the folder is ours, but a write as root should not depend on that.
  const log = openSync(
    place.logFile,
    constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0),
    0o600,
  )
  // The folder may belong to a user, and root starts it this time: the log stays that user's.
  if (place.runAs !== undefined) fchownSync(log, statSync(place.home).uid, statSync(place.home).gid)
  const logStart = fstatSync(log).size
  const child = spawn(join(binaries.folder, 'bin', 'postgres'), serverOptions(place.data, transport, sockets, port), {
    cwd: place.data,
    detached: true,
    env: childEnvironment(),
    stdio: ['ignore', log, log],
    ...place.runAs,
  })
  closeSync(log)
  // `end` reports the end of the database; the child does not keep this process alive.
  child.unref()
  const end = followEnd(child)
  const goOn = endWithProcess({ pid: child.pid ?? 0, end })
  const ready = await waitFor(
    async () => end() ?? ((await probe(endpoint)).state === 'ready' ? true : undefined),
    readyWithinMs,
    5,
  )
  goOn()
  if (ready === true && child.pid !== undefined) return { pid: child.pid, endpoint, end }
  if (ready === undefined) child.kill('SIGKILL')
  const messages = readFileSync(place.logFile).subarray(logStart).toString().trim().split('\n').slice(-4).join('; ')
  return `${ready ?? `no answer within ${readyWithinMs / 1000} s`}; ${messages}`
}

/** Why the server ended, in its own words, such as that no space is left; undefined if its log does not say. */
export function lastWords({ logFile }: Pick<Place, 'logFile'>): string | undefined {
  const lines = readFileSync(logFile, 'utf8').split('\n').slice(-50)
  // A FATAL ends one session, and any may have ended for its own reason.
  return /(?:PANIC|FATAL): .*/.exec(lines.findLast((line) => /PANIC:|No space left/.test(line)) ?? '')?.[0]
}

function followEnd(child: ChildProcess): () => string | undefined {
  let end: string | undefined
  child.on('error', (error) => {
    end ??= error.message
  })
  child.on('exit', (code, signal) => {
    end ??= signal === null ? `exit code ${code}` : `signal ${signal}`
  })
  return () => end
}

/** Follows a server that is not our child: only the fact that it ended can be seen. */
export function followPostmaster(pid: number, place: Place): () => string | undefined {
  let end: string | undefined
  return () => {
    if (end === undefined && !isPostmaster(pid, place)) end = 'its process is gone'
    return end
  }
}

/**
 * Stops the server and waits until it is gone: fast (sessions end, everything is written), then immediate (the next start
 * recovers from the log), then by force. Each step has its time limit, in milliseconds.
 */
export async function shutDown(running: Running, place: Place, binaries: Binaries, fastMs = 10_000): Promise<void> {
  const steps = [
    ['SIGINT', 'fast', fastMs],
    ['SIGQUIT', 'immediate', 8_000],
    ['SIGKILL', undefined, 2_000],
  ] as const
  for (const [signal, mode, bound] of steps) {
    if (running.end() !== undefined) return
    if (process.platform === 'win32' && mode !== undefined) stopWithPgCtl(place, binaries, mode)
    else signalTo(running.pid, signal)
    if ((await waitFor(() => running.end(), bound, 5)) !== undefined) return
  }
  throw new Error(`the embedded PostgreSQL (pid ${running.pid}) did not stop`)
}

/**
 * Has the server end at once if this process exits without a stop, after a second signal or a fault: the next start recovers it from its
 * log. Returns what undoes that.
 */
export function endWithProcess(running: Pick<Running, 'pid' | 'end'>): () => void {
  const onExit = () => {
    // Without a pid it never began; 0 would be our own process group.
    const isRunning = running.pid > 0 && running.end() === undefined
    if (isRunning && process.platform !== 'win32') signalTo(running.pid, 'SIGQUIT')
  }
  process.once('exit', onExit)
  return () => process.removeListener('exit', onExit)
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Windows has no signals to other processes: PostgreSQL's own program sends them. */
function stopWithPgCtl(place: Place, binaries: Binaries, mode: 'fast' | 'immediate'): void {
  try {
    execFileSync(join(binaries.folder, 'bin', 'pg_ctl'), ['stop', '-D', place.data, '-m', mode, '-W'], {
      stdio: 'ignore',
    })
  } catch {
    // It ended meanwhile, or the next step is stronger.
  }
}

function keepLogSmall(logFile: string): void {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  if (size > logLimitBytes) renameSync(logFile, `${logFile}.1`)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free loopback port was found')
  return address.port
}
