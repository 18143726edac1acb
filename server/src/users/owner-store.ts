import { sql } from '../db/sql.ts'
import { emit, type NewEvent } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { emailKey } from '../kernel/email-address.ts'
import { factorsEnd, factorsReset, hasSecondFactor } from '../second-factors/second-factor-store.ts'
import type { NewSession } from '../sessions/session.ts'
import type { SessionClaim } from '../sessions/session-secret.ts'
import { sessionInsert, sessionsEnd } from '../sessions/session-store.ts'
import { passwordMinLength } from '../settings/setting.ts'
import { saveSetting, settingsAsJson } from '../settings/setting-store.ts'
import { isActive } from './active-store.ts'
import type { NewUser } from './user.ts'

/**
 * The address of the owner that the first start makes: under `.local`, which mail never reaches and no other person has. The owner
 * keeps it until they set themselves up by a link.
 */
export const firstOwnerEmail = 'owner@sallyport.local'

/** Whether `u`, a row of tenant_user, is an owner who was not set up yet. */
function isFirstOwner(u: Statement): Statement {
  return sql`(${u}.is_owner and ${u}.auth_provider = 'local' and ${u}.email_key = ${emailKey(firstOwnerEmail)}
    and ${isActive(u)})`
}

/** Whether the tenant has an owner who was not set up yet. */
export async function hasFirstOwner(tx: Tx): Promise<boolean> {
  const rows = await tx.read(
    sql`select from tenant_user u where u.tenant_id = ${tx.tenant_id} and ${isFirstOwner(sql`u`)}`,
  )
  return rows.length > 0
}

/** Stores a setup link of an owner in place of the one before. Returns its end; undefined for an owner who was set up already. */
export async function saveSetupLink(ctx: WorkCtx, user_id: string, secret_hash: Buffer): Promise<string | undefined> {
  const { tenant_id } = ctx.tx
  const event = { type: 'user.setup_link_created', subject_type: 'user', subject_id: user_id } as const
  const [[saved]] = await ctx.tx.write([
    sql<{ expires_at: string }>`with saved as (
        insert into setup_link (tenant_id, user_id, secret_hash)
        select u.tenant_id, u.id, ${secret_hash}::bytea from tenant_user u
        where u.tenant_id = ${tenant_id} and u.id = ${user_id} and ${isFirstOwner(sql`u`)}
        on conflict (tenant_id, user_id) do update
          set secret_hash = excluded.secret_hash, expires_at = excluded.expires_at
        returning expires_at),
      emitted as (${emit(ctx, event, sql`saved`)})
      select expires_at from saved`,
  ])
  return saved?.expires_at
}

/** A setup link that can be used. */
export type SetupLink = {
  tenant_name: string
  expires_at: string
  /** The minimum length of the owner's password. */
  min_length: number
}

/** Undefined for a link that was used or replaced, has expired, or never was. */
export async function findSetupLink(tx: Tx, claim: SessionClaim): Promise<SetupLink | undefined> {
  const [row] = await tx.read(sql<Omit<SetupLink, 'min_length'> & { stored: Record<string, string> }>`
    select t.name as tenant_name, l.expires_at, ${settingsAsJson(tx)} as stored
    from setup_link l
    join tenant t on t.id = l.tenant_id
    join tenant_user u on u.tenant_id = l.tenant_id and u.id = l.user_id
    where ${isLink(sql`l`, tx, claim)} and ${isFirstOwner(sql`u`)}`)
  if (row === undefined) return undefined
  const { stored, ...link } = row
  return { ...link, min_length: passwordMinLength(stored, { hasFactor: false }) }
}

function isLink(l: Statement, { tenant_id }: Tx, { id, cookie_hash }: SessionClaim): Statement {
  return sql`${l}.tenant_id = ${tenant_id} and ${l}.user_id = ${id} and ${l}.secret_hash = ${cookie_hash}
    and ${l}.expires_at > clock_timestamp()`
}

/** What the first owner enters about themselves. */
export type OwnerSetup = Pick<NewUser, 'email' | 'name'> & {
  password_hash: string
  /** The owner's, and the tenant's where it has none of its own. Null: what the client detects, and the tenant keeps its own. */
  timezone: string | null
  /** The name of the tenant; null: it stays. */
  tenant_name: string | null
}

