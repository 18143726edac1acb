import { createSemaphore } from '../../kernel/semaphore.ts'
import { NotNow, TargetError } from '../driver.ts'
import type { Facts, Query, ServerConnection } from './server-connection.ts'

/** A borrowed connection. */
export type LeasedConnection = { query: Query; facts: Facts }

/** A small connection pool for one server; idle connections are kept for a while. */
export type Connections = {
  /**
   * Runs the work with a connection. When the work fails, the connection is closed, which aborts anything it had begun. `ahead`:
   * gets a connection before waiting callers without `ahead`.
   * @throws NotNow when no connection became free in time
   */
  use<Result>(
    options: { signal: AbortSignal; ahead: boolean },
    work: (leased: LeasedConnection) => Promise<Result>,
  ): Promise<Result>
  /** Closes idle connections at once, and the others when they are released. */
  close(): void
}

const maxConnections = 4
const idleForMs = 20_000
const maxWaitMs = 5_000
const retryAfterMs = 500

type Idle = { connection: ServerConnection; timer: NodeJS.Timeout }

/** `open` makes a connection under the signal of its first caller. */
export function openConnections(open: (signal: AbortSignal) => Promise<ServerConnection>): Connections {
  const idle: Idle[] = []
  const lending = createSemaphore({ limit: maxConnections, maxWaitMs, refusal: () => new NotNow(retryAfterMs) })
  let isClosed = false

  const lend = async <Result>(
    signal: AbortSignal,
    work: (leased: LeasedConnection) => Promise<Result>,
  ): Promise<Result> => {
    const connection = takeIdle(idle) ?? (await open(signal))
    try {
      return await work({ query: connection.queryWith(signal), facts: connection.facts })
    } catch (error) {
      connection.destroy()
      throw error
    } finally {
      if (!connection.isLost()) {
        if (isClosed) connection.end()
        else keep(idle, connection)
      }
    }
  }

  return {
    async use({ signal, ahead }, work) {
      if (isClosed) throw new TargetError('transient', 'the provisioner was changed during the call')
      return lending.run(() => lend(signal, work), { isUrgent: ahead, signal })
    },
    close() {
      isClosed = true
      for (const { connection, timer } of idle.splice(0)) {
        clearTimeout(timer)
        connection.end()
      }
    },
  }
}

function takeIdle(idle: Idle[]): ServerConnection | undefined {
  for (;;) {
    const last = idle.pop()
    if (last === undefined) return undefined
    clearTimeout(last.timer)
    if (!last.connection.isLost()) return last.connection
  }
}

function keep(idle: Idle[], connection: ServerConnection): void {
  const timer = setTimeout(() => {
    const at = idle.findIndex((one) => one.connection === connection)
    if (at !== -1) idle.splice(at, 1)
    connection.end()
  }, idleForMs)
  idle.push({ connection: connection, timer: timer.unref() })
}
