import pg from 'pg'
import { TargetError } from '../driver.ts'
import type { LeasedConnection } from './connections.ts'
import { begin } from './held-role.ts'
import type { MadeLogin } from './made-login.ts'
import type { Query } from './server-connection.ts'

/** Tables that one transaction moves: it locks each of them and its indexes, and a server has room for some thousands of locks. */
const maxMoved = 500

/** The roles of a clearing. `access`: the role that the login held, if Sallyport may still grant it. */
type Roles = { me: string; login: MadeLogin; leftovers: string; access: string | undefined }

/**
 * Takes what a disabled login left in the current database from it: what would still run for others is disarmed, the objects go to
 * `leftovers`, and the login's rights end. Nothing of what the user made is dropped. Each transaction is complete in itself, so that a kill
 * between two of them leaves less for the next run.
 *
 * INVARIANT: Sallyport can act as the login, or as `leftovers`, only inside these transactions: no other session ever sees it.
 */
export async function clearDatabase(leased: LeasedConnection, roles: Roles): Promise<void> {
  const { query } = leased
  requireOid(roles.login.oid)
  await rollBackPrepared(query, roles)
  for (;;) {
    await query(begin)
    await lend(query, roles)
    await query(disarm(roles.login.oid))
    const left = await moveSome(query, roles)
    if (!left) {
      await query(`reassign owned by ${quoted(roles.login.name)} to ${quoted(roles.leftovers)}`)
      await requireNothingOwned(query, roles.login)
      await query(`drop owned by ${quoted(roles.login.name)}`)
    }
    await takeBack(query, roles)
    await query('commit')
    if (!left) return
  }
}

/**
 * The roles that moving objects needs. The owner that gets an object needs the right to create in its schema, which the login may have had
 * by the access role or by itself.
 */
function loans({ me, login, leftovers, access }: Roles): { role: string; to: string; options: string }[] {
  const inherit = 'inherit true, set false'
  return [
    { role: login.name, to: me, options: inherit },
    { role: leftovers, to: me, options: 'inherit true, set true' },
    { role: login.name, to: leftovers, options: inherit },
    ...(access === undefined ? [] : [me, leftovers].map((to) => ({ role: access, to, options: inherit }))),
  ]
}

async function lend(query: Query, roles: Roles): Promise<void> {
  for (const { role, to, options } of loans(roles)) {
    await query(`grant ${quoted(role)} to ${quoted(to)} with ${options} granted by current_user`)
  }
}

async function takeBack(query: Query, roles: Roles): Promise<void> {
  for (const { role, to } of loans(roles).reverse()) {
    await query(`revoke ${quoted(role)} from ${quoted(to)} granted by current_user`)
  }
}

/**
 * One statement for all objects, since each round trip counts with thousands of them. Functions lose `security definer`. Triggers on the
 * login's own tables are disabled. Others can be disabled only by the owner of their table, so the function that they call is made to do
 * nothing, and keeps its text as a comment: it would run with the rights of whoever changes the table.
 */
function disarm(oid: string): string {
  return `do $disarm$
    declare
      one record;
      lines text;
    begin
      for one in select p.oid::regprocedure as name from pg_proc p where p.proowner = ${oid} and p.prosecdef loop
        execute format('alter routine %s security invoker', one.name);
      end loop;
      for one in select c.oid::regclass as name, g.tgname from pg_trigger g join pg_class c on c.oid = g.tgrelid
        where not g.tgisinternal and g.tgenabled <> 'D' and c.relowner = ${oid} and c.relkind in ('r', 'p', 'f') loop
        execute format('alter table %s disable trigger %I', one.name, one.tgname);
      end loop;
      for one in select e.evtname from pg_event_trigger e where e.evtowner = ${oid} and e.evtenabled <> 'D' loop
        execute format('alter event trigger %I disable', one.evtname);
      end loop;
      for one in select p.oid::regprocedure as name, p.prorettype::regtype as returns, p.prosrc as source from pg_proc p
        where p.proowner = ${oid} and (exists (
            select from pg_trigger g join pg_class c on c.oid = g.tgrelid where g.tgfoid = p.oid
              and not (c.relowner = ${oid} and c.relkind in ('r', 'p', 'f')))
          or exists (select from pg_event_trigger e where e.evtfoid = p.oid and e.evtowner <> ${oid})) loop
        lines := '  -- ' || regexp_replace(one.source, E'\\r\\n|\\r|\\n', E'\\n  -- ', 'g');
        execute format('create or replace function %s returns %s language plpgsql as %L', one.name, one.returns,
          E'begin\\n  -- disabled by Sallyport at the end of the access; it was:\\n' || lines || E'\\n  '
            || case when one.returns = 'trigger'::regtype then 'return coalesce(new, old);' else 'return;' end || E'\\nend');
      end loop;
    end
  $disarm$`
}

/** Moves a part of very many tables and composite types. False: what is left can be moved at once. */
async function moveSome(query: Query, { login, leftovers }: Roles): Promise<boolean> {
  const oid = login.oid
  const movable = `pg_class c where c.relowner = ${oid} and c.relkind in ('r', 'v', 'm', 'f', 'p', 'S', 'c')
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
      and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i') and c.relkind = 'S')`
  const [count] = await query(`select count(*) > ${maxMoved} as is_many from ${movable}`)
  if (count?.is_many !== 't') return false
  await query(`do $move$
    declare one record;
    begin
      for one in select c.oid::regclass as name, c.relkind = 'c' as is_type from ${movable} order by c.oid limit ${maxMoved} loop
        execute format('alter %s %s owner to %I', case when one.is_type then 'type' else 'table' end, one.name,
          ${pg.escapeLiteral(leftovers)});
      end loop;
    end
  $move$`)
  return true
}

/** `drop owned` would drop it. */
async function requireNothingOwned(query: Query, { oid, name }: MadeLogin): Promise<void> {
  const [left] = await query(
    `select o.type || ' ' || o.identity as what from pg_shdepend s, pg_identify_object(s.classid, s.objid, s.objsubid) o
      where s.refclassid = 'pg_authid'::regclass and s.refobjid = $1::oid and s.deptype = 'o'
        and s.dbid in (0, (select d.oid from pg_database d where d.datname = current_database()))
        and s.classid not in ('pg_user_mapping'::regclass, 'pg_default_acl'::regclass) limit 1`,
    [oid],
  )
  if (left !== undefined) throw new TargetError('transient', `\`${name}\` still owns ${left.what ?? 'something'}`)
}

/**
 * A prepared transaction outlives its connection, and holds its locks. Only its own user may roll it back, and not inside a
 * transaction, so Sallyport becomes that user for it: the statement runs no code of theirs.
 */
async function rollBackPrepared(query: Query, { me, login }: Roles): Promise<void> {
  const rows = await query(
    `select p.gid from pg_prepared_xacts p where p.owner = $1::name and p.database = current_database()`,
    [login.name],
  )
  if (rows.length === 0) return
  const [role, self] = [quoted(login.name), quoted(me)]
  await query(`grant ${role} to ${self} with inherit false, set true granted by current_user`)
  await query(`set role ${role}`)
  for (const { gid } of rows) await query(`rollback prepared ${pg.escapeLiteral(gid ?? '')}`)
  await query('reset role')
  await query(`revoke ${role} from ${self} granted by current_user`)
}

/** It stands in statements as it is. */
function requireOid(oid: string): void {
  if (!/^\d{1,10}$/.test(oid)) throw new TargetError('transient', 'the server is not PostgreSQL')
}

function quoted(name: string): string {
  return pg.escapeIdentifier(name)
}
