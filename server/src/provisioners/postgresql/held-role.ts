import pg from 'pg'
import { type Held, type Target, TargetError } from '../driver.ts'
import type { Lent } from './connections.ts'
import { fitsName, nameOfServer, type Settings } from './postgresql-config.ts'
import { findLoginFault, findOwnFault, findRoleFault } from './role-rules.ts'
import { isEffective, isHeldByOthers, type LoginFacts, type RoleFacts, readLogin, readRole } from './server-roles.ts'

/**
 * One role that a login holds by our grant. Names say what was meant, oids what it was: a role that is renamed meanwhile
 * is found all the same.
 */
export type HeldRole = {
  server: string
  /** As whom it is given. */
  granted_by: string
  granted_by_oid: string
  role: string
  role_oid: string
  login: string
  login_oid: string
  /** The login is opened and shut with it. */
  manages_login: boolean
}

/** A login that we open is shut by the server itself so long after the end, where we should not be there to do it. */
const graceMs = 60_000

/**
 * The entitlement that a role and a login come to.
 * @throws TargetError where it is not to be given
 */
export async function resolveRole(
  lent: Lent,
  settings: Settings,
  names: { role: string; login: string },
): Promise<{ held_role: HeldRole; held: boolean }> {
  const { role, login } = await lookUp(lent, names, settings.managesLogins)
  const held = (!settings.managesLogins || login.can_login) && (await isHeldByOthers(lent, role, login))
  if (settings.managesLogins && !held) await requireOurs(lent, role, login)
  const held_role = {
    server: nameOfServer(settings),
    granted_by: lent.facts.me,
    granted_by_oid: lent.facts.me_oid,
    role: role.name,
    role_oid: role.oid,
    login: login.name,
    login_oid: login.oid,
    manages_login: settings.managesLogins,
  }
  return { held_role, held }
}

/** One server's roles by one name each: where a grant comes again, it is the same. */
export function keyOf({ server, granted_by, role, login }: HeldRole): string {
  return JSON.stringify([server, granted_by, role, login])
}

/** Reads what `resolveRole` made, as the ledger kept it. */
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
  }
}

/**
 * INVARIANT: what was given at one server, or as one role, is neither looked for nor taken away at another: it would be
 * found gone, and stay.
 * @throws TargetError
 */
export function requireSameGiver(held: HeldRole, settings: Settings, { me, me_oid }: Lent['facts']): void {
  const server = nameOfServer(settings)
  const back = 'lead the provisioner back there until it is taken away'
  if (held.server !== server) {
    throw new TargetError(
      'permanent',
      `it was given at ${held.server}, and its provisioner leads to ${server} now: ${back}`,
    )
  }
  if (held.granted_by !== me && held.granted_by_oid !== me_oid) {
    throw new TargetError(
      'permanent',
      `it was given as \`${held.granted_by}\`, and its provisioner signs in as \`${me}\` now: ${back}`,
    )
  }
}

/** Grants the role; where we manage the login, opens that until a little after the end. All or nothing. */
export async function give(lent: Lent, settings: Settings, held: HeldRole, until: Date): Promise<void> {
  const { ask, facts } = lent
  if (![...settings.roles.values()].includes(held.role)) {
    throw new TargetError('permanent', `the provisioner gives \`${held.role}\` for no action any more`)
  }
  await ask(begin)
  const { role, login } = await lookUp(lent, held, held.manages_login)
  if (held.manages_login) await requireOurs(lent, role, login)
  // By inheritance alone: a session that has become the role could not be told from outside, and would keep it.
  const options = facts.version < 160_000 ? '' : 'with admin false, inherit true, set false'
  await ask(`grant ${quoted(role.name)} to ${quoted(login.name)} ${options} granted by current_user`)
  if (held.manages_login) {
    // Of several grants to one login the last end counts.
    const open = login.can_login ? (login.valid_until_ms ?? 0) : 0
    const end = new Date(Math.max(open, until.getTime() + graceMs))
    await ask(`alter role ${quoted(login.name)} login valid until ${pg.escapeLiteral(end.toISOString())}`)
  }
  await ask('commit')
}

