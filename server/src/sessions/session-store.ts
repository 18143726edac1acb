import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { PageRequest } from '../kernel/page.ts'
import { type NewSession, providerNameHash, type Session, shownUserAgent } from './session.ts'

/** The maximum number of sessions of one user. With more, those used longest ago end: a program may sign in for each of its calls. */
const maxSessions = 1_000

/** The insert of a session of the user `user_id` of `whom`, a common table expression: one session for each of its rows. */
export function sessionInsert(tx: Tx, session: NewSession, whom: Statement): Statement {
  const { id, amr, auth_time, by, source_ip, user_agent, lifetime_seconds } = session
  const end = sql`clock_timestamp() + make_interval(secs => ${lifetime_seconds}::int)`
  return sql`insert into user_session (tenant_id, id, user_id, amr, auth_time, provider, provider_sub_hash,
      provider_sid_hash, source_ip, user_agent, ends_at, live_until)
    select ${tx.tenant_id}::uuid, ${id}::uuid, user_id, ${amr}::text[],
      least(${auth_time?.toISOString() ?? null}::timestamptz, clock_timestamp()), ${by?.provider ?? null}::text,
      ${by === undefined ? null : providerNameHash(by.issuer, by.sub)}::bytea,
      ${by?.sid === undefined ? null : providerNameHash(by.issuer, by.sid)}::bytea,
      ${source_ip}::text, ${shownUserAgent(user_agent)}::text, e.at, e.at
    from ${whom}, (select ${end} as at) e`
}

/** Whether there is such a session, as a condition to embed in another statement. */
export function hasSession(tx: Tx, id: string): Statement {
  return sql`exists (select from user_session where tenant_id = ${tx.tenant_id}::uuid and id = ${id}::uuid)`
}

/**
 * Deletes some of the tenant's sessions that have ended, and those of the user above the maximum. Rows that another transaction has
 * are skipped, so that it cannot deadlock.
 */
export function sessionCleanup(tx: Tx, user_id: string): Statement[] {
  const { tenant_id } = tx
  return [
    // By now(), which an index can be read by. As an array, so that the select runs once, whatever the planner expects.
    sql`delete from user_session where tenant_id = ${tenant_id} and id = any(array(
      select id from user_session where tenant_id = ${tenant_id} and live_until <= now()
      order by live_until limit 100 for update skip locked))`,
    // Only those that go are locked: an offset counts rows that it has locked.
    sql`delete from user_session where tenant_id = ${tenant_id} and id = any(array(
      select id from user_session where tenant_id = ${tenant_id} and id = any(array(
        select id from user_session where tenant_id = ${tenant_id} and user_id = ${user_id}
        order by last_used_at desc offset ${maxSessions}))
      for update skip locked))`,
  ]
}

/**
 * The end of every session of a user, and of sign-ins that wait for a second factor. Of a program that has the session `except`, the token of
 * now stays and the refresh token does not: it lies in a file, where others may have copied it. INVARIANT: a statement of its own, after a lock that
 * sign-ins of the user wait for.
 */
export function sessionsEnd(tx: Tx, user_id: string, { except = null }: { except?: string | null } = {}): Statement {
  const whose = sql`tenant_id = ${tx.tenant_id} and user_id = ${user_id}`
  return sql`with waiting as (delete from sign_in_challenge where ${whose}),
    kept as (
      update user_session set family_hash = null, refresh_hash = null, former_refresh_hash = null,
        successor_salt = null, refreshed_at = null, refreshed_from = null
      where ${whose} and id = ${except}::uuid and family_hash is not null)
    delete from user_session where ${whose} and id is distinct from ${except}::uuid`
}

/** The live sessions of a user, the newest first. */
export async function listSessionsPage(
  tx: Tx,
  user_id: string | null,
  page: PageRequest,
): Promise<Omit<Session, 'current'>[]> {
  const after = page.after === undefined ? sql`` : sql` and id < ${page.after[0]}::uuid`
  return tx.read(sql<Omit<Session, 'current'>>`select id, cookie_hash is not null as browser,
      family_hash is not null as program, amr, auth_time, source_ip, user_agent, created_at, last_used_at, ends_at,
      idle_seconds
    from user_session
    where tenant_id = ${tx.tenant_id} and user_id = ${user_id} and live_until > clock_timestamp()${after}
    order by id desc limit ${page.limit + 1}`)
}

/** A session that was ended, and its provider. */
export type EndedSession = { provider: string | null }

/** Ends one session of the acting user and emits the event; undefined when there is no such session. */
export async function endSession(
  ctx: WorkCtx,
  id: string,
  cause: 'signed_out' | 'ended' | 'provider',
): Promise<EndedSession | undefined> {
  const { tx, actor } = ctx
  const event = signedOut(actor.user_id, { sid: id, cause })
  const [[ended]] = await tx.write([
    sql<EndedSession>`with ended as (
        delete from user_session where tenant_id = ${tx.tenant_id} and user_id = ${actor.user_id} and id = ${id}
          and live_until > clock_timestamp()
        returning provider),
      emitted as (${emit(ctx, event, sql`ended`)})
      select provider from ended`,
  ])
  return ended
}

/** Ends all sessions of the acting user but one, and emits one event if there were any. Returns their number. */
export async function endOtherSessions(ctx: WorkCtx, kept: string | null): Promise<number> {
  const { tx, actor } = ctx
  const event = signedOut(actor.user_id, { cause: 'ended_others', kept })
  const [rows] = await tx.write([
    sql<{ id: string }>`with ended as (
        delete from user_session where tenant_id = ${tx.tenant_id} and user_id = ${actor.user_id}
          and id is distinct from ${kept}::uuid and live_until > clock_timestamp()
        returning id),
      emitted as (${emit(ctx, event, sql`ended`)})
      select id from ended`,
  ])
  return rows.length
}

/**
 * Ends some of the tenant's sessions that began before the moment, an ISO time, and all sign-ins that wait for a second factor; emits
 * one event if there were sessions. Returns their number; 0 when none is left.
 */
export async function endTenantSessions(ctx: WorkCtx, begunBefore: string): Promise<number> {
  const { tx } = ctx
  const data = { cause: 'token_key_replaced' }
  const event = { type: 'auth.signed_out', subject_type: 'tenant', subject_id: tx.tenant_id, data } as const
  const [rows] = await tx.write([
    sql<{ id: string }>`with ended as (
        delete from user_session where tenant_id = ${tx.tenant_id}
          and id in (select id from user_session where tenant_id = ${tx.tenant_id}
            and created_at < ${begunBefore}::timestamptz limit 10000)
        returning id),
      emitted as (${emit(ctx, event, sql`ended`)})
      select id from ended`,
    sql`delete from sign_in_challenge where tenant_id = ${tx.tenant_id}`,
  ])
  return rows.length
}

/** What the use of a session sets: it lives on for as long as it may go unused, and never past its end. */
export const used = sql`last_used_at = clock_timestamp(),
  live_until = least(ends_at, clock_timestamp() + make_interval(secs => idle_seconds))`

/** Records the use of a session. A held one then lives on for as long as it may go unused; a token's ends when it ends. */
export async function touchSession(tx: Tx, id: string): Promise<void> {
  await tx.write([
    sql`update user_session set ${used}
      where tenant_id = ${tx.tenant_id} and id = ${id} and live_until > clock_timestamp()
        and last_used_at < clock_timestamp() - interval '1 minute'`,
  ])
}

function signedOut(user_id: string | null, data: Record<string, unknown>) {
  return { type: 'auth.signed_out', subject_type: 'user', subject_id: String(user_id), data } as const
}
