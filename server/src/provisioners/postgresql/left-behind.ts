import pg from 'pg'
import { onOneLine } from '../../kernel/one-line-name.ts'
import { type LeftBehind, TargetError } from '../driver.ts'
import type { LeasedConnection } from './connections.ts'
import { begin } from './held-role.ts'
import type { Query } from './server-connection.ts'

/** What a login owns, by kind and name, in one database or in several. */
type Owned = LeftBehind['objects'][number]

/** Objects that a report names, and characters of each name. */
const maxNamed = 50
const maxNameLength = 200

/** A database, and whether it can be connected to. */
export type Database = { name: string; accepts: boolean }

/**
 * The databases where something is owned by the login, or is granted to it or by it, or names it. What belongs to the whole server can be
 * cleared from any: from the one that Sallyport is signed in to.
 */
export async function findDatabases({ query }: LeasedConnection, oid: string): Promise<Database[]> {
  const rows = await query(
    `select d.datname as name, d.datallowconn as accepts from pg_database d
      where d.oid in (select s.dbid from pg_shdepend s
          where s.refclassid = 'pg_authid'::regclass and s.refobjid = $1::oid and s.dbid <> 0)
        or d.datname = current_database() and (exists (select from pg_shdepend s
          where s.refclassid = 'pg_authid'::regclass and s.refobjid = $1::oid and s.dbid = 0
            and s.classid <> 'pg_auth_members'::regclass)
          or exists (select from pg_auth_members m where m.grantor = $1::oid))
        or d.datname in (select p.database from pg_prepared_xacts p join pg_roles l on l.rolname = p.owner
          where l.oid = $1::oid)
      order by d.datname`,
    [oid],
  )
  return rows.map(({ name, accepts }) => ({ name: name ?? '', accepts: accepts === 't' }))
}

/** The databases where the login has prepared a transaction. */
export async function findPrepared(query: Query, oid: string): Promise<Database[]> {
  const rows = await query(
    `select d.datname as name, d.datallowconn as accepts from pg_database d where d.datname in (
      select p.database from pg_prepared_xacts p join pg_roles l on l.rolname = p.owner where l.oid = $1::oid)`,
    [oid],
  )
  return rows.map(({ name, accepts }) => ({ name: name ?? '', accepts: accepts === 't' }))
}

/** The objects of a role in the current database, and those of the whole server, that a change of owner can move. `$1`: its oid. */
const owned = `pg_shdepend s where s.refclassid = 'pg_authid'::regclass and s.refobjid = $1::oid and s.deptype = 'o'
  and s.dbid in (0, (select oid from pg_database where datname = current_database()))
  and s.classid not in ('pg_user_mapping'::regclass, 'pg_default_acl'::regclass)`

/** Triggers on tables of others that call a function of the login. */
const foreignTriggers = `pg_trigger g join pg_class c on c.oid = g.tgrelid join pg_proc p on p.oid = g.tgfoid
  where not g.tgisinternal and p.proowner = $1::oid and c.relowner <> $1::oid`

/** What the login leaves in the current database: what runs by itself comes first. */
export async function listLeft(query: Query, oid: string): Promise<LeftBehind> {
  const rows = await query(
    `select o.type as kind, left(o.identity, ${maxNameLength * 2}) as name, count(*) over () as total
      from (
        select 0 as place, 'pg_trigger'::regclass::oid as classid, g.oid as objid, 0 as objsubid from ${foreignTriggers}
        union all select case when s.classid in ('pg_proc'::regclass, 'pg_event_trigger'::regclass) then 1 else 2 end,
          s.classid, s.objid, s.objsubid from ${owned}
        order by place, classid, objid limit ${maxNamed}) one,
      pg_identify_object(one.classid, one.objid, one.objsubid) o order by one.place, o.type, o.identity`,
    [oid],
  )
  const [count] = await query(
    `select (select count(*) from ${owned}) + (select count(*) from ${foreignTriggers}) as total`,
    [oid],
  )
  return { objects: rows.map(nameObject), total: Number(count?.total ?? 0) }
}

function nameObject({ kind, name }: Readonly<Record<string, string | null | undefined>>): Owned {
  const line = onOneLine(name ?? '')
  return { kind: kind ?? '', name: line.length > maxNameLength ? `${line.slice(0, maxNameLength - 1)}…` : line }
}

/** One report of several databases. Names outside Sallyport's own database begin with theirs. */
export function joinLeft(parts: readonly { database: string; left: LeftBehind }[], own: string): LeftBehind {
  const objects = parts.flatMap(({ database, left }) =>
    left.objects.map(({ kind, name }) => ({
      kind,
      name: database === own ? name : `${onOneLine(database)}: ${name}`,
    })),
  )
  return { objects: objects.slice(0, maxNamed), total: parts.reduce((sum, { left }) => sum + left.total, 0) }
}

/** Begins the name of the role that owns what a login left; the name of the login follows. */
export const leftoversPrefix = 'left_by_'

/**
 * The role that owns what a login left: it cannot sign in, has no rights, and is granted to nobody for longer than a transaction. Each login
 * has its own, since the owner of a view, a rule or an index acts with its rights: one role for all would own what others left too.
 */
function leftoversOf(login: string): string {
  return `${leftoversPrefix}${login}`
}

const leftoversMark = 'made by Sallyport to own what a login that it made has left'

type LeftoversFacts = { is_ours: boolean; is_powerful: boolean }

/** Undefined: it was not needed so far. */
async function readLeftovers({ query, facts }: LeasedConnection, name: string): Promise<LeftoversFacts | undefined> {
  const [row] = await query(
    `select l.rolcanlogin or l.rolsuper or l.rolcreaterole or l.rolbypassrls or l.rolreplication or l.rolcreatedb
          or exists (select from pg_auth_members m where m.member = l.oid) as is_powerful,
        shobj_description(l.oid, 'pg_authid') = $2::text and exists (select from pg_auth_members a
          where a.roleid = l.oid and a.member = $3::oid and a.admin_option) as is_ours
      from pg_roles l where l.rolname = $1::name`,
    [name, leftoversMark, facts.me_oid],
  )
  return row && { is_ours: row.is_ours === 't', is_powerful: row.is_powerful !== 'f' }
}

/** Why the role may own nothing; undefined when it may. */
function findLeftoversFault(name: string, role: LeftoversFacts | undefined): string | undefined {
  if (role?.is_ours === false) return `Sallyport did not make \`${name}\`: rename it`
  if (role?.is_powerful !== true) return undefined
  return `\`${name}\` must be able to do nothing: make it nologin, and revoke its roles and attributes`
}

/** Makes the role where it is missing. @throws TargetError when a role of its name is not ours, or can do something */
export async function ensureLeftovers(leased: LeasedConnection, login: string): Promise<string> {
  const name = leftoversOf(login)
  const role = await readLeftovers(leased, name)
  const why = findLeftoversFault(name, role)
  if (why !== undefined) throw new TargetError('transient', why)
  if (role !== undefined) return name
  const { query } = leased
  await query(begin)
  await query(`set local createrole_self_grant = ''`)
  await query(`create role ${pg.escapeIdentifier(name)} nologin`)
  await query(`comment on role ${pg.escapeIdentifier(name)} is ${pg.escapeLiteral(leftoversMark)}`)
  await query('commit')
  return name
}
