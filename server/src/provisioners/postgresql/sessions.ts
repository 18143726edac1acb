import { setTimeout as pause } from 'node:timers/promises'
import { TargetError } from '../driver.ts'
import type { Connections } from './connections.ts'
import type { Login } from './held-role.ts'
import type { Query } from './server-connection.ts'

/** Access to connections until the signal aborts. */
export type SessionAccess = { connections: Connections; signal: AbortSignal }

const maxMs = 10_000
const checkIntervalMs = 50

/**
 * Ends every connection of the login, to all databases, and waits until they are gone. While the login can still log in, its new
 * connections have no access and stay. Once it is disabled, no connection may remain, including one that was logging in at
 * that moment.
 * @throws TargetError transient, when a connection does not end
 */
export async function endSessions(
  { connections, signal }: SessionAccess,
  login: Login,
  isDisabled: boolean,
): Promise<void> {
  const end = (pids?: readonly string[]) =>
    connections.use({ signal, ahead: true }, ({ query }) => terminate(query, login, pids))
  const until = performance.now() + maxMs
  const first = await end()
  let left = first
  for (let quietChecks = Number(left.length === 0); left.length > 0 || (isDisabled && quietChecks < 2); ) {
    if (performance.now() > until) {
      throw new TargetError('transient', `${left.length} connections of \`${login.name}\` are still open`)
    }
    await pause(checkIntervalMs)
    left = await end(isDisabled ? undefined : first)
    quietChecks = left.length === 0 ? quietChecks + 1 : 0
  }
}

/** Terminates the login's connections, or only those in `pids`; returns the ids of those found. */
export async function terminate(query: Query, login: Login, pids?: readonly string[]): Promise<string[]> {
  const among = pids === undefined ? '' : 'and pid = any ($2::int[])'
  const rows = await query(
    `select pid, pg_terminate_backend(pid) from pg_stat_activity where usesysid = $1::oid ${among}`,
    pids === undefined ? [login.oid] : [login.oid, pids],
  )
  return rows.map(({ pid }) => pid ?? '')
}