/**
 * Uses a setup link up: the owner gets what they entered, all that proved who they were before ends, and a session begins. Returns
 * the moment; undefined for a link that cannot be used any more.
 * @throws Problem 409 `user_exists`
 */
export async function setUpFirstOwner(
  ctx: WorkCtx,
  claim: SessionClaim,
  { email, name, password_hash, timezone, tenant_name }: OwnerSetup,
  { event, session }: { event: NewEvent; session: NewSession },
): Promise<string | undefined> {
  const { tenant_id } = ctx.tx
  const setUp = { type: 'user.set_up', subject_type: 'user', subject_id: claim.id } as const
  const renamed = { type: 'tenant.renamed', subject_type: 'tenant', subject_id: tenant_id } as const
  return ctx.tx.interactive(async (tx) => {
    const [[done]] = await tx.write([
      sql<{ now: string }>`with link as (
          select l.user_id from setup_link l where ${isLink(sql`l`, tx, claim)} for update),
        owner as (
          update tenant_user u set email = ${email}, email_key = ${emailKey(email)}, name = ${name},
            email_verified = false, timezone = ${timezone}, updated_at = clock_timestamp()
          from link
          where u.tenant_id = ${tenant_id} and u.id = link.user_id and ${isFirstOwner(sql`u`)}
          returning u.tenant_id, u.id),
        used as (delete from setup_link l using owner where l.tenant_id = owner.tenant_id and l.user_id = owner.id),
        kept as (${passwordUpsert(password_hash)}),
        renamed as (
          update tenant set name = ${tenant_name} where id = ${tenant_id} and name <> ${tenant_name}
            and exists (select from owner)
          returning id),
        emitted as (${emit(ctx, setUp, sql`owner`)}),
        emitted_name as (${emit(ctx, renamed, sql`renamed`)})
        select clock_timestamp() as now from owner`,
    ])
    if (done === undefined) return undefined
    const within = { ...ctx, tx }
    await tx.write([
      ...signInEnd(within, claim.id),
      sql`with whom as (select ${claim.id}::uuid as user_id), begun as (${sessionInsert(tx, session, sql`whom`)})
        ${emit(within, event)}`,
    ])
    if (timezone !== null) await saveSetting(within, 'timezone.default', { old: null, new: timezone })
    return done.now
  })
}

/**
 * Gives a local owner a new password, emits the event, and ends the owner's sessions and second factors. False when there is no
 * such owner.
 */
export async function resetOwnerPassword(ctx: WorkCtx, user_id: string, hash: string): Promise<boolean> {
  const { tenant_id } = ctx.tx
  const event = { type: 'user.password_reset', subject_type: 'user', subject_id: user_id } as const
  return ctx.tx.interactive(async (tx) => {
    const [[changed]] = await tx.write([
      sql`with owner as (
        select tenant_id, id from tenant_user
        where tenant_id = ${tenant_id} and id = ${user_id} and is_owner and auth_provider = 'local'),
      changed as (${passwordUpsert(hash)} returning user_id),
      emitted as (${emit(ctx, event, sql`changed`)})
      select user_id from changed`,
    ])
    if (changed === undefined) return false
    await tx.write(signInEnd({ ...ctx, tx }, user_id))
    return true
  })
}

/** The password of each row of `owner`, a common table expression. */
function passwordUpsert(hash: string): Statement {
  return sql`insert into user_password (tenant_id, user_id, hash) select tenant_id, id, ${hash}::text from owner
    on conflict (tenant_id, user_id) do update set hash = excluded.hash, updated_at = clock_timestamp()`
}

/** The end of all that proves who a user is but the password. INVARIANT: after a lock that sign-ins of the user wait for. */
function signInEnd(ctx: WorkCtx, user_id: string): Statement[] {
  const { tx } = ctx
  const whenAny = sql`(select from tenant_user u
    where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id} and ${hasSecondFactor(sql`u`)}) had`
  return [factorsReset(ctx, user_id, whenAny), ...factorsEnd(tx, user_id), sessionsEnd(tx, user_id)]
}
