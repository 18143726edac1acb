import type { ConnectionTarget } from './connect.ts'
import { NoConnection } from './no-connection.ts'
import { PgConnection, pipelined } from './pg-connection.ts'

/** An unused connection is closed after this many ticks, because network equipment may drop it silently. */
const maxIdleTicks = 60

/** One connection that the batches of many callers share. It is opened on demand, and again after a loss. */
export class SharedConnection {
  readonly #target: ConnectionTarget
  #current: PgConnection | undefined
  #opening: Promise<PgConnection> | undefined
  #waiting = 0
  #isClosed = false

  constructor(target: ConnectionTarget) {
    this.#target = target
  }

  get open(): number {
    return this.#current === undefined || this.#current.isLost ? 0 : 1
  }

  /** Batches that wait for their answer. */
  get busy(): number {
    return this.#current?.inFlight ?? 0
  }

  /** Callers that wait until it is open. */
  get waiting(): number {
    return this.#waiting
  }

  /** The open connection; undefined while there is none. */
  get current(): PgConnection | undefined {
    return this.#current?.isLost ? undefined : this.#current
  }

  tick(): void {
    const connection = this.#current
    connection?.tick()
    if (connection === undefined || connection.inFlight > 0 || connection.quietTicks < maxIdleTicks) return
    this.#current = undefined
    void connection.end()
  }

  /** Callers that arrive while it opens wait for the same connection. @throws if it cannot be opened within 5 s. */
  async connect(): Promise<PgConnection> {
    if (this.#isClosed) throw new NoConnection('the connections to the database are closed')
    this.#opening ??= this.#connect()
    this.#waiting++
    try {
      return await this.#opening
    } finally {
      this.#waiting--
    }
  }

  /** Waits for the batches in flight, then closes the connection. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#opening?.catch(() => undefined)
    const connection = this.#current
    this.#current = undefined
    await connection?.end()
  }

  async #connect(): Promise<PgConnection> {
    try {
      const connection = new PgConnection(pipelined(this.#target))
      await connection.connect()
      this.#current = connection
      return connection
    } catch (error) {
      throw NoConnection.from(error)
    } finally {
      this.#opening = undefined
    }
  }
}
