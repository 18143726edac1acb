import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { addressKeys, emailKey } from '../kernel/email-address.ts'
import { newId } from '../kernel/id.ts'
import { isName, onOneLine } from '../kernel/one-line-name.ts'
import type { NewSession } from '../sessions/session.ts'
import { sessionCleanup, sessionInsert } from '../sessions/session-store.ts'
import { isActive, isSuspended } from './active-store.ts'
import { directoryOf } from './managed-store.ts'
import type { Candidate, ProviderAccount } from './provider-user.ts'

const self = sql`tenant_user`

/**
 * The users, deleted ones included, who are or were linked to the account, the users who have its address or one like it, and the user whom
 * the directory knows by its subject.
 */
export function findCandidates(
  tx: Tx,
  { issuer, subject, email }: ProviderAccount,
  identity_provider_id: string | null,
): Promise<Candidate[]> {
  const theirs = sql`select d.user_id from directory_user d where d.tenant_id = ${tx.tenant_id}
    and d.identity_provider_id = ${identity_provider_id}::uuid and d.external_id = ${subject}`
  const keys = email === undefined ? [] : addressKeys(email)
  return tx.read(sql<Candidate>`
    select id, active, ${isSuspended(self)} as suspended, auth_provider, email, subject is not null as linked,
      ${directoryOf(self)} is not null as in_directory, id in (${theirs}) as is_known_there,
      deleted_at is not null as deleted, coalesce(issuer = ${issuer} and subject = ${subject}, false) as is_account
    from tenant_user
    where tenant_id = ${tx.tenant_id}
      and ((issuer = ${issuer} and subject = ${subject})
        or (email_key = any(${keys}::text[]) and deleted_at is null)
        or id in (${theirs}))`)
}

/** What has to be true when a user begins or signs in, and the statement that keeps it so until then. */
export type Precondition = { lock: Statement; holds: Statement }

/** Nothing has to be true. */
export const noPrecondition: Precondition = { lock: sql`select`, holds: sql`true` }

/** Links the account to a user without one. Undefined when the user can no longer be linked, or the precondition fails. */
export async function linkUser(
  ctx: WorkCtx,
  account: ProviderAccount,
  { id, verifies, directory_id }: { id: string; verifies: boolean; directory_id: string | null },
  { lock, holds }: Precondition,
): Promise<string | undefined> {
  const { issuer, subject, email } = account
  const data = { issuer, subject: onOneLine(subject), email }
  const event = { type: 'user.linked', subject_type: 'user', subject_id: id, data } as const
  const [, [linked]] = await ctx.tx.write([
    lock,
    sql<{ id: string }>`with changed as (
      update tenant_user set issuer = ${issuer}, subject = ${subject},
        email_verified = email_verified or ${verifies},
        updated_at = clock_timestamp()
      where tenant_id = ${ctx.tx.tenant_id} and id = ${id} and auth_provider = 'oidc' and subject is null
        and ${isActive(self)} and ${holds}
        -- The directory may say something else of the user by now.
        and ${directoryOf(self)} is not distinct from ${directory_id}::uuid
        and (${directory_id}::uuid is null or exists (select from directory_user d
          where d.tenant_id = ${ctx.tx.tenant_id} and d.user_id = ${id} and d.external_id = ${subject}))
      returning id),
    emitted as (${emit(ctx, event, sql`changed`)})
    select id from changed`,
  ])
  return linked?.id
}

/**
 * Creates the user of an account, with the role `user` only if its address is verified. Undefined when another user has the account
 * or its address already, or the precondition fails.
 */
export async function insertProviderUser(
  ctx: WorkCtx,
  account: ProviderAccount & { email: string },
  { lock, holds }: Precondition,
): Promise<string | undefined> {
  const { issuer, subject, email, email_verified, name = nameIn(email) } = account
  const id = newId()
  const roles = email_verified ? ['user'] : []
  const data = { roles, auth_provider: 'oidc', is_owner: false, issuer }
  const event = { type: 'user.created', subject_type: 'user', subject_id: id, data } as const
  const [, [created]] = await ctx.tx.write([
    lock,
    sql<{ id: string }>`with made as (
      insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider, email_verified, issuer, subject)
      select ${ctx.tx.tenant_id}::uuid, ${id}::uuid, ${email}, ${emailKey(email)}, ${name}, 'oidc', ${email_verified},
        ${issuer}, ${subject} where ${holds}
      on conflict do nothing
      returning tenant_id, id),
    given as (insert into user_role (tenant_id, user_id, role_id)
      select tenant_id, id, role_id from made, unnest(${roles}::text[]) as role_id),
    emitted as (${emit(ctx, event, sql`made`)})
    select id from made`,
  ])
  return created?.id
}

/** The part before the `@`, or the whole address where one sees nothing of that part. */
function nameIn(email: string): string {
  const local = email.slice(0, email.indexOf('@'))
  return isName(local) ? local : email
}

/** A sign-in to be recorded. `claims`: the statements that give what its claims say, of which each returns what changed. */
type SignIn = {
  data: Record<string, unknown>
  session: NewSession
  provider: Precondition
  claims?: readonly Statement[] | undefined
}

/**
 * Records the sign-in and begins its session if the user is still active and the precondition holds, and records that the user's address is verified if
 * `verifies`. Returns the time by the database's clock, and whether the claims changed something. INVARIANT: it locks the user, as
 * `recordSignIn` does, and then the provider.
 */
export async function noteSignIn(
  ctx: WorkCtx,
  { user_id, verifies }: { user_id: string; verifies: boolean },
  { data, session, provider, claims = [] }: SignIn,
): Promise<{ now: Date; claimed: boolean } | undefined> {
  const { tx } = ctx
  const about = { subject_type: 'user', subject_id: user_id } as const
  const updated = { type: 'user.updated', ...about, data: { fields: ['email_verified'] } } as const
  const whose = sql`tenant_id = ${tx.tenant_id} and id = ${user_id} and ${isActive(self)}`
  const [, , [noted], , ...later] = await tx.write([
    sql`select from tenant_user where ${whose} for no key update`,
    // After the lock of the user, which may be waited for: a change of the provider waits for everybody who shares this one.
    provider.lock,
    sql<{ now: string }>`with who as (
        select id as user_id from tenant_user where ${whose} and ${provider.holds}),
      begun as (${sessionInsert(tx, session, sql`who`)}),
      emitted as (${emit(ctx, { type: 'auth.signed_in', ...about, data }, sql`who`)})
      select clock_timestamp() as now from who`,
    sql`with changed as (
        update tenant_user set email_verified = true, updated_at = clock_timestamp()
        where ${whose} and not email_verified and ${verifies} and ${provider.holds}
        returning id),
      emitted as (${emit(ctx, updated, sql`changed`)})
      select id from changed`,
    ...claims,
    ...sessionCleanup(tx, user_id),
  ])
  return noted && { now: new Date(noted.now), claimed: later.slice(0, claims.length).some((rows) => rows.length > 0) }
}
