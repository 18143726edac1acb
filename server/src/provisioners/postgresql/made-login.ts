import pg from 'pg'
import { type Held, type PlanInput, TargetError } from '../driver.ts'
import type { LeasedConnection } from './connections.ts'
import { begin, endFor, type HeldRole, requireMapped } from './held-role.ts'
import { leftoversPrefix } from './left-behind.ts'
import { beginOfComment, commentOf, isMade, type MadeMark, markOf } from './made-mark.ts'
import { nameOfServer, type Settings } from './postgresql-config.ts'
import { findLoginFault, findMakingFault, findOwnFault, findRoleFault, type MadeRoom, madeLimit } from './role-rules.ts'
import { isEffective, mayMakeRoles, type RoleFacts, readLogin, readRole, roomOf } from './server-roles.ts'

/** A login that Sallyport made for one grant and its extensions. */
export type MadeLogin = { oid: string; name: string; can_login: boolean; valid_until_ms: number | null }

/** The role that owns what the login left has its name and this prefix. */
const maxNameBytes = 63 - leftoversPrefix.length

/**
 * The name of the login of a grant: who, and which grant, for people who read the server's log. Only letters, digits and `_`, so that
 * no tool must quote it; PostgreSQL keeps names that begin with `pg_` to itself.
 */
export function nameOfMade({ user, first_grant_id }: Pick<PlanInput, 'user' | 'first_grant_id'>): string {
  const grant = `_${first_grant_id.replaceAll('-', '')}`
  const words = user.email
    .slice(0, user.email.lastIndexOf('@'))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '')
  const person = /^[a-z]/.test(words) && !words.startsWith('pg_') ? words : `u_${words}`
  return `${person.slice(0, maxNameBytes - grant.length).replace(/_$/, '')}${grant}`
}

/** What a grant of the role gives: a login that does not exist yet. @throws TargetError when it must not be given */
export async function planMade(
  leased: LeasedConnection,
  settings: Settings,
  names: { role: string; login: string },
): Promise<HeldRole> {
  const role = await requireRole(leased, names.role)
  await findOrRefuse(leased, names.login)
  return {
    server: nameOfServer(settings),
    granted_by: leased.facts.me,
    granted_by_oid: leased.facts.me_oid,
    role: role.name,
    role_oid: role.oid,
    login: names.login,
    login_oid: '0',
    manages_login: false,
    made: true,
  }
}

/** `mark`: says who makes the login. */
type Giving = { held: HeldRole; until: Date; mark: MadeMark | undefined }

/** Makes the login, without a password, until shortly after the end, and grants it the role. All or nothing, so that no kill leaves it unmarked. */
export async function giveMade(leased: LeasedConnection, settings: Settings, { held, until, mark }: Giving) {
  const { query } = leased
  requireMapped(settings, held.role)
  await query(begin)
  // A server may be set so that the maker of a role can act as it.
  await query(`set local createrole_self_grant = ''`)
  const role = await requireRole(leased, held.role)
  const found = await findOrRefuse(leased, held.login)
  const login = found?.name ?? held.login
  const name = quoted(login)
  const end = pg.escapeLiteral(endFor(found, until).toISOString())
  const limit = madeLimit(await readMadeRoom(leased, login))
  if (found === undefined && limit < 1) throw new TargetError('transient', noneLeft, true)
  const limits = `connection limit ${Math.max(1, limit)} valid until ${end}`
  await query(`${found === undefined ? 'create' : 'alter'} role ${name} login inherit ${limits}`)
  if (found === undefined) await query(`comment on role ${name} is ${pg.escapeLiteral(commentOf(held.login, mark))}`)
  // An extension may get another role than the grants before it, where the config has changed since.
  const before = found === undefined ? [] : await listGiven(leased, found)
  for (const other of before) if (found !== undefined && other !== role.name) await takeRole(leased, found, other)
  // Only by inheritance, as for a login of the user's own.
  await query(`grant ${quoted(role.name)} to ${name} with admin false, inherit true, set false granted by current_user`)
  await query('commit')
  // Others may have been made at the same moment, each without a look at this one. Nobody has its password yet.
  const left = Math.max(1, madeLimit(await readMadeRoom(leased, login)))
  if (left < limit) await query(`alter role ${name} connection limit ${left}`)
}

const noneLeft =
  'the logins that Sallyport made at the server could take all its connections, and Sallyport needs some to end them: this one is made when another ends; ' +
  'set `reserved_connections` and grant Sallyport’s role `pg_use_reserved_connections`, or raise `max_connections`'

