import pg from 'pg'
import type { Egress } from '../../kernel/context.ts'
import { type LeftBehind, type Progress, TargetError } from '../driver.ts'
import { clearDatabase, disarmDatabase, rollBackPrepared } from './clear-left.ts'
import type { LeasedConnection } from './connections.ts'
import type { HeldRole } from './held-role.ts'
import { requireSameGiver } from './held-role.ts'
import { type Database, ensureLeftovers, findDatabases, findPrepared, joinLeft, listLeft } from './left-behind.ts'
import { disableMade, findMade, type MadeLogin, revokeMade } from './made-login.ts'
import type { Settings } from './postgresql-config.ts'
import { openServerConnection } from './server-connection.ts'
import { readRole } from './server-roles.ts'
import { disableAgainstOwner, endSessions, type SessionAccess } from './sessions.ts'

/** What the end of a made login needs: other databases are reached by connections of their own. */
type EndAccess = SessionAccess & { settings: Settings; egress: Egress }

const done: Progress = { done: true }
const clearing = 'clearing '

/**
 * The end of a made login: it can do nothing any more, and is dropped. What its user made is reported before it is moved, so that no crash
 * loses the report: the act goes on with the next poll.
 */
export async function endMade(access: EndAccess, held: HeldRole): Promise<Progress> {
  for (const login of await findHeld(access, held)) {
    await disable(access, login)
    const left = await listAndDisarm(access, held, login)
    if (left.total > 0) return { done: false, reference: `${clearing}${login.oid}`, left_behind: left }
    await clearAndDrop(access, held, login)
  }
  return done
}

/** The next step of an end that was reported. Another login than that one, and one that was enabled again, is left alone. */
export async function pollMadeEnd(access: EndAccess, held: HeldRole, reference: string): Promise<Progress> {
  const logins = await findHeld(access, held)
  const login = logins.find(({ oid, can_login }) => reference === `${clearing}${oid}` && !can_login)
  if (login === undefined) return done
  await disable(access, login)
  await clearAndDrop(access, held, login)
  return logins.length === 1 ? done : endMade(access, held)
}

function findHeld(access: EndAccess, held: HeldRole): Promise<MadeLogin[]> {
  return use(access, (leased) => {
    requireSameGiver(held, access.settings, leased.facts)
    return findMade(leased, held.login)
  })
}

async function disable(access: EndAccess, login: MadeLogin): Promise<void> {
  await use(access, (leased) => revokeMade(leased, login))
  await disableAgainstOwner(
    access,
    login,
    (leased) => disableMade(leased, login),
    () => rollBackEverywhere(access, login),
  )
  await endSessions(access, login, true)
}

/** A prepared transaction may hold the row of the login, so that it cannot be disabled. */
async function rollBackEverywhere(access: EndAccess, login: MadeLogin): Promise<void> {
  for (const database of await use(access, ({ query }) => findPrepared(query, login.oid))) {
    await inDatabase(access, login, database, (leased) => rollBackPrepared(leased.query, leased.facts.me, login))
  }
}

/** Lists what the login left in every database, and disarms it: one that cannot be reached keeps no other one armed. */
async function listAndDisarm(access: EndAccess, held: HeldRole, login: MadeLogin): Promise<LeftBehind> {
  const databases = await use(access, (leased) => findDatabases(leased, login.oid))
  const lent = databases.length === 0 ? undefined : await findLent(access, held)
  const parts: { database: string; left: LeftBehind }[] = []
  const failures: unknown[] = []
  for (const database of databases) {
    try {
      const left = await inDatabase(access, login, database, async (leased) => {
        const list = await listLeft(leased.query, login.oid)
        await disarmDatabase(leased, { me: leased.facts.me, login, access: lent })
        return list
      })
      parts.push({ database: database.name, left })
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return joinLeft(parts, access.settings.database)
}

async function clearAndDrop(access: EndAccess, held: HeldRole, login: MadeLogin): Promise<void> {
  const databases = await use(access, (leased) => findDatabases(leased, login.oid))
  if (databases.length > 0) {
    const leftovers = await use(access, (leased) => ensureLeftovers(leased, held.login))
    const lent = await findLent(access, held)
    for (const database of databases) {
      await inDatabase(access, login, database, (leased) =>
        clearDatabase(leased, { me: leased.facts.me, login, leftovers, access: lent }),
      )
    }
  }
  await use(access, ({ query }) => query(`drop role ${pg.escapeIdentifier(login.name)}`))
}

/** The role that the login held, if Sallyport may still grant it. */
async function findLent(access: EndAccess, held: HeldRole): Promise<string | undefined> {
  const role = await use(access, (leased) => readRole(leased, held.role))
  return role?.may_grant === true ? role.name : undefined
}

/** @throws TargetError that names the database and what keeps the login from being dropped */
async function inDatabase<Result>(
  { settings, egress, signal }: EndAccess,
  login: MadeLogin,
  { name, accepts }: Database,
  work: (leased: LeasedConnection) => Promise<Result>,
): Promise<Result> {
  const kept = `\`${login.name}\` cannot sign in any more, but cannot be dropped: in the database \`${name}\``
  if (!accepts)
    throw new TargetError('transient', `${kept} something belongs to it, and the database accepts no connections`)
  try {
    const connection = await openServerConnection({ ...settings, database: name }, egress, signal)
    try {
      return await work({ query: connection.queryWith(signal), facts: connection.facts })
    } finally {
      connection.destroy()
    }
  } catch (error) {
    if (!(error instanceof TargetError)) throw error
    // Whatever it is, an administrator can change it: the end is tried again.
    throw new TargetError('transient', `${kept} ${error.message}`)
  }
}

function use<Result>({ connections, signal }: EndAccess, work: (leased: LeasedConnection) => Promise<Result>) {
  return connections.use({ signal, ahead: true }, work)
}
