import { setTimeout as pause } from 'node:timers/promises'
import type { SingleConnection } from './client/connect.ts'

/** The quarters that have a partition before they begin. Each partition makes a list of events about 5 µs slower, also an empty one. */
export const quartersAhead = 4

/** Shorter than a search for deadlocks: this waits for writers that may themselves wait for it. */
const lockTimeout = '900ms'
const tries = { max: 5, pauseMs: 1_000 }

/** A lock that did not come in time, and a deadlock. */
const isHeld: readonly (string | undefined)[] = ['55P03', '40P01']
const foreignKeyViolation = '23503'

/**
 * Makes the partitions of `event` for the quarters after this one that have none. It never fails a start: what cannot be made now stays in
 * the default partition, `say` gets a sentence, and the next start tries again. `today`: by the database's clock.
 */
export async function addEventQuarters(
  client: SingleConnection,
  say: (sentence: string) => void,
  today?: string,
): Promise<void> {
  const { rows } = await client.query<{ lacking: string[] }>(lackingQuery, [quartersAhead, today ?? null])
  for (const first of rows[0]?.lacking ?? []) {
    const problem = await addQuarter(client, first)
    if (problem !== undefined) {
      say(`events from ${first} on have no partition of their own: ${problem}. They are kept with the earlier ones`)
    }
  }
}

/** The first days of the quarters that are lacking; none in a database whose events are not partitioned yet. */
const lackingQuery = `
  select array(
    select to_char(q.first, 'YYYY-MM-DD')
    from (
        select date_trunc('quarter', coalesce($2::timestamp, now() at time zone 'UTC')) + make_interval(months => 3 * n)
        from generate_series(1, $1::integer) n) as q (first)
    where to_regclass('public.event_default') is not null
      and to_regclass('public.event_' || to_char(q.first, 'YYYY"_q"Q')) is null
    order by q.first) as lacking`

/** Returns why it could not be made. */
async function addQuarter(client: SingleConnection, first: string): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    await client.query('begin')
    try {
      await client.query(`select set_config('lock_timeout', $1, true), set_config('statement_timeout', '0', true)`, [
        lockTimeout,
      ])
      await client.query('select add_event_quarters($1::date, 1)', [first])
      await client.query('commit')
      return undefined
    } catch (error) {
      await client.query('rollback')
      const { code, message } = error as Error & { code?: string }
      if (code === foreignKeyViolation)
        return 'earlier events have ids of that time, and deliveries or notifications refer to them'
      if (!isHeld.includes(code)) return message
      if (attempt === tries.max) return 'other sessions hold the table'
      await pause(tries.pauseMs)
    }
  }
}