/** What the login of that name can have, which Sallyport makes beside others. */
async function readMadeRoom({ query, facts }: LeasedConnection, name: string): Promise<MadeRoom> {
  const [row] = await query(
    `select ${roomOf('null::oid')} as room, ${roomOf('$1::oid')} as our_room,
        (select coalesce(sum(case when l.rolconnlimit < 0 then current_setting('max_connections')::int
            else l.rolconnlimit end), 0)
          from pg_roles l where ${isMade} and l.rolname <> $2::name
            and (l.rolcanlogin or exists (select from pg_stat_activity a where a.usesysid = l.oid))) as taken`,
    [facts.me_oid, name],
  )
  return { room: Number(row?.room), our_room: Number(row?.our_room), taken: Number(row?.taken) }
}

/** The logins made for this access: more than one only where an administrator copied the mark. */
export async function findMade({ query }: LeasedConnection, login: string): Promise<MadeLogin[]> {
  const rows = await query(
    `select l.oid, l.rolname as name, l.rolcanlogin as can_login,
        extract(epoch from l.rolvaliduntil) * 1000 as valid_until_ms
      from pg_roles l where ${beginOfComment} = $1::text order by l.oid`,
    [markOf(login)],
  )
  return rows.map(({ oid, name, can_login, valid_until_ms }) => ({
    oid: oid ?? '',
    name: name ?? '',
    can_login: can_login === 't',
    valid_until_ms: valid_until_ms == null ? null : Number(valid_until_ms),
  }))
}

/** What the server holds. `until`: null when it should hold nothing; then a login that can do nothing any more counts too. */
export async function checkMade(leased: LeasedConnection, held: HeldRole, until: Date | null): Promise<Held> {
  const made = await findMade(leased, held.login)
  if (until === null) return made.length === 0 ? 'absent' : 'held'
  const [given] = await leased.query(
    `select bool_and(l.rolvaliduntil < $3::timestamptz) as ends_early
      from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles l on l.oid = m.member
      where (r.rolname = $1::name or r.oid = $2::oid) and l.oid = any ($4::oid[]) and l.rolcanlogin and ${isEffective}`,
    [held.role, held.role_oid, until.toISOString(), made.map(({ oid }) => oid)],
  )
  if (given?.ends_early == null) return 'absent'
  return given.ends_early === 't' ? 'ends_early' : 'held'
}

/** Revokes what Sallyport granted to the login. By itself, so that nothing that holds up the next step keeps the access. */
export async function revokeMade(leased: LeasedConnection, login: MadeLogin): Promise<void> {
  for (const role of await listGiven(leased, login)) await takeRole(leased, login, role)
}

/** The login can sign in no more: not by a password, and not without one. */
export async function disableMade({ query }: LeasedConnection, login: MadeLogin): Promise<void> {
  await query(`alter role ${quoted(login.name)} nologin password null`)
}

/** The roles that the login holds by Sallyport's grant. */
async function listGiven({ query, facts }: LeasedConnection, { oid }: MadeLogin): Promise<string[]> {
  const rows = await query(
    `select r.rolname as role from pg_auth_members m join pg_roles r on r.oid = m.roleid
      where m.member = $1::oid and m.grantor = $2::oid`,
    [oid, facts.me_oid],
  )
  return rows.map(({ role }) => role ?? '')
}

async function takeRole({ query }: LeasedConnection, login: MadeLogin, role: string): Promise<void> {
  await query(`revoke ${quoted(role)} from ${quoted(login.name)} granted by current_user`)
}

async function requireRole(leased: LeasedConnection, name: string): Promise<RoleFacts> {
  const role = await readRole(leased, name)
  const why =
    findOwnFault(leased.facts) ??
    findMakingFault(leased.facts, await mayMakeRoles(leased.query)) ??
    findRoleFault(name, role, leased.facts.me)
  if (why !== undefined || role === undefined) throw new TargetError('permanent', why ?? '')
  return role
}

/** The login made before; undefined: none. @throws TargetError when a role of its name is not ours, or has become more than that login */
async function findOrRefuse(leased: LeasedConnection, login: string): Promise<MadeLogin | undefined> {
  const [found] = await findMade(leased, login)
  const facts = await readLogin(leased, found?.name ?? login)
  if (facts === undefined) return undefined
  const why =
    found === undefined
      ? `the server has a role \`${login}\` that Sallyport did not make: drop it, or request the access again`
      : findLoginFault(found.name, facts, true, leased.facts.me)
  if (why !== undefined) throw new TargetError('permanent', why)
  return found
}

function quoted(name: string): string {
  return pg.escapeIdentifier(name)
}
