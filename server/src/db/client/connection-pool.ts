import pg from 'pg'
import { createSemaphore, type Semaphore } from '../../kernel/semaphore.ts'
import type { ConnectionTarget } from './connect.ts'
import { translateDatabaseError } from './constraints.ts'
import { NoConnection } from './no-connection.ts'
import { maxConnectMs, PgConnection, pipelined } from './pg-connection.ts'

const maxIdleMs = 60_000

type Lent = PgConnection & Pick<pg.PoolClient, 'release'>

/**
 * The pool of `pg`, with connections that run batches. Each serves one caller at a time and is opened on demand. Tenants take turns: the first
 * caller of one waits for the work that runs, and for one work of each other tenant, however much of theirs waits.
 */
export class ConnectionPool {
  readonly #pool: pg.Pool
  readonly #places: Semaphore
  readonly #max: number
  readonly #open = new Set<PgConnection>()
  #users = 0
  #waiting = 0
  #closing: Promise<void> | undefined
  #onUnused = () => {}
  /** The number of callers that had to wait for a connection so far, and their total waiting time. */
  readonly waits = { count: 0, ms: 0 }

  constructor(target: ConnectionTarget, max: number) {
    this.#max = max
    this.#places = createSemaphore({
      ...{ limit: max, totalLimit: max, maxWaitMs: maxConnectMs },
      refusal: () => new NoConnection('no connection to the database became free in time'),
    })
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
    return this.#waiting
  }

  tick(): void {
    for (const connection of this.#open) connection.tick()
  }

  /**
   * Lends a connection for the duration of the work. `key`: the tenant whose turn it takes.
   * @throws `unavailable` if it has no turn within 5 s, or no connection opens within 5 s after that
   */
  async use<Result>(work: (connection: PgConnection) => Promise<Result>, key: string): Promise<Result> {
    if (this.#closing !== undefined)
      return translateDatabaseError(new NoConnection('the connections to the database are closed'))
    const since = performance.now()
    const mustWait = this.#users >= this.#max
    let hasPlace = false
    const withPlace = () => {
      hasPlace = true
      if (mustWait) this.#endWait(since)
      return this.#lend(work)
    }
    this.#users++
    if (mustWait) this.#waiting++
    try {
      return await this.#places.run(withPlace, { key })
    } catch (error) {
      if (hasPlace) throw error
      this.#endWait(since)
      return translateDatabaseError(error)
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

  #endWait(since: number): void {
    this.#waiting--
    this.waits.count++
    this.waits.ms += performance.now() - since
  }

  async #lend<Result>(work: (connection: PgConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#acquire().catch(translateDatabaseError)
    try {
      return await work(connection)
    } finally {
      // INVARIANT: a connection with an open transaction or batches in flight is not lent again.
      connection.release(connection.transaction !== 'none' || connection.inFlight > 0)
    }
  }

  async #acquire(): Promise<Lent> {
    return (await this.#pool.connect().catch((error: unknown) => {
      throw NoConnection.from(error)
    })) as Lent
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
