import { idInOrder, sql } from '../db/sql.ts'
import type { Actor, Statement, WorkCtx } from '../kernel/context.ts'
import type { Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import type { EventType } from './catalogue.ts'

/**
 * A new event about a subject. `data` holds ids and plain facts, never secrets, and no names but the address in `user.linked`,
 * those in the texts of rules, and the descriptions of actions.
 */
export type NewEvent = {
  type: EventType
  subject_type: string
  subject_id: string
  data?: Record<string, unknown>
  /** The actor, if it is not the caller: a rule that approves acts as the service, not as the requester. */
  by?: Actor
}

/**
 * The insert of one event, or of several in their order, for use in the transaction of the change that it records. With
 * `whenRow`, the name of a common table expression, the events are written only if it has a row: a guarded change that changed
 * nothing emits nothing.
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
 * One event for each row of a common table expression, which has the subject's `id` and its `request_id`. For changes of rows
 * that the code has not read; the database creates the event ids. `facts`: more data, by row. `worker`: the worker of each row,
 * if there are several.
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
  const data = sql`jsonb_build_object('request_id', request_id) || ${JSON.stringify(event.data ?? {})}::jsonb
        || ${event.facts ?? sql`'{}'::jsonb`}`
  const worker = event.worker ?? sql`${ctx.request_id}::text`
  return eventPerRow(ctx, event, { subject_id: sql`id::text`, data, worker }, rows)
}

/**
 * One event for each row of a common table expression, with the row's `facts` as more data. For facts that the statement itself finds,
 * such as what a row held before its change. Without a `subject_id`, each is about the `id` of its row. `by`: the user who acts, a column of
 * the row, if it is not the caller.
 */
export function emitWithFacts(
  ctx: WorkCtx,
  event: Omit<NewEvent, 'subject_id' | 'by'> & { subject_id?: string; by?: Statement },
  rows: Statement,
): Statement {
  const subject_id = event.subject_id === undefined ? sql`id::text` : sql`${event.subject_id}::text`
  const data = sql`${JSON.stringify(event.data ?? {})}::jsonb || facts`
  return eventPerRow(ctx, event, { subject_id, data, worker: sql`${ctx.request_id}::text` }, rows)
}

/** One event for each row. What is of the row is an expression: a value, or columns of the row. */
function eventPerRow(
  { tx, actor }: WorkCtx,
  { type, subject_type, by }: Pick<NewEvent, 'type' | 'subject_type'> & { by?: Statement },
  { subject_id, data, worker }: { subject_id: Statement; data: Statement; worker: Statement },
  rows: Statement,
): Statement {
  const kind = by === undefined ? actor.kind : 'user'
  return sql`insert into event
      (tenant_id, id, type, actor_kind, actor_id, api_key_id, subject_type, subject_id, data, request_id)
    select ${tx.tenant_id}::uuid, ${idInOrder}, ${type}::text, ${kind}::text,
      ${by ?? sql`${actor.user_id}`}::uuid, ${actor.api_key_id}::uuid, ${subject_type}::text, ${subject_id}, ${data},
      ${worker}
    from ${rows}`
}

/**
 * Refuses and records the refusal, although nothing else changes: it commits the event first, then throws. `beside`: what else is
 * recorded of the refusal, in the same transaction.
 */
export async function refuse(
  ctx: WorkCtx,
  problem: Problem,
  event: NewEvent,
  beside: readonly Statement[] = [],
): Promise<never> {
  await ctx.tx.write([...beside, emit(ctx, event)])
  problem.isRecorded = true
  throw problem
}
