import { setTimeout as pause } from 'node:timers/promises'
import { withinDeadline } from '../../kernel/deadline.ts'
import { TargetError } from '../driver.ts'
import type { Connections, LeasedConnection } from './connections.ts'
import type { Query } from './server-connection.ts'

/** Access to connections until the signal aborts. */
export type SessionAccess = { connections: Connections; signal: AbortSignal }

type LoginId = { oid: string; name: string }

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
  login: LoginId,
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
async function terminate(query: Query, login: LoginId, pids?: readonly string[]): Promise<string[]> {
  const among = pids === undefined ? '' : 'and pid = any ($2::int[])'
  const rows = await query(
    `select pid, pg_terminate_backend(pid) from pg_stat_activity where usesysid = $1::oid ${among}`,
    pids === undefined ? [login.oid] : [login.oid, pids],
  )
  return rows.map(({ pid }) => pid ?? '')
}

const retryMs = 200

/**
 * Disables a login against a hostile owner, who could block it by changing their password in a transaction that they leave
 * open. So their connections are ended first, and again while Sallyport waits. A function of theirs can change it in a connection of
 * somebody else, so whichever holds up Sallyport is ended too. `unblock`: what else may hold it up.
 */
export async function disableAgainstOwner<Result>(
  { connections, signal }: SessionAccess,
  login: LoginId,
  disable: (leased: LeasedConnection) => Promise<Result>,
  unblock: () => Promise<void> = () => Promise.resolve(),
): Promise<Result> {
  const use = <Answer>(work: (leased: LeasedConnection) => Promise<Answer>) =>
    connections.use({ signal, ahead: true }, work)
  let pid: string | undefined
  const disabling = use(async (leased) => {
    await terminate(leased.query, login)
    const [own] = await leased.query('select pg_backend_pid() as pid')
    pid = own?.pid ?? undefined
    return disable(leased)
  })
  disabling.catch(() => undefined)
  const isOver = () => disabling.then(() => true)
  while (!(await withinDeadline(retryMs, isOver, () => false))) {
    await use(async ({ query, facts }) => {
      await terminate(query, login)
      if (pid !== undefined) await terminateBlockers(query, pid, facts.me_oid)
    })
    await unblock()
  }
  return disabling
}

/** Ends the connections that `pid` waits for, beside those of superusers, which only a superuser may end, and of Sallyport itself. */
async function terminateBlockers(query: Query, pid: string, me_oid: string): Promise<void> {
  await query(
    `select pg_terminate_backend(s.pid) from pg_stat_activity s join pg_roles l on l.oid = s.usesysid
      where s.pid = any (pg_blocking_pids($1::int)) and not l.rolsuper and l.oid <> $2::oid`,
    [pid, me_oid],
  )
}
