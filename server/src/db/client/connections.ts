import type { WireStatement } from './batch.ts'
import type { ConnectionTarget } from './connect.ts'
import { ConnectionPool } from './connection-pool.ts'
import { type PgConnection, tickMs } from './pg-connection.ts'
import { QueryLatency, readServerClock } from './query-latency.ts'
import { SharedConnection } from './shared-connection.ts'

/** The maximum numbers of connections, besides the one that quick reads share. */
export type ConnectionLimits = {
  /** For batches that write: each commit waits for the disk. */
  writes: number
  /** For statements that may be slow, and for transactions that read before they write. */
  long: number
}

/** The state of the connections. `waited` and `waited_ms` only grow: callers that had to wait, and their total waiting time. */
export type Load = { open: number; busy: number; waiting: number; waited: number; waited_ms: number }

/**
 * Connections by kind, so that no statement waits behind a slower one. Quick reads of many callers share one connection. Writes
 * and work that may be slow have a pool each; neither takes connections from the other.
 */
export class Connections {
  readonly #latency = new QueryLatency()
  readonly #shared: SharedConnection
  readonly #writes: ConnectionPool
  readonly #long: ConnectionPool
  readonly #timer = setInterval(() => this.#tick(), tickMs).unref()

  /** Opens nothing yet. */
  constructor(target: ConnectionTarget, limits: ConnectionLimits) {
    this.#shared = new SharedConnection(target)
    this.#writes = new ConnectionPool(target, limits.writes)
    this.#long = new ConnectionPool(target, limits.long)
  }

  /** Runs one statement after those that open its transaction; returns its rows. `key`: whose turn for a connection it takes. */
  async read(opening: readonly WireStatement[], statement: WireStatement, key: string): Promise<unknown[]> {
    const { isQuick, isDue } = this.#latency.use(statement)
    const run = (connection: PgConnection) =>
      isDue ? this.#measure(connection, opening, statement) : runLast(connection, [...opening, statement])
    return isQuick ? run(this.#shared.current ?? (await this.#shared.connect())) : this.#long.use(run, key)
  }

  /** Runs the statements after those that open their transaction, as one batch; returns the rows of each. */
  write(opening: readonly WireStatement[], statements: readonly WireStatement[], key: string): Promise<unknown[][]> {
    const run = async (connection: PgConnection) =>
      (await connection.run([...opening, ...statements])).slice(opening.length)
    return this.#writes.use(run, key)
  }

  /** Lends a connection for a transaction of several round trips. */
  hold<Result>(work: (connection: PgConnection) => Promise<Result>, key: string): Promise<Result> {
    return this.#long.use(work, key)
  }

  load(): Load {
    const pools = [this.#writes, this.#long]
    const all = [this.#shared, ...pools]
    return {
      open: sum(all.map(({ open }) => open)),
      busy: sum(all.map(({ busy }) => busy)),
      waiting: sum(all.map(({ waiting }) => waiting)),
      waited: sum(pools.map(({ waits }) => waits.count)),
      waited_ms: sum(pools.map(({ waits }) => waits.ms)),
    }
  }

  /** Waits for the work in flight. */
  async close(): Promise<void> {
    // The timer runs until then, so that a server that hangs cannot delay the close.
    await Promise.all([this.#shared.close(), this.#writes.close(), this.#long.close()])
    clearInterval(this.#timer)
  }

  #tick(): void {
    for (const connections of [this.#shared, this.#writes, this.#long]) connections.tick()
  }

  async #measure(
    connection: PgConnection,
    opening: readonly WireStatement[],
    statement: WireStatement,
  ): Promise<unknown[]> {
    // The first run includes parsing and planning: it is not measured.
    const isFirst = !connection.knows(statement)
    const results = await connection.run([...opening, readServerClock, statement, readServerClock])
    const [before, rows = [], after] = results.slice(opening.length) as [{ ms: number }[], unknown[], { ms: number }[]]
    if (!isFirst) this.#latency.add(statement, (after[0]?.ms ?? 0) - (before[0]?.ms ?? 0))
    return rows
  }
}

async function runLast(connection: PgConnection, statements: readonly WireStatement[]): Promise<unknown[]> {
  const results = await connection.run(statements)
  return results.at(-1) ?? []
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
