import pg from 'pg'
import { Batch, nameOf, type WireStatement } from './batch.ts'
import { type ConnectionTarget, types } from './connect.ts'
import { mustBePreparedAgain } from './constraints.ts'
import { PreparedStatements } from './prepared-statements.ts'

/** A connection with an unanswered batch is dropped after this many ticks: a live server cancels a statement after 5 s. */
const maxSilentTicks = 8
/** The interval at which `tick` must be called. */
export const tickMs = 1_000
/** Opening a connection, and waiting for a free one, times out after this. */
export const maxConnectMs = 5_000

/** The connection is gone. Whether a write on it was committed is unknown. */
class ConnectionLost extends Error {
  readonly code = '08006'
}

/** The configuration of a `PgConnection`. */
export function pipelined(target: ConnectionTarget): pg.ClientConfig {
  return {
    ...target,
    types,
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: maxConnectMs,
    application_name: 'sallyport',
  }
}

/**
 * A client of `pg` that runs batches: each is one atomic transaction in one round trip. Batches are sent without waiting for
 * the answers to earlier ones. All batches of one tick of the event loop go in one write.
 */
export class PgConnection extends pg.Client {
  #inFlight = 0
  #quietTicks = 0
  #isLost = false
  #isCorked = false
  readonly #prepared = new PreparedStatements()

  /** `config` comes from `pipelined`. */
  constructor(config?: pg.ClientConfig) {
    super(config)
    const lose = () => {
      this.#isLost = true
    }
    this.on('error', lose)
    this.on('end', lose)
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** The number of batches that wait for their answer. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Ticks since the last answer, or since a first batch was sent. */
  get quietTicks(): number {
    return this.#quietTicks
  }

  /** Whether an explicit transaction is open, and whether it has failed. */
  get transaction(): 'none' | 'open' | 'failed' {
    const status = this.getTransactionStatus()
    return status === 'I' ? 'none' : status === 'T' ? 'open' : 'failed'
  }

  /** Whether the server has prepared the statement on this connection. */
  knows({ text }: WireStatement): boolean {
    return this.#prepared.shapeOf(nameOf(text)) !== undefined
  }

  /**
   * Runs the statements as one transaction, or within the explicit one that is open; returns the rows of each.
   * @throws the server's error, the error of a value that cannot be sent or read, or ConnectionLost: then a write may or may not
   *   be committed.
   */
  async run(statements: readonly WireStatement[]): Promise<unknown[][]> {
    try {
      return await this.#send(statements)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || !mustBePreparedAgain(error)) throw error
      this.#prepared.clear()
      // An explicit transaction has failed as a whole.
      if (this.transaction !== 'none') throw error
      // INVARIANT: the error came before the Sync. Nothing of the batch was committed, so even a write may be repeated.
      return await this.#send(statements)
    }
  }

  /**
   * Drops the connection if the server has not answered for 8 s. One timer serves all connections: `query_timeout` of `pg` sets
   * one for each batch, and garbage collection of so many takes as long as the batches themselves.
   */
  tick(): void {
    this.#quietTicks++
    if (this.#inFlight > 0 && this.#quietTicks > maxSilentTicks)
      this.connection.stream.destroy(new Error('no answer for 8 s'))
  }

  #send(statements: readonly WireStatement[]): Promise<unknown[][]> {
    return new Promise((resolve, reject) => {
      const batch = new Batch(statements, this.#prepared, (error, rows) => {
        this.#inFlight--
        this.#quietTicks = 0
        if (error == null) resolve(rows)
        else reject(batch.failure ?? lost(error))
      })
      this.#cork()
      if (this.#inFlight === 0) this.#quietTicks = 0
      this.#inFlight++
      this.query(batch)
    })
  }

  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    const { stream } = this.connection
    stream.cork()
    setImmediate(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }
}

function lost(cause: Error): ConnectionLost {
  return new ConnectionLost(`the connection to the database is lost: ${cause.message}`, { cause })
}
