import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { emailKey } from '../kernel/email-address.ts'
import { scopesHeld } from '../roles/holding-store.ts'
import { hasSecondFactor } from '../second-factors/second-factor-store.ts'
import { isSuspended, isTenantSuspended } from './active-store.ts'
import { managerOf } from './fact-store.ts'
import { directoryOf } from './managed-store.ts'
import { signInLimitedFor } from './sign-in-failure-store.ts'
import { type NewUser, type Stored, type User, userOf } from './user.ts'

/** A new user as stored: the password only as its hash. */
export type UserToInsert = Omit<NewUser, 'password' | 'roles'> & {
  id: string
  roles: readonly string[]
  password_hash: string | null
  is_owner: boolean
  /** The part of the rehearsal that the user is; left out: a real person. */
  rehearsal?: string
}

const u = sql`u`
const shownSuspension = shownSuspensionOf(u)

function shownSuspensionOf(user: Statement): Statement {
  return sql`case when ${isSuspended(user)} then ${user}.suspended_until end`
}

/** The columns of `user`, a row of tenant_user, that every reader of users sees. */
export function listed(user: Statement): Statement {
  return sql`${user}.id, ${user}.email, ${user}.name, ${user}.auth_provider, ${user}.active, ${user}.email_verified,
    ${user}.is_owner, ${user}.created_at, ${user}.updated_at, ${user}.department, ${user}.title,
    ${managerOf(user)} as manager_id, ${directoryOf(user)} as identity_provider_id,
    ${shownSuspensionOf(user)} as suspended_until`
}

/** The ids of a user's own roles. */
export function rolesOf(tx: Tx, user_id: Statement): Statement {
  return sql`array(select role_id from user_role where tenant_id = ${tx.tenant_id}::uuid and user_id = ${user_id}
    order by role_id)`
}

/**
 * The statement that inserts a user with password and roles and emits the event. Addresses are compared by `email_key`: the
 * database refuses a second user with the same key.
 */
function userInsert(ctx: WorkCtx, user: UserToInsert): Statement<Stored<User>> {
  const event = {
    type: 'user.created',
    subject_type: 'user',
    subject_id: user.id,
    data: { roles: user.roles, auth_provider: user.auth_provider, is_owner: user.is_owner },
  } as const
  return sql<Stored<User>>`with made as (
      insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider, is_owner, avatar_base64,
        rehearsal)
      values (${ctx.tx.tenant_id}, ${user.id}, ${user.email}, ${emailKey(user.email)}, ${user.name},
        ${user.auth_provider}, ${user.is_owner}, ${user.avatar_base64}, ${user.rehearsal ?? null})
      returning *),
    kept as (
      insert into user_password (tenant_id, user_id, hash)
      select tenant_id, id, ${user.password_hash}::text from made where ${user.password_hash}::text is not null),
    given as (
      insert into user_role (tenant_id, user_id, role_id, granted_by)
      select tenant_id, id, role_id, ${ctx.actor.user_id}::uuid from made, unnest(${user.roles}::text[]) as role_id
      returning role_id),
    emitted as (${emit(ctx, event, sql`made`)})
    select ${listed(u)}, u.avatar_base64, array(select role_id from given order by role_id) as roles from made u`
}

/** @throws Problem 409 `user_exists` */
export async function insertUser(ctx: WorkCtx, user: UserToInsert): Promise<User> {
  const [[made]] = await ctx.tx.write([userInsert(ctx, user)])
  if (made === undefined) throw new Error('a user was inserted and not returned')
  return userOf<User>(made)
}

export async function findUser(tx: Tx, id: string): Promise<User | undefined> {
  const [user] = await tx.read(
    sql<Stored<User>>`select ${listed(u)}, u.avatar_base64, ${rolesOf(tx, sql`u.id`)} as roles from tenant_user u
      where u.tenant_id = ${tx.tenant_id} and u.id = ${id} and u.deleted_at is null`,
  )
  return user && userOf<User>(user)
}

/** A user's current scopes, from own roles and groups, as one value to embed in another statement on `u`. */
export function scopesAsArray(tx: Tx): Statement {
  return sql`array(${scopesHeld(tx, sql`u.id`)})`
}

/**
 * The data that a sign-in is checked against. `user_id`, `active`, `suspended`, `auth_provider` and `hash` are null for an unknown
 * user.
 */
export type SignIn = {
  /** Whether there is a tenant with this id. */
  has_tenant: boolean
  tenant_suspended: boolean
  user_id: string | null
  active: boolean | null
  suspended: boolean | null
  auth_provider: string | null
  hash: string | null
  has_second_factor: boolean
  /** Seconds until the account is under its limit again; null when it is now. */
  limited_for: number | null
  now: string
}

/** What there is at the id of the transaction, whether or not it is a tenant's. */
export async function findSignIn(tx: Tx, email: string): Promise<SignIn> {
  const [found] = await tx.read(sql<SignIn>`
    select t.id is not null as has_tenant,
      t.id is not null and ${isTenantSuspended(sql`t`)} as tenant_suspended, u.id as user_id, u.active,
      ${isSuspended(u)} as suspended, u.auth_provider, p.hash,
      coalesce(${hasSecondFactor(u)}, false) as has_second_factor,
      ${signInLimitedFor(tx, email)} as limited_for, clock_timestamp() as now
    from (select ${tx.tenant_id}::uuid as id) named
    left join tenant t on t.id = named.id
    left join tenant_user u on u.tenant_id = t.id and u.email_key = ${emailKey(email)} and u.deleted_at is null
    left join user_password p on p.tenant_id = u.tenant_id and p.user_id = u.id`)
  if (found === undefined) throw new Error('a sign-in was looked up and not returned')
  return found
}

/** The user that the operator names by an address. */
export type FoundUser = {
  id: string
  email: string
  is_owner: boolean
  active: boolean
  /** Null: not suspended now. */
  suspended_until: string | null
  auth_provider: string
  /** Whether the rehearsal made them. */
  rehearsal: boolean
  scopes: string[]
}

export async function findUserByEmail(tx: Tx, email: string): Promise<FoundUser | undefined> {
  const [user] = await tx.read(sql<FoundUser>`
    select u.id, u.email, u.is_owner, u.active, ${shownSuspension} as suspended_until, u.auth_provider,
      u.rehearsal is not null as rehearsal, ${scopesAsArray(tx)} as scopes
    from tenant_user u
    where u.tenant_id = ${tx.tenant_id} and u.email_key = ${emailKey(email)} and u.deleted_at is null`)
  return user
}
