import type { LeasedConnection } from './connections.ts'
import type { Query } from './server-connection.ts'

/** A role that an action gives. */
export type RoleFacts = {
  oid: string
  name: string
  /** Whether Sallyport's role itself holds it with the admin option. */
  may_grant: boolean
  /** The role reachable from it that allows more than using a database; null when there is none. */
  too_powerful: string | null
}

/** A person's login. */
export type LoginFacts = {
  oid: string
  name: string
  is_me: boolean
  /** A superuser, or may create roles: it could give itself removed access again. */
  is_powerful: boolean
  can_login: boolean
  /** By the server's clock, in milliseconds since 1970; null: indefinitely. */
  valid_until_ms: number | null
  /** Whether Sallyport's role may enable and disable it. */
  may_alter: boolean
  /** Whether it holds a role by Sallyport's grant. */
  holds_ours: boolean
  /** Another role that may act as it; null when there is none. */
  worn_by: string | null
  /** Whether a role works without `set role`: before PostgreSQL 16 the login determines it, since then each grant of Sallyport. */
  inherits: boolean
  /** -1: none. */
  connection_limit: number
  /** How many connections the server and the database have for it, beside its limit. */
  room: number
  /** How many they have for Sallyport's role. */
  our_room: number
  /** How many it has open. */
  open: number
}

/** PostgreSQL's predefined roles that allow no more than using databases. */
const harmless = [
  ...['pg_read_all_data', 'pg_write_all_data', 'pg_maintain', 'pg_monitor', 'pg_read_all_settings'],
  ...['pg_read_all_stats', 'pg_stat_scan_tables'],
]

/** Whether a membership has any effect; before PostgreSQL 16 every membership has. */
export const isEffective = `coalesce((to_jsonb(m) ->> 'inherit_option')::boolean or (to_jsonb(m) ->> 'set_option')::boolean, true)`

/** How many connections a role may have to this database; from PostgreSQL 16 on some may be reserved for members of a predefined role. */
export const roomOf = (oid: string) => `least(
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - case when exists (select from pg_roles u
        where u.rolname = 'pg_use_reserved_connections' and pg_has_role(${oid}, u.oid, 'usage')) then 0
      else coalesce(current_setting('reserved_connections', true)::int, 0) end)`

/**
 * The facts about a role and the roles reachable from it. Default privileges are no power: each holder of the role can set them for it, and
 * would make it one that may not be given any more. Undefined when there is no such role.
 */
export async function readRole({ query, facts }: LeasedConnection, name: string): Promise<RoleFacts | undefined> {
  const [row] = await query(
    `with recursive reach (oid) as (
        select oid from pg_roles where rolname = $1::name
        union select m.roleid from pg_auth_members m join reach on m.member = reach.oid)
      select r.oid, r.rolname as name,
        exists (select from pg_auth_members m
          where m.roleid = r.oid and m.member = $2::oid and m.admin_option) as may_grant,
        (select p.rolname from reach join pg_roles p on p.oid = reach.oid
          where p.rolsuper or p.rolcreaterole or p.rolreplication or p.rolbypassrls or p.oid = $2::oid
            or exists (select from pg_auth_members passed where passed.member = p.oid and passed.admin_option)
            or exists (select from pg_shdepend owned where owned.refclassid = 'pg_authid'::regclass
              and owned.refobjid = p.oid and owned.deptype = 'o' and owned.classid <> 'pg_default_acl'::regclass)
            or (starts_with(p.rolname::text, 'pg_') and p.rolname::text <> all ($3::text[]))
          order by p.oid limit 1) as too_powerful
      from pg_roles r where r.rolname = $1::name`,
    [name, facts.me_oid, harmless],
  )
  if (row === undefined) return undefined
  const { oid, may_grant, too_powerful } = row
  return { oid: oid ?? '', name, may_grant: may_grant === 't', too_powerful: too_powerful ?? null }
}

/** The facts about a login; undefined when there is no such login. */
export async function readLogin({ query, facts }: LeasedConnection, name: string): Promise<LoginFacts | undefined> {
  const [row] = await query(
    `select l.oid, l.oid = $2::oid as is_me, l.rolsuper or l.rolcreaterole as is_powerful, l.rolcanlogin as can_login,
        extract(epoch from l.rolvaliduntil) * 1000 as valid_until_ms,
        (select me.rolcreaterole from pg_roles me where me.oid = $2::oid) and ($3::int < 160000 or exists (
          select from pg_auth_members m where m.roleid = l.oid and m.member = $2::oid and m.admin_option)) as may_alter,
        exists (select from pg_auth_members m where m.member = l.oid and m.grantor = $2::oid) as holds_ours,
        (select o.rolname from pg_auth_members m join pg_roles o on o.oid = m.member
          where m.roleid = l.oid and ${isEffective} and not o.rolsuper order by o.oid limit 1) as worn_by,
        l.rolinherit or $3::int >= 160000 as inherits,
        l.rolconnlimit as connection_limit, ${roomOf('l.oid')} as room, ${roomOf('$2::oid')} as our_room,
        (select count(*) from pg_stat_activity a where a.usesysid = l.oid
          and coalesce(a.backend_type, 'client backend') = 'client backend') as open
      from pg_roles l where l.rolname = $1::name`,
    [name, facts.me_oid, String(facts.version)],
  )
  if (row === undefined) return undefined
  const is = (field: string) => row[field] === 't'
  return {
    oid: row.oid ?? '',
    name,
    is_me: is('is_me'),
    is_powerful: !(row.is_powerful === 'f'),
    can_login: is('can_login'),
    valid_until_ms: row.valid_until_ms == null ? null : Number(row.valid_until_ms),
    may_alter: is('may_alter'),
    holds_ours: is('holds_ours'),
    worn_by: row.worn_by ?? null,
    inherits: is('inherits'),
    connection_limit: Number(row.connection_limit),
    room: Number(row.room),
    our_room: Number(row.our_room),
    open: Number(row.open),
  }
}

/** Whether the login effectively holds the role by a grant that is not Sallyport's. */
export async function isHeldByOthers(
  { query, facts }: LeasedConnection,
  role: RoleFacts,
  login: LoginFacts,
): Promise<boolean> {
  const rows = await query(
    `select m.grantor from pg_auth_members m
      where m.roleid = $1::oid and m.member = $2::oid and m.grantor <> $3::oid and ${isEffective}`,
    [role.oid, login.oid, facts.me_oid],
  )
  return rows.length > 0
}

/** Whether Sallyport's role may end other people's connections. */
export async function mayEndConnections(query: Query): Promise<boolean> {
  const [row] = await query(`select pg_has_role('pg_signal_backend', 'usage') as may`)
  return row?.may === 't'
}

/** Whether Sallyport's role may make roles. */
export async function mayMakeRoles(query: Query): Promise<boolean> {
  const [row] = await query('select rolcreaterole as may from pg_roles where rolname = current_user')
  return row?.may === 't'
}
