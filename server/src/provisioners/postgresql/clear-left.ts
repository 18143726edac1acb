import pg from 'pg'
import { TargetError } from '../driver.ts'
import type { LeasedConnection } from './connections.ts'
import { disarmDefiners, disarmOwn, dropForeign, replaceForeign, requireDisarmed } from './disarm.ts'
import { begin } from './held-role.ts'
import type { MadeLogin } from './made-login.ts'
import type { Query } from './server-connection.ts'

/** Tables that one transaction moves: it locks each of them and its indexes, and a server has room for some thousands of locks. */
const maxMoved = 500

/** The roles of disarming. `access`: the role that the login held, if Sallyport may still grant it. */
type Disarming = { me: string; login: MadeLogin; access: string | undefined }
type Roles = Disarming & { leftovers: string }

/**
 * Disarms what a disabled login left in the current database and would still run for others. Each kind by itself, and all of it before
 * anything is moved: what cannot be moved, or is locked by somebody, must not keep the rest armed.
 */
export async function disarmDatabase({ query }: LeasedConnection, roles: Disarming): Promise<void> {
  const { me, login, access } = roles
  requireOid(login.oid)
  await rollBackPrepared(query, me, login)
  const loans = loansTo(me, [login.name, access])
  for (const disarm of [replaceForeign, disarmDefiners, dropForeign, disarmOwn]) {
    await lent(query, loans, () => query(disarm(login.oid)))
  }
  await requireDisarmed(query, login.oid)
}

/**
 * Takes what a disabled login left in the current database from it, when it is disarmed: the objects go to `leftovers`, and the login's
 * rights end. Nothing of what the user made is dropped. Each transaction is complete in itself, so that a kill between two of them leaves
 * less for the next run.
 *
 * INVARIANT: Sallyport can act as the login, or as `leftovers`, only inside these transactions: no other session ever sees it.
 */
export async function clearDatabase(leased: LeasedConnection, roles: Roles): Promise<void> {
  const { query } = leased
  const { login, leftovers } = roles
  await disarmDatabase(leased, roles)
  for (;;) {
    const isLeft = await lent(query, loansToMove(roles), async () => {
      if (await moveSome(query, roles)) return true
      await query(`reassign owned by ${quoted(login.name)} to ${quoted(leftovers)}`)
      await requireNothingOwned(query, login)
      await requireDisarmed(query, `${pg.escapeLiteral(quoted(leftovers))}::regrole`)
      await query(`drop owned by ${quoted(login.name)}`)
      return false
    })
    if (!isLeft) break
  }
  await requireNothingGranted(query, login)
}

type Loan = { role: string; to: string; options: string }

const inherit = 'inherit true, set false'

function loansTo(to: string, roles: readonly (string | undefined)[]): Loan[] {
  return roles.flatMap((role) => (role === undefined ? [] : [{ role, to, options: inherit }]))
}

/**
 * The roles that moving objects needs. The owner that gets an object needs the right to create in its schema, which the login may have had
 * by the access role or by itself.
 */
function loansToMove({ me, login, leftovers, access }: Roles): Loan[] {
  return [
    { role: leftovers, to: me, options: 'inherit true, set true' },
    ...loansTo(me, [login.name, access]),
    ...loansTo(leftovers, [login.name, access]),
  ]
}

/** One transaction, in which the roles are lent. */
async function lent<Result>(query: Query, loans: readonly Loan[], work: () => Promise<Result>): Promise<Result> {
  await query(begin)
  for (const { role, to, options } of loans) {
    await query(`grant ${quoted(role)} to ${quoted(to)} with ${options} granted by current_user`)
  }
  const result = await work()
  for (const { role, to } of loans.toReversed()) {
    await query(`revoke ${quoted(role)} from ${quoted(to)} granted by current_user`)
  }
  await query('commit')
  return result
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

/** `drop owned` leaves what another role granted to the login itself: only that role can revoke it. */
async function requireNothingGranted(query: Query, { oid, name }: MadeLogin): Promise<void> {
  const [left] = await query(
    `select o.type || ' ' || o.identity as what from pg_shdepend s, pg_identify_object(s.classid, s.objid, s.objsubid) o
      where s.refclassid = 'pg_authid'::regclass and s.refobjid = $1::oid and s.deptype = 'a'
        and s.dbid in (0, (select d.oid from pg_database d where d.datname = current_database()))
        and s.classid <> 'pg_auth_members'::regclass limit 1`,
    [oid],
  )
  if (left === undefined) return
  const why = `somebody else granted \`${name}\` rights on ${left.what ?? 'something'}: revoke them`
  throw new TargetError('transient', why)
}

/**
 * A prepared transaction outlives its connection, and holds its locks. Only its own user may roll it back, and not inside a
 * transaction, so Sallyport becomes that user for it: the statement runs no code of theirs.
 */
export async function rollBackPrepared(query: Query, me: string, login: MadeLogin): Promise<void> {
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
