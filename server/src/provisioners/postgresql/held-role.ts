import pg from 'pg'
import { type Held, type Target, TargetError } from '../driver.ts'
import type { LeasedConnection } from './connections.ts'
import { fitsName, nameOfServer, type Settings } from './postgresql-config.ts'
import { findLoginFault, findOwnFault, findRoleFault, managedLimit, mayTakeAll } from './role-rules.ts'
import { isEffective, isHeldByOthers, type LoginFacts, type RoleFacts, readLogin, readRole } from './server-roles.ts'

/**
 * One role that a login holds by Sallyport's grant. It has names and oids: a role that is renamed meanwhile is still found by
 * its oid.
 */
export type HeldRole = {
  server: string
  /** The granting role. */
  granted_by: string
  granted_by_oid: string
  role: string
  role_oid: string
  login: string
  login_oid: string
  /** Whether the login is enabled and disabled together with the role. */
  manages_login: boolean
  /** Whether Sallyport made the login, for this access alone. It is found by its mark, since it has no oid before. */
  made: boolean
}

/** The server itself disables an enabled login this long after the end, in case Sallyport is not running then. */
const graceMs = 60_000

/**
 * The entitlement of a role and a login.
 * @throws TargetError when it must not be given
 */
export async function resolveRole(
  leased: LeasedConnection,
  settings: Settings,
  names: { role: string; login: string },
): Promise<{ held_role: HeldRole; held: boolean; needs_set_role: boolean }> {
  const { role, login } = await lookUp(leased, names, settings.managesLogins)
  const held = (!settings.managesLogins || login.can_login) && (await isHeldByOthers(leased, role, login))
  if (settings.managesLogins && !held) await requireOurs(leased, role, login)
  const held_role = {
    server: nameOfServer(settings),
    granted_by: leased.facts.me,
    granted_by_oid: leased.facts.me_oid,
    role: role.name,
    role_oid: role.oid,
    login: login.name,
    login_oid: login.oid,
    manages_login: settings.managesLogins,
    made: false,
  }
  return { held_role, held, needs_set_role: !login.inherits }
}

/** The key of an entitlement: the same for every grant of this role to this login at this server. */
export function keyOf({ server, granted_by, role, login, made }: HeldRole): string {
  // A made login has one role. One that lost it is still the same access.
  return JSON.stringify(made ? [server, granted_by, login] : [server, granted_by, role, login])
}

/** Reads the result of `resolveRole` from the ledger. */
export function readHeldRole(target: Target): HeldRole {
  const text = (name: string) => String(target[name])
  return {
    server: text('server'),
    granted_by: text('granted_by'),
    granted_by_oid: text('granted_by_oid'),
    role: text('role'),
    role_oid: text('role_oid'),
    login: text('login'),
    login_oid: text('login_oid'),
    manages_login: target.manages_login === true,
    made: target.made === true,
  }
}

/**
 * INVARIANT: a role given at one server, or by one granting role, is never checked or removed at another: it would count as
 * absent there, and stay in place.
 * @throws TargetError
 */
export function requireSameGiver(held: HeldRole, settings: Settings, { me, me_oid }: LeasedConnection['facts']): void {
  const server = nameOfServer(settings)
  const back = 'set the provisioner back until the access is removed'
  if (held.server !== server) {
    throw new TargetError(
      'permanent',
      `the access was given at ${held.server}, but its provisioner now connects to ${server}: ${back}`,
    )
  }
  if (held.granted_by !== me && held.granted_by_oid !== me_oid) {
    throw new TargetError(
      'permanent',
      `the access was given as \`${held.granted_by}\`, but its provisioner now signs in as \`${me}\`: ${back}`,
    )
  }
}

/** @throws TargetError when no action gives the role any more */
export function requireMapped(settings: Settings, role: string): void {
  if ([...settings.roles.values()].includes(role)) return
  throw new TargetError(
    'permanent',
    `no action of the provisioner maps to the role \`${role}\` any more; map it again, or request another action`,
  )
}

/** When the server disables the login by itself: with several grants to one login, after the latest end. */
export function endFor(login: Pick<LoginFacts, 'can_login' | 'valid_until_ms'> | undefined, until: Date): Date {
  const open = login?.can_login === true ? (login.valid_until_ms ?? 0) : 0
  return new Date(Math.max(open, until.getTime() + graceMs))
}

/** Grants the role, and enables a managed login until shortly after the end, with a limit of connections. All or nothing. */
export async function give(leased: LeasedConnection, settings: Settings, held: HeldRole, until: Date): Promise<void> {
  const { query, facts } = leased
  requireMapped(settings, held.role)
  await query(begin)
  const { role, login } = await lookUp(leased, held, held.manages_login)
  if (held.manages_login) await requireOurs(leased, role, login)
  // Only by inheritance: a session that used `set role` cannot be recognized from outside, and would keep the role.
  const options = facts.version < 160_000 ? '' : 'with admin false, inherit true, set false'
  await query(`grant ${quoted(role.name)} to ${quoted(login.name)} ${options} granted by current_user`)
  if (held.manages_login) {
    const end = endFor(login, until)
    const limit = mayTakeAll(login) ? `connection limit ${managedLimit(login)}` : ''
    await query(`alter role ${quoted(login.name)} login ${limit} valid until ${pg.escapeLiteral(end.toISOString())}`)
  }
  await query('commit')
}

