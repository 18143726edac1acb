import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isOver } from '../support/time-limit.ts'
import type { Batch } from './batches.ts'
import { readOutputs } from './outputs.ts'
import { brokenOff, type FromWorker, type Outcome } from './report.ts'

export type PoolOptions = {
  root: string
  /** The number of concurrent processes. */
  width: number
  env: NodeJS.ProcessEnv
  /** A process counts as hanging after this many milliseconds, on the reference machine, in which no test ends. */
  hangMs: number
  /** The time for work that tests leave behind after their end, such as connections that are closing. */
  settleMs?: number
  onOutcome: (outcome: Outcome) => void
  /** Ends the run: running processes are killed, and no more are started. */
  signal: AbortSignal
}

const usualSettleMs = 10_000
const checkEveryMs = 500
/** Tests make many short-lived objects: with room for more of them, a worker collects garbage in half the time. */
const roomForNew = '--max-semi-space-size=32'
const worker = fileURLToPath(new URL('worker.ts', import.meta.url))

/** Runs all batches in order, `width` processes at a time. */
export async function runBatches(batches: readonly Batch[], options: PoolOptions): Promise<void> {
  const left = batches.values()
  const slot = async () => {
    for (const { files } of left) await runFiles(files, options)
  }
  await Promise.all(Array.from({ length: options.width }, slot))
}

/** Runs the files of one batch; if a file ends the process, the rest run in another. */
async function runFiles(files: readonly string[], options: PoolOptions): Promise<void> {
  for (let left = files; left.length > 0 && !options.signal.aborted; ) {
    const ended = await runProcess(left, options)
    left = left.slice(ended)
  }
}

/** Runs files in a process until it ends; returns the number of files with a known result. */
async function runProcess(files: readonly string[], options: PoolOptions): Promise<number> {
  const child = spawn(process.execPath, [roomForNew, worker, ...files], {
    cwd: options.root,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // In its own process group: child processes that it did not end are ended with it.
    detached: true,
  })
  const state = {
    ended: 0,
    file: files[0] ?? '',
    startedAt: performance.now(),
    lastMessageAt: performance.now(),
    test: '',
  }
  /** Files that have ended, whose output may still arrive. */
  const unreported: Omit<Outcome, 'otherOutput'>[] = []
  const outputs = readOutputs(child, () => reportEnded(outputs.take))
  const reportEnded = (take: () => string | undefined) => {
    for (let [file] = unreported; file !== undefined; [file] = unreported) {
      const otherOutput = take()
      if (otherOutput === undefined) return
      unreported.shift()
      options.onOutcome({ ...file, otherOutput })
    }
  }
  const breakOff = (why: string) => {
    const seconds = (performance.now() - state.startedAt) / 1_000
    options.onOutcome(brokenOff(state.file, seconds, why, outputs.rest()))
  }
  child.on('message', (message: FromWorker) => {
    state.lastMessageAt = performance.now()
    if (message.type === 'started')
      Object.assign(state, { file: message.file, startedAt: state.lastMessageAt, test: '' })
    if (message.type === 'progress') state.test = message.test
    if (message.type !== 'finished') return
    state.ended += 1
    unreported.push(message)
    reportEnded(outputs.take)
  })
  const why = await endOf(child, options, () => {
    const isAtEnd = state.ended === files.length
    if (!isOver(state.lastMessageAt, isAtEnd ? (options.settleMs ?? usualSettleMs) : options.hangMs)) return undefined
    return isAtEnd
      ? `something that one of these files opened is still open: ${files.join(', ')}`
      : `no test ended for ${options.hangMs / 1_000} s; the last that did: ${state.test || 'none'}`
  })
  reportEnded(outputs.rest)
  if (options.signal.aborted) return files.length
  if (state.ended === files.length) {
    if (why !== undefined) breakOff(why)
    return files.length
  }
  breakOff(why ?? 'its process ended before its tests did')
  return state.ended + 1
}

/** Waits for the end of a process and of its outputs; returns what was wrong. `findFault` is called at intervals. */
async function endOf(
  child: ChildProcess,
  { signal }: PoolOptions,
  findFault: () => string | undefined,
): Promise<string | undefined> {
  let fault: string | undefined
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has just ended.
    }
  }
  const timer = setInterval(() => {
    fault ??= findFault()
    if (fault !== undefined) kill()
  }, checkEveryMs)
  signal.addEventListener('abort', kill)
  const ended = await new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code, by) => resolve(code === 0 || code === 1 ? undefined : `it ended with ${by ?? code}`))
  })
  clearInterval(timer)
  signal.removeEventListener('abort', kill)
  // Ends child processes that outlived it.
  kill()
  return fault ?? ended
}
