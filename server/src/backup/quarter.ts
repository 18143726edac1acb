/** A quarter's partition of the table `event`, and transactions of the owner about it. */
import type { SingleConnection } from '../db/client/connect.ts'

/** `partition`: its table. Its events, and so all references to them, have ids from `lowest` on, before `above`. */
export type Quarter = { quarter: string; partition: string; lowest: string; above: string }

/**
 * All locks of a transaction together. Calls wait behind a lock that is waited for, 1 s at most (`lock_timeout` of the service's role), and
 * PostgreSQL looks for a deadlock after as long: so this gives up first.
 */
const longestWaitMs = 500

/** A transaction. `end`: how it ends where `work` does not fail. */
export async function within<Result>(
  client: SingleConnection,
  end: 'commit' | 'rollback',
  work: () => Promise<Result>,
  begin: 'begin' | 'begin isolation level repeatable read' = 'begin',
): Promise<Result> {
  await client.query(begin)
  try {
    await client.query(`select set_config('lock_timeout', $1, true)`, [`${longestWaitMs}ms`])
    const result = await work()
    await client.query(end)
    return result
  } catch (error) {
    // A connection that is lost has rolled back too.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Takes the locks, such as `notification in share mode`, one after the other. */
export async function lockWithin(client: SingleConnection, locks: readonly string[]): Promise<void> {
  const end = performance.now() + longestWaitMs
  for (const lock of locks) {
    const left = Math.max(1, Math.floor(end - performance.now()))
    await client.query(`set local lock_timeout = ${left}; lock table ${lock}`)
  }
}

/** Needs a partition that the owner may see. @throws Error with a sentence for an event that a subscriber has not reached */
export async function requireDelivered(client: SingleConnection, { quarter, partition }: Quarter): Promise<void> {
  const { rows } = await client.query<{ subscriber: string }>(
    `select c.subscriber from event_cursor c
      where exists (select from ${partition} e where (e.xid, e.seq) > (c.xid, c.seq)) order by 1`,
  )
  if (rows.length > 0)
    throw undelivered(
      quarter,
      rows.map(({ subscriber }) => subscriber),
    )
}

export function undelivered(quarter: string, subscribers: readonly string[]): Error {
  return new Error(
    `events of ${quarter} are not delivered yet to ${subscribers.join(', ')}: start the service and wait`,
  )
}
