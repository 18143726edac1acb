import { sql } from '../db/sql.ts'
import { emit, type NewEvent } from '../events/emit.ts'
import type { Ctx, Statement } from '../kernel/context.ts'
import type { RefreshToken } from './refresh-token.ts'
import type { SessionLimits } from './session.ts'
import type { SessionClaim } from './session-secret.ts'

/** A session that a browser or a program holds from now on. `seconds_left`: whole seconds until `ends_at`, rounded up. */
export type HeldSession = { id: string; ends_at: string; seconds_left: number }

/** What a browser is given, and the session that it had before, if any. */
export type BrowserGift = { cookie_hash: Buffer; limits: SessionLimits; replaced: readonly SessionClaim[] }

/**
 * Gives the session of the acting user's token to a browser, once and within a minute of the sign-in, emits the event, and ends the
 * user's session that the browser had before. Undefined for a session that is older, or that is held already.
 */
export async function giveToBrowser(
  ctx: Ctx,
  { cookie_hash, limits, replaced }: BrowserGift,
): Promise<HeldSession | undefined> {
  const [[started]] = await ctx.tx.write([
    sql<HeldSession>`with started as (${holding(ctx, sql`cookie_hash = ${cookie_hash}`, limits)}),
      replaced as (delete from user_session where ${ownSessions(ctx)} and exists (select from started)
        and id = any(${replaced.map(({ id }) => id)}::uuid[])
        and cookie_hash = any(${replaced.map((claim) => claim.cookie_hash)}::bytea[])),
      emitted as (${emit(ctx, startedBy(ctx, 'browser'), sql`started`)})
      select id, ends_at, seconds_left from started`,
  ])
  return started
}

/** Gives the session of the acting user's token to a program, under the same conditions. */
export async function giveToProgram(
  ctx: Ctx,
  { family_hash, refresh_hash }: RefreshToken,
  limits: SessionLimits,
): Promise<HeldSession | undefined> {
  const tokens = sql`family_hash = ${family_hash}, refresh_hash = ${refresh_hash}`
  const [[started]] = await ctx.tx.write([
    sql<HeldSession>`with started as (${holding(ctx, tokens, limits)}),
      emitted as (${emit(ctx, startedBy(ctx, 'program'), sql`started`)})
      select id, ends_at, seconds_left from started`,
  ])
  return started
}

function ownSessions({ tx, actor }: Ctx): Statement {
  return sql`tenant_id = ${tx.tenant_id} and user_id = ${actor.user_id}`
}

/** The guarded update that makes the session of the call a held one: by what `proof` sets. */
function holding(ctx: Ctx, proof: Statement, { max_seconds, idle_seconds }: SessionLimits): Statement {
  const end = sql`created_at + make_interval(secs => ${max_seconds}::int)`
  const idle = sql`clock_timestamp() + make_interval(secs => ${idle_seconds}::int)`
  return sql`update user_session set ${proof}, idle_seconds = ${idle_seconds}, ends_at = ${end},
      live_until = least(${end}, ${idle}), last_used_at = clock_timestamp()
    where ${ownSessions(ctx)} and id = ${ctx.session?.id ?? null} and cookie_hash is null and family_hash is null
      and live_until > clock_timestamp() and created_at > clock_timestamp() - interval '60 seconds'
    returning id, ends_at, ceil(extract(epoch from ends_at - clock_timestamp()))::int as seconds_left`
}

function startedBy({ session, actor, source_ip }: Ctx, held_by: 'browser' | 'program'): NewEvent {
  const data = { sid: session?.id ?? null, source_ip, held_by }
  return { type: 'auth.session_started', subject_type: 'user', subject_id: String(actor.user_id), data }
}
