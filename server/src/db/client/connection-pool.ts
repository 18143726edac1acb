import pg from 'pg'
import type { ConnectionTarget } from './connect.ts'
import { translateDatabaseError } from './constraints.ts'
import { NoConnection } from './no-connection.ts'
import { PgConnection, pipelined } from './pg-connection.ts'

const maxIdleMs = 60_000

type Lent = PgConnection & Pick<pg.PoolClient, 'release'>

/** The pool of `pg`, with connections that run batches. Each serves one caller at a time and is opened on demand. */
export class ConnectionPool {
  readonly #pool: pg.Pool
  readonly #open = new Set<PgConnection>()
  #users = 0
  #closing: Promise<void> | undefined
  #onUnused = () => {}
  /** The number of callers that had to wait for a connection so far, and their total waiting time. */
  readonly waits = { count: 0, ms: 0 }

  constructor(target: ConnectionTarget, max: number) {
    this.#pool = new pg.Pool({ ...pipelined(target), Client: PgConnection, max, idleTimeoutMillis: maxIdleMs })
    this.#pool.on('connect', (connection) => this.#open.add(connection as Lent))
    this.#pool.on('remove', (connection) => this.#open.delete(connection as Lent))
    // An idle connection was lost: the pool has dropped it, and opens another on demand.
    this.#pool.on('error', () => undefined)
  }

  get open(): number {
    return this.#open.size
  }

  get busy(): number {
    return this.#pool.totalCount - this.#pool.idleCount
  }

  get waiting(): number {
    return this.#pool.waitingCount
  }

  tick(): void {
    for (const connection of this.#open) connection.tick()
  }

  /** Lends a connection for the duration of the work. @throws `unavailable` if none is free within 5 s, or none can be opened. */
  async use<Result>(work: (connection: PgConnection) => Promise<Result>): Promise<Result> {
    this.#users++
    try {
      const connection = await this.#acquire().catch(translateDatabaseError)
      try {
        return await work(connection)
      } finally {
        // INVARIANT: a connection with an open transaction or batches in flight is not lent again.
        connection.release(connection.transaction !== 'none' || connection.inFlight > 0)
      }
    } finally {
      this.#users--
      if (this.#users === 0) this.#onUnused()
    }
  }

  /** Waits for current users, then closes every connection. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #acquire(): Promise<Lent> {
    if (this.#closing !== undefined) throw new NoConnection('the connections to the database are closed')
    const mustWait = this.#pool.idleCount === 0
    const since = performance.now()
    try {
      return (await this.#pool.connect()) as Lent
    } catch (error) {
      throw NoConnection.from(error)
    } finally {
      if (mustWait) {
        this.waits.count++
        this.waits.ms += performance.now() - since
      }
    }
  }

  async #end(): Promise<void> {
    if (this.#users > 0) {
      await new Promise<void>((resolve) => {
        this.#onUnused = resolve
      })
    }
    const open = [...this.#open]
    const ended = open.map((connection) => new Promise((resolve) => connection.once('end', resolve)))
    await this.#pool.end()
    await Promise.all(ended)
  }
}
