import { sql } from '../db/sql.ts'
import { emit, emitEach } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { settingSeconds } from '../settings/setting-store.ts'
import { type Reminded, type RequestStatus, remindLimit } from './request.ts'

/** An approver who has not decided after this many reminders is not going to because of one more. */
export const maxReminders = 3

/** The least time between the first reminder and the second: only the first may come soon. */
const secondReminderAfterSeconds = 3600

/**
 * The insert that schedules reminders for a request's approvers, the first after `seconds`; part of the statement that stores the
 * request. `about` names a common table expression with the request's `id`, `status`, and `next_look_at`, its deadline.
 */
export function insertReminder(tx: Tx, seconds: number, about: Statement): Statement {
  return sql`insert into reminder (tenant_id, id, next_look_at)
    select ${tx.tenant_id}::uuid, id, first.at
    from ${about}, (select clock_timestamp() + make_interval(secs => ${seconds}) as at) first
    where status = 'pending' and ${seconds}::integer > 0 and first.at < next_look_at`
}

/**
 * Emits that a request still waits, and schedules the next run: the second reminder at least `secondReminderAfterSeconds` after the
 * first, the third after twice as long; after the last, at the request's deadline. Where the request no longer waits, it emits nothing
 * and deletes the reminder. One guarded statement, for the worker that holds the lease. A decision at the same moment comes either
 * before the statement, which then emits nothing, or after it.
 */
export async function remindOfRequest(ctx: WorkCtx, { id, generation }: WorkItem): Promise<void> {
  const { tx } = ctx
  const ours = sql`r.tenant_id = ${tx.tenant_id} and r.id = ${id} and r.generation = ${generation}::bigint
    and r.lease_until is not null`
  const event = {
    type: 'request.reminded',
    subject_type: 'request',
    facts: sql`jsonb_build_object('nth', nth)`,
  } as const
  await tx.write([
    sql`with waiting as (
        select next_look_at as ends_at from access_request
        where tenant_id = ${tx.tenant_id} and id = ${id} and status = 'pending' and next_look_at > clock_timestamp()
        for share),
      rhythm as (select ${settingSeconds(tx, 'notifications.reminder_seconds')} as seconds),
      looked as (
        update reminder r set lease_until = null, sent = case when seconds > 0 then r.sent + 1 else r.sent end,
          next_look_at = case when seconds > 0 and r.sent + 1 < ${maxReminders}
            then least(ends_at, clock_timestamp() + make_interval(secs =>
              greatest(2 * seconds, ${secondReminderAfterSeconds}::integer) * power(2, r.sent)))
            else ends_at end
        from waiting, rhythm where ${ours}
        returning r.id, r.id as request_id, r.sent as nth, seconds),
      emitted as (${emitEach(ctx, event, sql`(select * from looked where seconds > 0) reminded`)})
      delete from reminder r where ${ours} and not exists (select from waiting)`,
  ])
}

/** The reminder that the requester sent, or why it was not sent. `too_early`: the seconds until the next one may be sent. */
export type SentReminder =
  | { sent: Reminded }
  | { too_early: number }
  | { not_pending: { status: RequestStatus; decided_by: string | null } }

type WaitRow = { status: RequestStatus; decided_by: string | null; waits: boolean; seconds_left: number }

/**
 * Emits that the requester of a pending request reminds those who may decide it, at most once in the time of `remindLimit` by the
 * clock of the database. One guarded statement: of two reminders at the same moment, the second waits for the first and is too
 * early. A decision at the same moment comes either before the statement, which then emits nothing, or after it. The reminders
 * that come by themselves are not changed.
 */
export async function sendReminder(ctx: WorkCtx, id: string): Promise<SentReminder> {
  const { tx } = ctx
  const which = sql`tenant_id = ${tx.tenant_id} and id = ${id}`
  const waits = sql`status = 'pending' and next_look_at > clock_timestamp()`
  const next = sql`reminded_at + make_interval(secs => ${remindLimit.seconds})`
  const event = { type: 'request.reminded', subject_type: 'request', subject_id: id } as const
  const [[sent], [now]] = await tx.write([
    sql<Reminded>`with reminded as (
        update access_request set reminded_at = clock_timestamp()
        where ${which} and ${waits} and (reminded_at is null or ${next} <= clock_timestamp())
        returning reminded_at, ${next} as next_at),
      emitted as (${emit(ctx, event, sql`reminded`)})
      select reminded_at, next_at from reminded`,
    sql<WaitRow>`select status, decided_by, ${waits} as waits,
        coalesce(extract(epoch from ${next} - clock_timestamp()), 0)::float8 as seconds_left
      from access_request where ${which}`,
  ])
  if (sent !== undefined) return { sent }
  if (now === undefined) throw new Error('a request that was read is gone')
  const { status, decided_by, waits: isWaiting, seconds_left } = now
  if (isWaiting) return { too_early: seconds_left }
  return { not_pending: { status, decided_by } }
}
