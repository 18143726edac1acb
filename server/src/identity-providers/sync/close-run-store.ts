import { sql } from '../../db/sql.ts'
import { emit, type NewEvent } from '../../events/emit.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import { scheduleNext } from '../sync-schedule-store.ts'
import { removalsKept } from './going-store.ts'
import { deleteAll, detailTables } from './run-lease-store.ts'
import { changesSomething, type Going, type SyncCounts } from './sync-run.ts'

/** How many finished runs of a provider are kept, and how many of these with what they did with each person. */
const maxRuns = 100
const maxDetailed = 10

/** How a run ends. `tooMany`: so many would go that a person has to confirm it; a dry run succeeds nevertheless. */
export type RunEnd = { counts: SyncCounts | null; tooMany?: Going } & (
  | { status: 'synced'; error: null }
  | { status: 'failed'; error: string }
)

/** Finishes a run, emits what it came to, and has the next one begin by the schedule. */
export async function closeRun(
  ctx: DirectoryCtx,
  item: WorkItem,
  end: RunEnd,
  { interval_minutes }: { interval_minutes: number },
): Promise<void> {
  const { tx, identity_provider_id } = ctx
  const { status, error, counts, tooMany } = end
  await tx.write([
    // The provider before the run, as its deletion locks them.
    sql`with before as materialized (
        select i.id, i.sync_error from identity_provider i where i.tenant_id = ${tx.tenant_id}::uuid and i.id = (
          select r.identity_provider_id from sync_run r
          where r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${item.id}::uuid)
        for no key update),
      r as (
        update sync_run r set status = ${status}, error = ${error}, counts = ${counts && JSON.stringify(counts)}::jsonb,
          needs_confirmation = ${tooMany !== undefined}::boolean, finished_at = clock_timestamp(), next_look_at = null,
          lease_until = null
        from before where r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${item.id}::uuid
          and r.identity_provider_id = before.id and r.generation = ${item.generation}::bigint
          and r.finished_at is null
        returning r.id, r.dry_run, before.id as provider_id, before.sync_error),
      i as (
        update identity_provider i set sync_status = ${status}, sync_error = ${error},
          last_synced_at = case when ${status} = 'synced' then clock_timestamp() else i.last_synced_at end,
          read_at = case when ${status} = 'synced' then clock_timestamp() else i.read_at end
        from r where i.tenant_id = ${tx.tenant_id}::uuid and i.id = r.provider_id and not r.dry_run returning i.id),
      failed_first as (select from r where not r.dry_run and r.sync_error is null),
      stopped_for_another_reason as (select from r where not r.dry_run and r.sync_error is distinct from ${error}),
      emitted as (${emitted(ctx, item, end)})
      select id from r`,
    ...(status === 'synced' ? [removalsKept(ctx, item), conflictsEnd(ctx, item)] : []),
    ...scheduleNext(tx, identity_provider_id, interval_minutes, scheduledFor(tx, item)),
  ])
}

/** Ends the conflicts about people who are no longer in the directory, disabled there, or made meanwhile. */
function conflictsEnd({ tx, identity_provider_id }: DirectoryCtx, item: WorkItem): Statement {
  return sql`delete from directory_conflict c using sync_run r
    where r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${item.id}::uuid and not r.dry_run
      and r.generation = ${item.generation}::bigint and r.finished_at is not null
      and c.tenant_id = ${tx.tenant_id}::uuid and c.identity_provider_id = ${identity_provider_id}::uuid
      and not exists (
        select from sync_person s where s.tenant_id = ${tx.tenant_id}::uuid and s.run_id = ${item.id}::uuid
          and s.source_id = c.resource ->> 'externalId' and s.active and s.change in ('settle', 'left_out')
          and (s.holder_id is null or s.holder_id = c.user_id) offset 0)`
}

/** When the schedule wanted the run whose place this one took, if it was a dry one. */
const scheduledFor = (tx: Tx, item: WorkItem): Statement =>
  sql`coalesce((select r.scheduled_for from sync_run r
    where r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${item.id}::uuid), 'infinity')`

/** The event of the end: of a failure only the first one until a run succeeds, of a success only where it changed something. */
function emitted(ctx: DirectoryCtx, item: WorkItem, end: RunEnd): Statement {
  const about = { subject_type: 'identity_provider', subject_id: ctx.identity_provider_id } as const
  const run_id = item.id
  if (end.status === 'synced') {
    if (end.counts === null || !changesSomething(end.counts)) return sql`select`
    const event: NewEvent = { type: 'identity_provider.synced', ...about, data: { run_id, counts: end.counts } }
    return emit(ctx, event, sql`i`)
  }
  if (end.tooMany !== undefined) {
    const { people, people_before, groups, groups_before } = end.tooMany
    const data = { removed: people, size: people_before, groups, groups_before, refused: true, run_id }
    return emit(ctx, { type: 'identity_provider.mass_removal', ...about, data }, sql`stopped_for_another_reason`)
  }
  const data = { run_id, error: end.error }
  return emit(ctx, { type: 'identity_provider.sync_failed', ...about, data }, sql`failed_first`)
}

/** Rows that one statement changes. */
const maxForgotten = 5_000

/**
 * Deletes what a finished run no longer needs: those with whom it did nothing, what the directory said of the others, and older runs. What an
 * interruption leaves goes with the run.
 */
export async function forget({ tx, identity_provider_id }: DirectoryCtx, item: WorkItem): Promise<void> {
  const ofRun = sql`s.tenant_id = ${tx.tenant_id}::uuid and s.run_id = ${item.id}::uuid
    and exists (select from sync_run r
      where r.tenant_id = s.tenant_id and r.id = s.run_id and r.finished_at is not null)`
  await deleteAll(tx, sql`sync_member`, ofRun)
  for (const rows of [sql`sync_person`, sql`sync_group`])
    await deleteAll(tx, rows, sql`${ofRun} and s.change = 'unchanged'`)
  let changed: readonly unknown[]
  do {
    ;[changed] = await tx.write([
      sql`update sync_person set resource = null, email_keys = null
        where tenant_id = ${tx.tenant_id}::uuid and ctid = any(array(
          select s.ctid from sync_person s where ${ofRun} and s.resource is not null limit ${maxForgotten}))
        returning 1`,
    ])
  } while (changed.length === maxForgotten)
  const older = (than: number) => sql`(select r.id from sync_run r where r.tenant_id = ${tx.tenant_id}::uuid
    and r.identity_provider_id = ${identity_provider_id}::uuid and r.finished_at is not null
    order by r.finished_at desc offset ${than})`
  // What a person may still confirm is kept as long as the run.
  const ofOlder = sql`s.tenant_id = ${tx.tenant_id}::uuid and s.run_id = any(array${older(maxDetailed)})
    and not exists (select from sync_run r
      where r.tenant_id = s.tenant_id and r.id = s.run_id and r.needs_confirmation)`
  for (const rows of detailTables) await deleteAll(tx, rows, ofOlder)
  await tx.write([
    sql`delete from sync_run r where r.tenant_id = ${tx.tenant_id}::uuid and r.id = any(array${older(maxRuns)})`,
  ])
}
