import { setTimeout as pause } from 'node:timers/promises'
import { type ConnectionTarget, clientOn, type SingleConnection } from '../../src/db/client/connect.ts'
import { type DatabaseFailure, failureOf } from '../../src/db/client/failure.ts'
import type { Query } from '../kill/acknowledged.ts'
import { until } from '../support/wait.ts'

/** What passes when another primary accepts connections. */
const passing: readonly DatabaseFailure[] = ['no_answer', 'read_only', 'starting', 'no_more_connections']

/** A connection whose server stands still is given up after this time. */
const answerMs = 15_000

/**
 * Queries on one connection, one at a time, that survive a failover: a lost connection is opened again, and its query is sent again. So a
 * query may be carried out twice: only what may be repeated is asked.
 */
export function openQuery(target: ConnectionTarget): { query: Query; close(): Promise<void> } {
  let client: SingleConnection | undefined
  const drop = () => {
    void client?.end().catch(() => undefined)
    client = undefined
  }
  const connected = async () => {
    if (client !== undefined) return client
    const next = clientOn({ ...target, query_timeout: answerMs }, 'sallyport-trial')
    next.on('error', drop)
    await next.connect()
    client = next
    return next
  }
  const attempt = async <Row extends Record<string, unknown>>(text: string, values: unknown[]) => {
    try {
      return (await (await connected()).query<Row>(text, values)).rows
    } catch (error) {
      const isPassing = passing.includes(failureOf(error)) || /timeout/i.test(String(error))
      if (!isPassing) throw error
      drop()
      await pause(100)
      return undefined
    }
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    query: (text, values = []) => {
      const next = last.then(() => until('the database answers', () => attempt<never>(text, values), 180_000))
      last = next.catch(() => undefined)
      return next
    },
    close: async () => {
      await last
      drop()
    },
  }
}
