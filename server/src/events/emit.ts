import { sql } from '../db/sql.ts'
import type { Actor, Statement, WorkCtx } from '../kernel/context.ts'
import type { Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import type { EventType } from './catalogue.ts'

/** What happened to what. `data` holds ids and plain facts, never names and never secrets. */
export type NewEvent = {
  type: EventType
  subject_type: string
  subject_id: string
  data?: Record<string, unknown>
  /** Who did it, where that is not who called: a rule that approves is the service, not the requester. */
  by?: Actor
}

/**
 * The insert of an event, or of several in their order, to stand in the transaction of the change that it tells of. With
 * `whenRow`, the name of a common table expression, they are written only if that has a row: a guarded change that changed
 * nothing tells nothing.
 */
export function emit(ctx: WorkCtx, events: NewEvent | readonly NewEvent[], whenRow?: Statement): Statement {
  const guard = whenRow === undefined ? sql`` : sql` where exists (select from ${whenRow})`
  const rows = [events].flat().map((event) => eventRow(event, event.by ?? ctx.actor))
  return sql`insert into event
      (tenant_id, id, type, actor_kind, actor_id, api_key_id, subject_type, subject_id, data, request_id)
    select ${ctx.tx.tenant_id}::uuid, e.*, ${ctx.request_id}::text
    from (values ${rows.reduce((all, next) => sql`${all}, ${next}`)}) as e${guard}`
}

function eventRow({ type, subject_type, subject_id, data }: NewEvent, by: Actor): Statement {
  return sql`(${newId()}::uuid, ${type}::text, ${by.kind}::text, ${by.user_id}::uuid, ${by.api_key_id}::uuid,
    ${subject_type}::text, ${subject_id}::text, ${JSON.stringify(data ?? {})}::jsonb)`
}

/**
 * One event for each row of a common table expression, which has `id` and `request_id` of what it happened to. For
 * changes of rows that no code has seen; their ids are the database's own. `facts`: more of the data, by row. `worker`: who
 * did it, by row, where several did.
 */
export function emitEach(
  ctx: WorkCtx,
  event: {
    type: EventType
    subject_type: string
    data?: Record<string, unknown>
    facts?: Statement
    worker?: Statement
  },
  rows: Statement,
): Statement {
  const { actor } = ctx
  return sql`insert into event
      (tenant_id, id, type, actor_kind, actor_id, api_key_id, subject_type, subject_id, data, request_id)
    select ${ctx.tx.tenant_id}::uuid, gen_random_uuid(), ${event.type}::text, ${actor.kind}::text,
      ${actor.user_id}::uuid, ${actor.api_key_id}::uuid, ${event.subject_type}::text, id::text,
      jsonb_build_object('request_id', request_id) || ${JSON.stringify(event.data ?? {})}::jsonb
        || ${event.facts ?? sql`'{}'::jsonb`},
      ${event.worker ?? sql`${ctx.request_id}::text`}
    from ${rows}`
}

/** Refuses, and leaves the entry although nothing else happens: the event is committed first, then the caller is told. */
export async function refuse(ctx: WorkCtx, problem: Problem, event: NewEvent): Promise<never> {
  await ctx.tx.write([emit(ctx, event)])
  throw problem
}
