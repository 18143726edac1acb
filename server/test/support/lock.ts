import { sql } from '../../src/db/sql.ts'
import type { Tx } from '../../src/kernel/context.ts'
import type { House } from './house.ts'
import { until } from './wait.ts'

/** Waits until this many sessions of the house's database wait for a lock. */
export function locksAreWaitedFor(house: Pick<House, 'asSuperuser'>, sessions: number): Promise<unknown> {
  return until(`${sessions} sessions wait for a lock`, async () => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await house.asSuperuser(waiting)).length === sessions
  })
}

/** Waits until a session waits for a lock of this transaction. */
export function aLockIsWaitedFor(house: Pick<House, 'asSuperuser'>, inside: Tx): Promise<unknown> {
  return until('a session waits for the lock', async () => {
    const [me] = await inside.read(sql<{ pid: number }>`select pg_backend_pid() as pid`)
    const waiting = await house.asSuperuser('select pid from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [
      me?.pid,
    ])
    return waiting.length > 0
  })
}
