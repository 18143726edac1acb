import { Worker } from 'node:worker_threads'
import { type ErrorCode, Problem } from './errors.ts'

/**
 * Runs long computations in a thread of their own, so that no request waits for them. The thread starts at the first call. One
 * computation of each tenant runs at a time, beside those of other tenants; its others wait for their turn.
 */
export type Beside = {
  /**
   * Calls a function in the thread. `work` must be exported under its own name by the module at `url` (its `import.meta.url`),
   * and depend on nothing but its arguments, which are copied, as is the result.
   * @throws what the function throws, if it is a `Problem`; Problem 503 when too much of the tenant waits, or the thread ended
   */
  run<Args extends unknown[], Result>(
    tenant_id: string,
    url: string,
    work: Work<Args, Result>,
    args: Args,
  ): Promise<Result>
}

/** A function of a module. */
export type Work<Args extends unknown[], Result> = (...args: Args) => Result | Promise<Result>
/** A call as it is sent to the thread. */
export type Call = { id: number; url: string; name: string; args: unknown[] }
/** What the thread answers. A `Problem` crosses as its parts; any other error as itself. */
export type Answer = { id: number } & ({ result: unknown } | { problem: ProblemParts } | { error: unknown })
export type ProblemParts = { code: ErrorCode; message: string; details: Record<string, unknown> | undefined }

/** Calls of one tenant that may wait, and for how long: the server closes a connection that is silent for 20 s. */
const limits = { waiting: 200, waitMs: 10_000 }
const tooMany = new Problem(
  'unavailable',
  'too many computations of this tenant wait for their turn; try again in a moment',
)

export function openBeside(waitMs = limits.waitMs): Beside {
  const thread = openThread()
  const turns = openTurns(waitMs)
  return {
    async run<Args extends unknown[], Result>(tenant_id: string, url: string, work: Work<Args, Result>, args: Args) {
      await turns.take(tenant_id)
      try {
        return (await thread.call(url, work.name, args)) as Result
      } finally {
        turns.giveBack(tenant_id)
      }
    },
  }
}

/** One turn for each tenant. */
function openTurns(waitMs: number) {
  /** What waits, for each tenant whose turn is taken. */
  const waitingOf = new Map<string, (() => void)[]>()
  return {
    /** @throws Problem 503 when too many wait, or this one has waited too long */
    async take(tenant_id: string): Promise<void> {
      const waiting = waitingOf.get(tenant_id)
      if (waiting === undefined) {
        waitingOf.set(tenant_id, [])
        return
      }
      if (waiting.length >= limits.waiting) throw tooMany
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(tooMany)
      }, waitMs)
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      waiting.push(begin)
      return promise
    },
    giveBack(tenant_id: string): void {
      const next = waitingOf.get(tenant_id)?.shift()
      if (next === undefined) waitingOf.delete(tenant_id)
      else next()
    },
  }
}

/** The worker thread. It starts at the first call, and again at the next call after its end. */
function openThread() {
  let worker: Worker | undefined
  let lastId = 0
  const pending = new Map<number, { resolve(result: unknown): void; reject(error: unknown): void }>()

  function start(): Worker {
    const started = new Worker(new URL('./beside-worker.ts', import.meta.url))
    started.on('message', (answer: Answer) => settle(started, answer))
    started.on('error', () => undefined)
    started.on('exit', () => lose(started))
    return started
  }

  function settle(from: Worker, answer: Answer): void {
    const call = pending.get(answer.id)
    pending.delete(answer.id)
    if (pending.size === 0) from.unref()
    if ('result' in answer) call?.resolve(answer.result)
    else if ('error' in answer) call?.reject(answer.error)
    else call?.reject(problemOf(answer.problem))
  }

  /** The thread ended, for example because it ran out of memory: its calls fail. */
  function lose(lost: Worker): void {
    if (worker === lost) worker = undefined
    const failed = [...pending.values()]
    pending.clear()
    for (const { reject } of failed) reject(new Problem('unavailable', 'the computation was interrupted; try again'))
  }

  return {
    call(url: string, name: string, args: unknown[]): Promise<unknown> {
      worker ??= start()
      const on = worker
      const id = ++lastId
      return new Promise((resolve, reject) => {
        on.postMessage({ id, url, name, args } satisfies Call)
        pending.set(id, { resolve, reject })
        // A pending call keeps the process alive, an idle thread does not.
        on.ref()
      })
    },
  }
}

function problemOf({ code, message, details }: ProblemParts): Problem {
  return new Problem(code, message, details === undefined ? {} : { details })
}

/** The thread of this process. */
export const beside: Beside = openBeside()