/** Revokes every matching grant of Sallyport. Returns the logins that may be affected, including renamed ones. */
export async function revokeRole({ query, facts }: LeasedConnection, held: HeldRole): Promise<Login[]> {
  const rows = await query(`select r.rolname as role, l.rolname as login ${grantsMeant}`, [
    held.role,
    held.role_oid,
    held.login,
    held.login_oid,
    [facts.me_oid, held.granted_by_oid],
  ])
  for (const { role, login } of rows) {
    await query(`revoke ${quoted(role)} from ${quoted(login)} granted by current_user`)
  }
  const logins = await query(
    `select oid, rolname as name, rolcanlogin as can_login from pg_roles where ${isLoginMeant}`,
    [held.login, held.login_oid],
  )
  return logins.map(({ oid, name, can_login }) => ({ oid: oid ?? '', name: name ?? '', can_login: can_login === 't' }))
}

export type Login = { oid: string; name: string; can_login: boolean }

/** Disables a managed login. False: it still holds a role by Sallyport's grant, and stays enabled. */
export async function disableLogin({ query, facts }: LeasedConnection, login: Login): Promise<boolean> {
  await query(begin)
  // First, since a concurrent transaction that enables the login changes the same row: one of the two fails and is retried.
  await query(`alter role ${quoted(login.name)} nologin`)
  const [row] = await query(holdsOurs, [login.oid, facts.me_oid])
  const isDisabled = row?.holds === 'f'
  await query(isDisabled ? 'commit' : 'rollback')
  return isDisabled
}

/** What the server holds. `until`: null when it should hold nothing; then only Sallyport's grants count. */
export async function check({ query, facts }: LeasedConnection, held: HeldRole, until: Date | null): Promise<Held> {
  const givers = [facts.me_oid, held.granted_by_oid]
  const values = [held.role, held.role_oid, held.login, held.login_oid, givers]
  if (until === null) {
    const [row] = await query(
      `select exists (select ${grantsMeant}) as is_held,
        exists (select from pg_roles l where (l.rolname = $3::name or l.oid = $4::oid)
          and (l.rolcanlogin or exists (select from pg_stat_activity s where s.usesysid = l.oid))
          and not exists (select from pg_auth_members m where m.member = l.oid
            and m.grantor = any ($5::oid[]))) as is_open`,
      values,
    )
    return row?.is_held === 'f' && (!held.manages_login || row.is_open === 'f') ? 'absent' : 'held'
  }
  const rows = await query(
    `select l.rolcanlogin as can_login, m.grantor = any ($5::oid[]) and l.rolvaliduntil < $6::timestamptz as ends_early
      from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles l on l.oid = m.member
      where (r.rolname = $1::name or r.oid = $2::oid) and (l.rolname = $3::name or l.oid = $4::oid)
        and ${isEffective}`,
    [...values, until.toISOString()],
  )
  const open = held.manages_login ? rows.filter(({ can_login }) => can_login === 't') : rows
  if (open.length === 0) return 'absent'
  return held.manages_login && open.some(({ ends_early }) => ends_early === 't') ? 'ends_early' : 'held'
}

export const begin = 'begin isolation level read committed read write'

const isLoginMeant = '(rolname = $1::name or oid = $2::oid)'

const grantsMeant = `from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles l on l.oid = m.member
  where (r.rolname = $1::name or r.oid = $2::oid) and (l.rolname = $3::name or l.oid = $4::oid)
    and m.grantor = any ($5::oid[])`

const holdsOurs =
  'select exists (select from pg_auth_members m where m.member = $1::oid and m.grantor = $2::oid) as holds'

async function lookUp(
  leased: LeasedConnection,
  names: { role: string; login: string },
  managed: boolean,
): Promise<{ role: RoleFacts; login: LoginFacts }> {
  const { me } = leased.facts
  const role = fitsName(names.role) ? await readRole(leased, names.role) : undefined
  const login = fitsName(names.login) ? await readLogin(leased, names.login) : undefined
  const why =
    findOwnFault(leased.facts) ?? findRoleFault(names.role, role, me) ?? findLoginFault(names.login, login, managed, me)
  if (why !== undefined || role === undefined || login === undefined) throw new TargetError('permanent', why ?? '')
  return { role, login }
}

/**
 * INVARIANT: a managed login is enabled exactly as long as it holds a role by Sallyport's grant.
 * @throws TargetError when another role enabled it, or granted it the role
 */
async function requireOurs(leased: LeasedConnection, role: RoleFacts, login: LoginFacts): Promise<void> {
  if (await isHeldByOthers(leased, role, login)) {
    throw new TargetError(
      'permanent',
      `\`${login.name}\` holds \`${role.name}\` by another role's grant: when Sallyport manages logins, only Sallyport may grant; revoke that grant`,
    )
  }
  // Transient, since a login is also in this state for a moment at the end of an earlier grant.
  if (login.can_login && !login.holds_ours) {
    const open = `\`${login.name}\` can log in, but Sallyport did not enable it: make it nologin, or set \`manages_logins\` of the provisioner to false`
    throw new TargetError('transient', open)
  }
}

function quoted(name: string | null | undefined): string {
  return pg.escapeIdentifier(name ?? '')
}
