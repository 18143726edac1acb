import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { NewSession } from '../sessions/session.ts'
import type { SessionClaim } from '../sessions/session-secret.ts'
import { sessionInsert } from '../sessions/session-store.ts'
import { passwordMinLength } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import { providerIsStill } from '../settings/sign-in-setting-store.ts'
import { isActive } from '../users/active-store.ts'
import { neverJoined } from '../users/joined-store.ts'
import { scopesAsArray } from '../users/user-store.ts'
import { hasWayIn, isLive, mailStop } from './invitation-store.ts'

/** The sign-in provider of the tenant's own, as far as an invitation asks. */
export type OwnProvider = { version: string; redirect_uris: string[] }

/** An invitation whose link can be used. */
export type Joining = {
  user_id: string
  email: string
  name: string
  tenant_name: string
  expires_at: string
  /** The minimum length of a password. */
  min_length: number
  /** Where the people of the tenant sign in; null: with a password. */
  provider: OwnProvider | null
}

const [i, u] = [sql`i`, sql`u`]

/** `i`, a row of invitation, is of this link, which is live. */
function isLink({ tenant_id }: Tx, { id, cookie_hash }: SessionClaim): Statement {
  return sql`i.tenant_id = ${tenant_id} and i.id = ${id} and ${isLive}
    and (i.secret_hash = ${cookie_hash} or i.mail_secret_hash = ${cookie_hash})`
}

/**
 * The link makes its holder the user `u` of `i`. INVARIANT: not where the user holds more by now than when the link was made: a role that
 * was given later was not meant for who kept the link.
 */
function mayJoin(tx: Tx): Statement {
  return sql`u.tenant_id = ${i}.tenant_id and u.id = ${i}.user_id and ${neverJoined(u)} and ${isActive(u)}
    and ${hasWayIn(u)} and ${scopesAsArray(tx)} <@ i.vouched_scopes`
}

/** Undefined for a link that cannot be used, or not any more. */
export async function findJoining(tx: Tx, claim: SessionClaim): Promise<Joining | undefined> {
  const [row] = await tx.read(sql<Omit<Joining, 'min_length'> & { stored: Record<string, string> }>`
    select u.id as user_id, u.email, u.name, t.name as tenant_name, i.expires_at, ${settingsAsJson(tx)} as stored,
      (select jsonb_build_object('version', s.version::text, 'redirect_uris', s.redirect_uris) from sign_in_setting s
        where s.tenant_id = i.tenant_id and s.enabled) as provider
    from invitation i join tenant t on t.id = i.tenant_id join tenant_user u on ${mayJoin(tx)}
    where ${isLink(tx, claim)}`)
  if (row === undefined) return undefined
  const { stored, ...joining } = row
  return { ...joining, min_length: passwordMinLength(stored, { hasFactor: false }) }
}

/** What the person enters; null: it stays as it is. */
export type JoinInput = { name: string | null; timezone: string | null }

/** How the person signs in from now on: with a password, and at once; or by the provider as it was read. */
export type JoinWay = { password_hash: string; session: NewSession } | { provider: OwnProvider }

/**
 * Uses a link up: the user is the person's from now on. Returns the moment; undefined for a link that cannot be used any more, or where the
 * tenant's provider changed meanwhile. Everything is asked again in the statement that uses the link, under the lock of the user, so
 * that of two uses one wins, and that a revocation, a deactivation and a change of roles come before it or after it.
 */
export async function join(
  ctx: WorkCtx,
  claim: SessionClaim,
  { name, timezone }: JoinInput,
  way: JoinWay,
): Promise<string | undefined> {
  const { tenant_id } = ctx.tx
  const isLocal = 'session' in way
  return ctx.tx.interactive(async (tx) => {
    const provider = providerIsStill(tx, isLocal ? undefined : way.provider.version)
    const [, , [done]] = await tx.write([
      sql`select from tenant_user u where u.tenant_id = ${tenant_id}
        and u.id = (select i.user_id from invitation i where ${isLink(tx, claim)}) for no key update`,
      provider.lock,
      sql<Joined & { now: string }>`with link as materialized (
          select i.id, coalesce(i.mail_secret_hash = ${claim.cookie_hash}, false) as by_mail
          from invitation i join tenant_user u on ${mayJoin(tx)}
          where ${isLink(tx, claim)} and ${provider.holds}),
        used as (
          update invitation i set ended_as = 'used', ended_at = clock_timestamp() from link
          where i.tenant_id = ${tenant_id} and i.id = link.id and i.ended_at is null
          returning i.user_id, i.id, link.by_mail),
        joined as (
          update tenant_user u set name = coalesce(${name}::text, u.name),
            timezone = coalesce(${timezone}::text, u.timezone), email_verified = u.email_verified or used.by_mail,
            auth_provider = ${isLocal ? 'local' : 'oidc'}, updated_at = clock_timestamp()
          from used where u.tenant_id = ${tenant_id} and u.id = used.user_id
          returning u.id as user_id, used.by_mail),
        kept as (
          insert into user_password (tenant_id, user_id, hash)
          select ${tenant_id}::uuid, user_id, ${isLocal ? way.password_hash : null}::text from joined where ${isLocal}),
        unsent as (${mailStop(tx, sql`used`)})
        select clock_timestamp() as now, user_id, by_mail from joined`,
    ])
    if (done === undefined) return undefined
    await tx.write(eventsOf({ ...ctx, tx }, claim.id, done, way))
    return done.now
  })
}

/** Who joined, and whether by the mailed link, whose use proves the address. */
type Joined = { user_id: string; by_mail: boolean }

/** The events of a use, and the session of one by a password. */
function eventsOf(
  ctx: WorkCtx,
  invitation_id: string,
  { user_id, by_mail: proves_address }: Joined,
  way: JoinWay,
): Statement[] {
  const about = { subject_type: 'user', subject_id: user_id } as const
  const isLocal = 'session' in way
  const data = { invitation_id, way: isLocal ? 'password' : 'provider', proves_address }
  const event = emit(ctx, { type: 'user.joined', ...about, data })
  if (!isLocal) return [event]
  const { session } = way
  const signedIn = {
    type: 'auth.signed_in',
    ...about,
    data: { source_ip: session.source_ip, sid: session.id },
  } as const
  const whom = sql`(select ${user_id}::uuid as user_id) whom`
  return [event, sessionInsert(ctx.tx, session, whom), emit(ctx, signedIn)]
}
