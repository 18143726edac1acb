import { sql } from '../../db/sql.ts'
import { emit } from '../../events/emit.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../../kernel/context.ts'
import type { Draft } from '../../policies/drafts/draft.ts'
import type { Span } from '../../requests/policy-question.ts'
import type { Replay, ReplayResult } from './replay.ts'

const replayColumns = sql`id, status, days, asked, total, created_by, created_at, started_at, finished_at, error,
  result`

/** How many finished replays a tenant keeps, and for how long. */
const maxKept = 20
const keptDays = 7

export type NewReplay = { id: string; draft: Draft; days: number }

/**
 * Inserts a replay and emits the event; the oldest finished replays are deleted. Undefined where the tenant has one in progress, or
 * another one starts at the same moment.
 */
export async function insertReplay(ctx: WorkCtx, { id, draft, days }: NewReplay): Promise<Replay | undefined> {
  const { tx } = ctx
  const changed = sql`changed`
  const event = { type: 'policy.replayed', subject_type: 'policy_replay', subject_id: id, data: { days } } as const
  const [[replay]] = await tx.write([
    sql<Replay>`with changed as (
        insert into policy_replay (tenant_id, id, created_by, draft, days, next_look_at)
        values (${tx.tenant_id}, ${id}, ${ctx.actor.user_id}, ${JSON.stringify(draft)}::jsonb, ${days},
          clock_timestamp())
        on conflict (tenant_id) where finished_at is null do nothing
        returning *),
      trimmed as (
        delete from policy_replay r where r.tenant_id = ${tx.tenant_id} and exists (select from changed)
          and r.id in (select o.id from policy_replay o where o.tenant_id = ${tx.tenant_id}
            and o.finished_at is not null
            order by o.id desc offset ${maxKept - 1})),
      emitted as (${emit(ctx, event, changed)})
      select ${replayColumns} from changed`,
  ])
  return replay
}

export async function findReplay(tx: Tx, id: string): Promise<Replay | undefined> {
  const [found] = await tx.read(
    sql<Replay>`select ${replayColumns} from policy_replay where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return found
}

/** The id of the tenant's replay in progress. */
export async function findReplayUnderWay(tx: Tx): Promise<string | undefined> {
  const [found] = await tx.read(
    sql<{ id: string }>`select id from policy_replay where tenant_id = ${tx.tenant_id} and finished_at is null`,
  )
  return found?.id
}

/** INVARIANT: it is in the `where` of each write of a run. A run that lost or released its lease writes nothing. */
function stillRuns(tx: Tx, item: WorkItem): Statement {
  return sql`tenant_id = ${tx.tenant_id} and id = ${item.id} and generation = ${item.generation}::bigint
    and lease_until is not null`
}

/** A replay at the start of its run. */
export type OpenReplay = { draft: Draft; created_by: string | null; attempts: number; span: Span }

/** Begins the first run or another one. Undefined where the replay is finished, or the lease is lost. */
export async function openReplay(tx: Tx, item: WorkItem): Promise<OpenReplay | undefined> {
  type Row = Omit<OpenReplay, 'span'> & { since: string; until: string }
  const [[row]] = await tx.write([
    sql<Row>`update policy_replay set status = 'running', attempts = attempts + 1, asked = 0, total = null,
        started_at = coalesce(started_at, clock_timestamp())
      where ${stillRuns(tx, item)} and finished_at is null
      returning draft, created_by, attempts, created_at - make_interval(days => days) as since, created_at as until`,
  ])
  if (row === undefined) return undefined
  const { since, until, ...replay } = row
  return { ...replay, span: { since: new Date(since), until: new Date(until) } }
}

/** Saves the progress of the run. False where the lease is lost. */
export async function saveProgress(tx: Tx, item: WorkItem, asked: number, total: number): Promise<boolean> {
  const [rows] = await tx.write([
    sql`update policy_replay set asked = ${asked}, total = ${total} where ${stillRuns(tx, item)} returning id`,
  ])
  return rows.length > 0
}

type End = { status: 'done'; result: ReplayResult } | { status: 'failed'; error: Replay['error'] }

/** Finishes the replay; it is kept for some days. */
export async function endReplay(tx: Tx, item: WorkItem, end: End): Promise<void> {
  const result = end.status === 'done' ? JSON.stringify(end.result) : null
  const asked = end.status === 'done' ? end.result.counts.questions : null
  const error = end.status === 'failed' ? JSON.stringify(end.error) : null
  await tx.write([
    sql`update policy_replay set status = ${end.status}, result = ${result}::jsonb, error = ${error}::jsonb,
        asked = coalesce(${asked}, asked), total = coalesce(${asked}, total), finished_at = clock_timestamp(),
        lease_until = null, next_look_at = clock_timestamp() + make_interval(days => ${keptDays})
      where ${stillRuns(tx, item)}`,
  ])
}

/** Removes a replay that was kept long enough. */
export async function removeReplay(tx: Tx, item: WorkItem): Promise<void> {
  await tx.write([sql`delete from policy_replay where ${stillRuns(tx, item)} and finished_at is not null`])
}
