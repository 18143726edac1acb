import { setTimeout as pause } from 'node:timers/promises'
import { TargetError } from '../driver.ts'
import type { Connections } from './connections.ts'
import type { Login } from './held-role.ts'
import type { Ask } from './server-connection.ts'

/** How to come by a connection, for as long as the signal's owner waits. */
export type SessionAccess = { connections: Connections; signal: AbortSignal }

const maxMs = 10_000
const checkIntervalMs = 50

/**
 * Ends every connection that the login has, to whichever database, and waits until they are gone. While it can log in still,
 * what it opens meanwhile holds nothing, and stays; once it is shut nothing may be left, and one that was on its way in at
 * that moment is waited for.
 * @throws TargetError transient, where one does not end
 */
export async function endSessions(
  { connections, signal }: SessionAccess,
  login: Login,
  isShut: boolean,
): Promise<void> {
  const end = (pids?: readonly string[]) =>
    connections.use({ signal, ahead: true }, ({ ask }) => terminate(ask, login, pids))
  const until = performance.now() + maxMs
  const first = await end()
  let left = first
  for (let quietChecks = Number(left.length === 0); left.length > 0 || (isShut && quietChecks < 2); ) {
    if (performance.now() > until) {
      throw new TargetError('transient', `${left.length} connections of \`${login.name}\` are open still`)
    }
    await pause(checkIntervalMs)
    left = await end(isShut ? undefined : first)
    quietChecks = left.length === 0 ? quietChecks + 1 : 0
  }
}

/** Tells the login's connections to end, or of those the ones named; answers those that there were. */
export async function terminate(ask: Ask, login: Login, pids?: readonly string[]): Promise<string[]> {
  const among = pids === undefined ? '' : 'and pid = any ($2::int[])'
  const rows = await ask(
    `select pid, pg_terminate_backend(pid) from pg_stat_activity where usesysid = $1::oid ${among}`,
    pids === undefined ? [login.oid] : [login.oid, pids],
  )
  return rows.map(({ pid }) => pid ?? '')
}
