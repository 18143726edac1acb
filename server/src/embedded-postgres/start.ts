import type { Binaries } from './binaries.ts'
import { findPackage, prepareBinaries, removeOldCopies } from './binaries.ts'
import { ensureCluster, type Transport } from './cluster.ts'
import { lockFolder } from './folder-lock.ts'
import { giveOwnUser, warnOfNobody } from './own-user.ts'
import { choosePlace, closeSocketFolder, findPlace, type Log, notePlace, type Place } from './place.ts'
import {
  disarmStaleNote,
  type Endpoint,
  endpointOf,
  isPostmaster,
  type PostmasterNote,
  probe,
  readPostmasterNote,
} from './probe.ts'
import {
  endWithProcess,
  followPostmaster,
  lastWords,
  launch,
  type Running,
  readyWithinMs,
  shutDown,
} from './process.ts'
import { waitFor } from './wait.ts'

/** The running embedded PostgreSQL. `host` is the folder of its socket, or 127.0.0.1 with a password. */
export type EmbeddedPostgres = Endpoint & {
  pid: number
  /** Whether it was already running, left by a Sallyport that was killed. */
  tookOver: boolean
  /** Stops it and releases the data folder. Call it last, when nothing uses the database any more. */
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  /** Created if it does not exist. */
  dataDir: string
  log: Log
  /** Called once when the server ends without `stop`. */
  onCrash: (reason: string) => void
  /** Default: a unix socket; on Windows a loopback port and a password. */
  transport?: Transport
}

/** How often the server's end is checked; a server that was taken over is not our child, so the system does not report its end. */
const watchEveryMs = 200

/**
 * Starts the PostgreSQL that comes with Sallyport on `dataDir` and creates the database at the first start, or takes over a
 * server that a killed Sallyport left running. Returns once the server answers.
 * @throws Error with one sentence for the operator: what is wrong, and what to do about it.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const transport = options.transport ?? (process.platform === 'win32' ? 'loopback' : 'socket')
  const packageFolder = findPackage()
  const given = choosePlace(options.dataDir, options.log)
  const lock = await lockFolder(given)
  try {
    const first = prepareBinaries(packageFolder, given, options.log)
    await ensureCluster(given, first, transport, options.log)
    notePlace(options.dataDir, given)
    // After a crash, a process of the database may still be at work, and PostgreSQL would not see one of another user.
    const isStopped = readPostmasterNote(given) === undefined
    const place = isStopped ? giveOwnUser(given, options.log) : given
    if (!isStopped) warnOfNobody(place, options.log, 'until the next start after a clean stop')
    const binaries = place === given ? first : prepareBinaries(packageFolder, place, options.log)
    const found = await takeOver(place, binaries, options.log)
    const running = found ?? (await launch(place, binaries, transport))
    removeOldCopies(place, binaries)
    const watch = watchFor(running, place, options.onCrash)
    const goOn = endWithProcess(running)
    let stopping: Promise<void> | undefined
    const stop = async () => {
      clearInterval(watch)
      await shutDown(running, place, binaries)
      goOn()
      closeSocketFolder(place)
      lock.release()
    }
    return {
      ...running.endpoint,
      pid: running.pid,
      tookOver: found !== undefined,
      stop: () => {
        stopping ??= stop()
        return stopping
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * The endpoint of the database of a running Sallyport, for the operator's command line: nothing is started, owned or changed.
 * Undefined if none is running.
 */
export async function readRunningEmbedded(dataDir: string): Promise<Endpoint | undefined> {
  try {
    const place = findPlace(dataDir)
    const note = place && readPostmasterNote(place)
    if (place === undefined || note === undefined) return undefined
    const endpoint = endpointOf(place, note.socketFolder, note.port)
    const answer = await probe(endpoint)
    return answer.state === 'ready' && answer.dataFolder === place.data ? endpoint : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    throw new Error(`\`${dataDir}\` belongs to another user: run this as the user that Sallyport runs as, or as root`)
  }
}

function watchFor(running: Running, place: Place, onCrash: (reason: string) => void): NodeJS.Timeout {
  const watch = setInterval(() => {
    const end = running.end()
    if (end === undefined) return
    clearInterval(watch)
    const said = lastWords(place)
    const how = said === undefined ? end : `${end}; ${said}`
    onCrash(`the embedded PostgreSQL (pid ${running.pid}) ended by itself (${how}): its log is \`${place.logFile}\``)
  }, watchEveryMs)
  return watch.unref()
}

/** The server that a killed Sallyport left running; undefined if there is none, or if it is of another version. */
async function takeOver(place: Place, binaries: Binaries, log: Log): Promise<Running | undefined> {
  const note = readPostmasterNote(place)
  if (note === undefined) return undefined
  const found = await findServer(place, note)
  if (found === 'gone') {
    disarmStaleNote(place, note)
    return undefined
  }
  const running = { pid: note.pid, endpoint: found.endpoint, end: followPostmaster(note.pid, place) }
  if (found.version === binaries.version) {
    log('taking over a database that was left running', { pid: note.pid })
    return running
  }
  log('restarting a database that was left running, because it is of another version', { was: found.version })
  await shutDown(running, place, binaries)
  return undefined
}

/**
 * Finds the server of the place's data by its note. Waits for a server that is starting or stopping.
 * @throws Error if a server does not answer, or if this process cannot see it.
 */
async function findServer(
  place: Place,
  note: PostmasterNote,
): Promise<{ endpoint: Endpoint; version: string } | 'gone'> {
  const endpoint = endpointOf(place, note.socketFolder, note.port)
  const found = await waitFor(
    async () => {
      const answer = await probe(endpoint)
      const ours = isPostmaster(note.pid, place)
      if (answer.state !== 'ready') return ours && readPostmasterNote(place)?.pid === note.pid ? undefined : 'gone'
      if (ours && answer.dataFolder === place.data) return { endpoint, version: answer.version }
      // Only our own server answers on a socket in our own folder, so this process just cannot see it.
      if (note.socketFolder !== '' || answer.dataFolder === place.data) return 'hidden'
      return 'gone'
    },
    readyWithinMs,
    20,
  )
  if (found === 'hidden') {
    throw new Error(
      `a PostgreSQL that this process cannot see (in another container?) is serving \`${place.data}\`: stop the Sallyport it belongs to first`,
    )
  }
  if (found === undefined) {
    throw new Error(
      `a PostgreSQL (pid ${note.pid}) is running on \`${place.data}\` and does not answer: stop it with \`kill -QUIT ${note.pid}\``,
    )
  }
  return found
}
