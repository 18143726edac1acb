import type pg from 'pg'

/** The role that owns the tables and migrates, the role that serves requests, and the role that finds work across tenants. */
export const ownerRole = 'sallyport_owner'
export const appRole = 'sallyport_app'
export const workRole = 'sallyport_work'

/**
 * Creates the three roles if they are missing, and restores their required attributes and grants, all or nothing. Run it as a
 * superuser, or as a role that may create roles; it is safe to run again. Passwords are set only if given.
 */
export async function setUpRoles(
  admin: pg.Client,
  database: string,
  passwords: { owner: string; app: string } | undefined,
): Promise<void> {
  await admin.query('begin')
  try {
    await setUpEach(admin, database, passwords)
    await admin.query('commit')
  } catch (error) {
    await admin.query('rollback').catch(() => undefined)
    throw error
  }
}

async function setUpEach(
  admin: pg.Client,
  database: string,
  passwords: { owner: string; app: string } | undefined,
): Promise<void> {
  const password = (text: string | undefined) => (text === undefined ? '' : `password ${admin.escapeLiteral(text)}`)
  await ensureRole(admin, ownerRole, `login noinherit ${password(passwords?.owner)}`)
  // NOINHERIT: the policies and grants of `sallyport_work` count only after `set local role`.
  await ensureRole(admin, appRole, `login noinherit ${password(passwords?.app)}`)
  await ensureRole(admin, workRole, 'nologin noinherit')
  await admin.query(`grant ${workRole} to ${appRole}`)
  await admin.query(`alter role ${appRole} set statement_timeout = '5s'`)
  await admin.query(`alter role ${appRole} set lock_timeout = '1s'`)
  await admin.query(`alter role ${appRole} set idle_in_transaction_session_timeout = '10s'`)
  const name = admin.escapeIdentifier(database)
  await admin.query(`revoke all on database ${name} from public`)
  await admin.query(`grant connect on database ${name} to ${appRole}, ${ownerRole}`)
  await admin.query(`grant create on database ${name} to ${ownerRole}`)
  await admin.query('revoke create on schema public from public')
  await admin.query(`grant usage on schema public to ${appRole}, ${workRole}`)
  await admin.query(`grant usage, create on schema public to ${ownerRole}`)
}

/**
 * A new role bypasses nothing. For an existing role, the service checks that at its start, because only a superuser may set it
 * here.
 */
async function ensureRole(admin: pg.Client, role: string, attributes: string): Promise<void> {
  const { rows } = await admin.query('select 1 from pg_roles where rolname = $1', [role])
  await admin.query(`${rows.length === 0 ? 'create' : 'alter'} role ${role} ${attributes}`)
}

/** Creates the database if it is missing; returns whether it was. */
export async function ensureDatabase(admin: pg.Client, name: string): Promise<boolean> {
  const { rows } = await admin.query('select 1 from pg_database where datname = $1', [name])
  if (rows.length > 0) return false
  await admin.query(`create database ${admin.escapeIdentifier(name)}`)
  return true
}

/** Drops a database that `ensureDatabase` has just created. */
export async function dropNewDatabase(admin: pg.Client, name: string): Promise<void> {
  await admin.query(`drop database ${admin.escapeIdentifier(name)}`)
}
