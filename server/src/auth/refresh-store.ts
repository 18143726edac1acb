import { sql } from '../db/sql.ts'
import { emitWithFacts } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { makeSuccessorSalt, type RefreshClaim } from '../sessions/refresh-token.ts'
import { used } from '../sessions/session-store.ts'
import { isActive, isTenantSuspended } from '../users/active-store.ts'

/** For how long the use of a refresh token may be repeated, in seconds: its answer may have been lost, or two calls crossed. */
const repeatSeconds = 10

/** The use of a refresh token. `source`: the address or the network that it comes from, as `sourceOf` names it. */
export type RefreshUse = { claim: RefreshClaim; source: string; source_ip: string }

/** `seconds_left`: whole seconds until `ends_at`, rounded down, as no token outlives its session. `now`: the database's clock. */
export type Refreshed = { user_id: string; refresh_token: string; ends_at: string; seconds_left: number; now: string }

type Row = Omit<Refreshed, 'refresh_token'>

/**
 * Exchanges a refresh token for its successor. The same use, repeated by the same source within ten seconds, gets the same successor. Every
 * other token of the session that was used before ends the session, as one of its two users is not the program: `ended`. Undefined where
 * there is nothing to refresh any more.
 *
 * One round trip for a first use. INVARIANT: each step is one statement that takes the row's lock and decides by what is there then, so that
 * of two uses at once one is the first.
 *
 * Here, and not in `sessions/`, because users have sessions: that slice imports no users.
 */
export async function exchangeRefreshToken(ctx: WorkCtx, use: RefreshUse): Promise<Refreshed | 'ended' | undefined> {
  return (await exchange(ctx, use)) ?? (await repeatOrEnd(ctx, use))
}

async function exchange(ctx: WorkCtx, { claim, source, source_ip }: RefreshUse): Promise<Refreshed | undefined> {
  const { tx } = ctx
  const salt = makeSuccessorSalt()
  const next = claim.successor(salt)
  const data = { sid: claim.id, source_ip }
  const event = { type: 'auth.refreshed', subject_type: 'user', data, by: sql`id` } as const
  const [[refreshed]] = await tx.write([
    sql<Row>`with refreshed as (
        update user_session s set former_refresh_hash = s.refresh_hash, refresh_hash = ${next.refresh_hash},
          successor_salt = ${salt}, refreshed_at = clock_timestamp(), refreshed_from = ${source}::text, ${used}
        where ${isOfFamily(tx, claim)} and s.refresh_hash = ${claim.refresh_hash}
        returning ${shown}, s.user_id as id, '{}'::jsonb as facts),
      emitted as (${emitWithFacts(ctx, event, sql`refreshed`)})
      select user_id, ends_at, seconds_left, now from refreshed`,
  ])
  return refreshed && { ...refreshed, refresh_token: next.text }
}

/** What a token gets that is not the next one of its session. Its end is the service's: who made the call is unknown. */
async function repeatOrEnd(
  ctx: WorkCtx,
  { claim, source, source_ip }: RefreshUse,
): Promise<Refreshed | 'ended' | undefined> {
  const { tx } = ctx
  const event = { type: 'user.refresh_token_reused', subject_type: 'user', data: { sid: claim.id, source_ip } } as const
  const isRepeated = sql`s.former_refresh_hash = ${claim.refresh_hash} and s.refreshed_from = ${source}::text
    and s.refreshed_at > clock_timestamp() - make_interval(secs => ${repeatSeconds}::int)`
  const [[found]] = await tx.write([
    sql<Row & { successor_salt: Buffer; is_repeated: boolean }>`with found as materialized (
        select s.id, ${shown}, s.successor_salt, coalesce(${isRepeated}, false) as is_repeated
        from user_session s where ${isOfFamily(tx, claim)} and s.refresh_hash <> ${claim.refresh_hash}
        for no key update),
      ended as (
        delete from user_session s using found f
        where s.tenant_id = ${tx.tenant_id} and s.id = f.id and not f.is_repeated
        returning s.user_id as id,
          jsonb_strip_nulls(jsonb_build_object('used_from', s.refreshed_from, 'used_at', s.refreshed_at)) as facts),
      emitted as (${emitWithFacts(ctx, event, sql`ended`)})
      select user_id, ends_at, seconds_left, now, successor_salt, is_repeated from found`,
  ])
  if (found === undefined) return undefined
  const { successor_salt, is_repeated, ...refreshed } = found
  return is_repeated ? { ...refreshed, refresh_token: claim.successor(successor_salt).text } : 'ended'
}

const shown = sql`s.user_id, s.ends_at, clock_timestamp() as now,
  floor(extract(epoch from s.ends_at - clock_timestamp()))::int as seconds_left`

/** Whether the token is the next one of a session that lives, but whose tenant is suspended: it can be used once the tenant is resumed. */
export async function waitsInSuspendedTenant(tx: Tx, claim: RefreshClaim): Promise<boolean> {
  const rows = await tx.read(sql`select from user_session s
    where ${isSessionOf(tx, claim, isTenantSuspended(sql`t`))} and s.refresh_hash = ${claim.refresh_hash}`)
  return rows.length > 0
}

/**
 * The live session `s` of an active user whose tokens are of this family. A made-up token is of none, and so ends nothing. In a suspended
 * tenant there is none: no token is used up there.
 */
function isOfFamily(tx: Tx, claim: RefreshClaim): Statement {
  return isSessionOf(tx, claim, sql`not ${isTenantSuspended(sql`t`)}`)
}

/** `ofTenant`: a condition on its tenant `t`. */
function isSessionOf({ tenant_id }: Tx, { id, family_hash }: RefreshClaim, ofTenant: Statement): Statement {
  return sql`s.tenant_id = ${tenant_id} and s.id = ${id} and s.family_hash = ${family_hash}
    and s.live_until > clock_timestamp() and exists (select from tenant_user u join tenant t on t.id = u.tenant_id
      where u.tenant_id = s.tenant_id and u.id = s.user_id and ${isActive(sql`u`)} and ${ofTenant})`
}
