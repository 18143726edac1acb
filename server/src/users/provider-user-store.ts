import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { emit } from '../events/emit.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import { emailKey } from '../kernel/email-address.ts'
import { newId } from '../kernel/id.ts'
import type { Candidate, ProviderAccount } from './provider-user.ts'

/** The users, deleted ones included, who are or were linked to the account, and the user who has its address. */
export function findCandidates(tx: Tx, { issuer, subject, email }: ProviderAccount): Promise<Candidate[]> {
  return tx.read(sql<Candidate>`
    select id, active, auth_provider, subject is not null as linked, deleted_at is not null as deleted,
      coalesce(issuer = ${issuer} and subject = ${subject}, false) as is_account
    from tenant_user
    where tenant_id = ${tx.tenant_id}
      and ((issuer = ${issuer} and subject = ${subject})
        or (email_key = ${email === undefined ? null : emailKey(email)}::text and deleted_at is null))`)
}

/** Links the account to a user without one. Undefined when the user can no longer be linked. */
export async function linkUser(ctx: WorkCtx, account: ProviderAccount, id: string): Promise<string | undefined> {
  const { issuer, subject } = account
  const event = { type: 'user.linked', subject_type: 'user', subject_id: id, data: { issuer } } as const
  const [[linked]] = await ctx.tx.write([
    sql<{ id: string }>`with changed as (
      update tenant_user set issuer = ${issuer}, subject = ${subject}, email_verified = true,
        updated_at = clock_timestamp()
      where tenant_id = ${ctx.tx.tenant_id} and id = ${id} and auth_provider = 'oidc' and subject is null and active
      returning id),
    emitted as (${emit(ctx, event, sql`changed`)})
    select id from changed`,
  ])
  return linked?.id
}

/** Creates the user of an account. Undefined when another user has the account or its address already. */
export async function insertProviderUser(
  ctx: WorkCtx,
  account: ProviderAccount & { email: string },
): Promise<string | undefined> {
  const { issuer, subject, email, email_verified, name = email.slice(0, email.indexOf('@')) } = account
  const id = newId()
  const data = { roles: ['user'], auth_provider: 'oidc', is_owner: false, issuer }
  const event = { type: 'user.created', subject_type: 'user', subject_id: id, data } as const
  const [[created]] = await ctx.tx.write([
    sql<{ id: string }>`with made as (
      insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider, email_verified, issuer, subject)
      values (${ctx.tx.tenant_id}, ${id}, ${email}, ${emailKey(email)}, ${name}, 'oidc', ${email_verified}, ${issuer},
        ${subject})
      on conflict do nothing
      returning tenant_id, id),
    given as (insert into user_role (tenant_id, user_id, role_id) select tenant_id, id, 'user' from made),
    emitted as (${emit(ctx, event, sql`made`)})
    select id from made`,
  ])
  return created?.id
}

/** Records the sign-in if the user is still active. Returns the time by the database's clock. */
export async function noteSignIn(
  ctx: WorkCtx,
  user_id: string,
  data: Record<string, unknown>,
): Promise<Date | undefined> {
  const event = { type: 'auth.signed_in', subject_type: 'user', subject_id: user_id, data } as const
  const [[noted]] = await ctx.tx.write([
    sql<{ now: string }>`with who as (
        select id from tenant_user where tenant_id = ${ctx.tx.tenant_id} and id = ${user_id} and active),
      emitted as (${emit(ctx, event, sql`who`)})
      select clock_timestamp() as now from who`,
  ])
  return noted && new Date(noted.now)
}

/** The tenants, two at most, where a user has the account, or else where a user with its address is still to be linked. */
export async function listTenantsOfAccount(work: UnrestrictedTx, account: ProviderAccount): Promise<string[]> {
  const { issuer, subject, email, email_verified } = account
  const known = await work.read(
    sql<{
      tenant_id: string
    }>`select tenant_id from tenant_user where issuer = ${issuer} and subject = ${subject} limit 2`,
  )
  if (known.length > 0) return known.map((row) => row.tenant_id)
  if (email === undefined || !email_verified) return []
  const waiting = await work.read(sql<{ tenant_id: string }>`
    select distinct tenant_id from tenant_user where link_key = hashtextextended(${emailKey(email)}::text, 0) limit 2`)
  return waiting.map((row) => row.tenant_id)
}

/** Whether there is such a tenant. */
export async function isTenant(tx: Tx): Promise<boolean> {
  return (await tx.read(sql`select id from tenant where id = ${tx.tenant_id}`)).length > 0
}
