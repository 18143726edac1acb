import { type DatabaseFailure, failureOf } from '../db/client/failure.ts'
import { sharedCall } from '../kernel/shared-call.ts'

/** The answer to who asks `/readyz`: what is missing, without names and addresses. */
const sentences: Readonly<Record<DatabaseFailure, string>> = {
  no_answer: 'the database does not answer',
  credentials: 'the database refuses the credentials of the service',
  no_database: 'the database of the service does not exist',
  forbidden: 'the database refuses the service a right that it needs',
  read_only: 'the database is read-only, as a standby is',
  disk_full: 'the disk of the database is full',
  no_more_connections: 'the database accepts no more connections',
  starting: 'the database is starting or stopping',
  other: 'the database takes no writes',
}

/** What an operator does about it. */
const advice: Readonly<Partial<Record<DatabaseFailure, string>>> = {
  credentials: 'start the service with the password that the role has now',
  no_database: 'check DATABASE_URL',
  forbidden: '`npm run db:setup -- --keep-passwords` repairs grants',
  read_only: 'DATABASE_URL must lead to the primary',
  disk_full: 'make room on it',
  no_more_connections: 'raise its max_connections, or run fewer processes',
}

/** A database that takes longer counts as one that does not answer, so that each question gets its answer. */
const maxProbeMs = 2_000
/** The database is asked at most once in this time, however often the process is. */
const freshForMs = 1_000
/** Without questions: the log has the cause, and other processes see this one. */
const everyMs = 5_000
const logAgainMs = 60_000

type Log = { error(fields: { err: unknown }, line: string): void; info(line: string): void }

export type Readiness = {
  /** Undefined where a write succeeds now, else a sentence that says why not. */
  check(): Promise<string | undefined>
  /** What the last check found. */
  isReady(): boolean
  stop(): void
}

type Failure = { kind: DatabaseFailure; error: unknown }

/**
 * Finds out whether the database takes writes, by a write. The log has the cause in words at once, then once a minute while it lasts, and
 * says when it is over.
 */
export function openReadiness({
  probe,
  log,
  now = () => performance.now(),
}: {
  probe: () => Promise<unknown>
  log: () => Log
  now?: () => number
}): Readiness {
  let last: { at: number; failure: Failure | undefined } | undefined
  let current: { kind: DatabaseFailure; since: number; loggedAt: number } | undefined

  const ask = sharedCall<Failure | undefined>(
    maxProbeMs,
    async () => {
      const at = now()
      const failure = await probe().then(
        () => undefined,
        (error: unknown) => ({ kind: failureOf(error), error }),
      )
      last = { at, failure }
      return failure
    },
    () => ({ kind: 'no_answer', error: new Error(`no answer within ${maxProbeMs} ms`) }),
  )
  const note = (failure: Failure | undefined) => {
    if (failure === undefined) {
      if (current !== undefined)
        log().info(`the database takes writes again, after ${Math.round((now() - current.since) / 1_000)} s`)
      current = undefined
      return
    }
    const { kind, error } = failure
    if (current?.kind === kind && now() - current.loggedAt < logAgainMs) return
    const hint = advice[kind] === undefined ? '' : `: ${advice[kind]}`
    log().error({ err: error }, `not ready, because ${sentences[kind]}${hint}`)
    current = { kind, since: current?.since ?? now(), loggedAt: now() }
  }
  const check = async () => {
    const failure = last !== undefined && now() - last.at < freshForMs ? last.failure : await ask()
    note(failure)
    return failure && sentences[failure.kind]
  }
  const timer = setInterval(() => void check(), everyMs).unref()
  return { check, isReady: () => current === undefined, stop: () => clearInterval(timer) }
}