/** Takes every grant of ours back that is meant. Answers the logins that it may concern, renamed ones as well. */
export async function takeBack({ ask, facts }: Lent, held: HeldRole): Promise<Login[]> {
  const rows = await ask(`select r.rolname as role, l.rolname as login ${grantsMeant}`, [
    held.role,
    held.role_oid,
    held.login,
    held.login_oid,
    [facts.me_oid, held.granted_by_oid],
  ])
  for (const { role, login } of rows) {
    await ask(`revoke ${quoted(role)} from ${quoted(login)} granted by current_user`)
  }
  const logins = await ask(
    `select oid, rolname as name, rolcanlogin as can_login from pg_roles where ${isLoginMeant}`,
    [held.login, held.login_oid],
  )
  return logins.map(({ oid, name, can_login }) => ({ oid: oid ?? '', name: name ?? '', can_login: can_login === 't' }))
}

export type Login = { oid: string; name: string; can_login: boolean }

/** Shuts a login that we manage. False: it holds something by our grant still, and stays open. */
export async function shut({ ask, facts }: Lent, login: Login): Promise<boolean> {
  await ask(begin)
  // First, since whoever opens it at the same moment changes the same row: one of the two fails, and comes again.
  await ask(`alter role ${quoted(login.name)} nologin`)
  const [row] = await ask(holdsOurs, [login.oid, facts.me_oid])
  const isShut = row?.holds === 'f'
  await ask(isShut ? 'commit' : 'rollback')
  return isShut
}

/** What the server holds. `until`: null where nothing should be held, and then only what is ours counts. */
export async function look({ ask, facts }: Lent, held: HeldRole, until: Date | null): Promise<Held> {
  const givers = [facts.me_oid, held.granted_by_oid]
  const values = [held.role, held.role_oid, held.login, held.login_oid, givers]
  if (until === null) {
    const [row] = await ask(
      `select exists (select ${grantsMeant}) as is_held,
        exists (select from pg_roles l where (l.rolname = $3::name or l.oid = $4::oid)
          and (l.rolcanlogin or exists (select from pg_stat_activity s where s.usesysid = l.oid))
          and not exists (select from pg_auth_members m where m.member = l.oid and m.grantor = any ($5::oid[]))) as is_open`,
      values,
    )
    return row?.is_held === 'f' && (!held.manages_login || row.is_open === 'f') ? 'absent' : 'held'
  }
  const rows = await ask(
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

const begin = 'begin isolation level read committed read write'

const isLoginMeant = '(rolname = $1::name or oid = $2::oid)'

const grantsMeant = `from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles l on l.oid = m.member
  where (r.rolname = $1::name or r.oid = $2::oid) and (l.rolname = $3::name or l.oid = $4::oid)
    and m.grantor = any ($5::oid[])`

const holdsOurs =
  'select exists (select from pg_auth_members m where m.member = $1::oid and m.grantor = $2::oid) as holds'

async function lookUp(
  lent: Lent,
  names: { role: string; login: string },
  managed: boolean,
): Promise<{ role: RoleFacts; login: LoginFacts }> {
  const { me } = lent.facts
  const role = fitsName(names.role) ? await readRole(lent, names.role) : undefined
  const login = fitsName(names.login) ? await readLogin(lent, names.login) : undefined
  const why =
    findOwnFault(lent.facts) ?? findRoleFault(names.role, role, me) ?? findLoginFault(names.login, login, managed, me)
  if (why !== undefined || role === undefined || login === undefined) throw new TargetError('permanent', why ?? '')
  return { role, login }
}

/**
 * INVARIANT: a login that we manage is open as long as it holds something by our grant, and no longer.
 * @throws TargetError where somebody else has opened it, or gave it the role
 */
async function requireOurs(lent: Lent, role: RoleFacts, login: LoginFacts): Promise<void> {
  if (await isHeldByOthers(lent, role, login)) {
    throw new TargetError(
      'permanent',
      `\`${login.name}\` holds \`${role.name}\` by somebody else's grant: where Sallyport opens and shuts logins, it alone grants`,
    )
  }
  // Transient, since it is also how a login looks for a moment at the end of an earlier grant.
  if (login.can_login && !login.holds_ours) {
    const open = `\`${login.name}\` can log in, and not by Sallyport: make it nologin, or let the provisioner not manage logins`
    throw new TargetError('transient', open)
  }
}

function quoted(name: string | null | undefined): string {
  return pg.escapeIdentifier(name ?? '')
}
