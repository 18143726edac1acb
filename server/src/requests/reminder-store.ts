import { sql } from '../db/sql.ts'
import { emitEach } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { settingSeconds } from '../settings/setting-store.ts'

/** Whoever has not decided after so many is not going to because of one more. */
export const maxReminders = 6

/**
 * The insert that has the approvers of a request reminded, the first time after so many seconds, to stand in the
 * statement that keeps it. `about` names a common table expression with its `id`, `status`, and `next_look_at`, its end.
 */
export function insertReminder(tx: Tx, seconds: number, about: Statement): Statement {
  return sql`insert into reminder (tenant_id, id, next_look_at)
    select ${tx.tenant_id}::uuid, id, first.at
    from ${about}, (select clock_timestamp() + make_interval(secs => ${seconds}) as at) first
    where status = 'pending' and ${seconds}::integer > 0 and first.at < next_look_at`
}

/**
 * Tells that a request still waits, and when to look again: after twice as long each time, and at its end. Where it does
 * not wait any more nothing is told, and nothing is looked for again. One guarded statement, for whoever holds the lease:
 * whoever decides at the same moment comes before it, and then nothing is told, or after it.
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
            then least(ends_at, clock_timestamp() + make_interval(secs => seconds * power(2, r.sent + 1)))
            else ends_at end
        from waiting, rhythm where ${ours}
        returning r.id, r.id as request_id, r.sent as nth, seconds),
      told as (${emitEach(ctx, event, sql`(select * from looked where seconds > 0) reminded`)})
      delete from reminder r where ${ours} and not exists (select from waiting)`,
  ])
}
