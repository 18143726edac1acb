import { sql } from '../../db/sql.ts'
import { emit } from '../../events/emit.ts'
import type { Tx, WorkCtx } from '../../kernel/context.ts'
import type { PageRequest } from '../../kernel/page.ts'
import type { PersonChange, SyncChange, SyncRun, SyncRunDetail } from './sync-run.ts'

/** The columns of `r`, a row of sync_run. */
const runColumns = sql`r.id, r.identity_provider_id, r.status, r.dry_run, r.requested_by, r.confirms,
  jsonb_build_object(
    'phase', case when r.finished_at is null and r.started_at is not null then r.phase end,
    'people_read', r.people_read, 'groups_read', r.groups_read, 'done', r.done, 'total', r.total) as progress,
  r.counts, r.needs_confirmation, r.error, case when r.status = 'pending' then r.next_look_at end as due_at,
  r.created_at, r.started_at, r.finished_at`

/** What a person asks for. */
export type Request = { id: string; identity_provider_id: string; dry_run: boolean; confirms: string | null }

/**
 * Has a run begin now, and emits the event: a new one, or the next one by the schedule. Undefined where one is under way, or another person
 * has just asked for one.
 */
export async function requestRun(ctx: WorkCtx, request: Request): Promise<SyncRun | undefined> {
  const { tx, actor } = ctx
  const { id, identity_provider_id, dry_run, confirms } = request
  const about = { subject_type: 'identity_provider', subject_id: identity_provider_id } as const
  const event = { type: 'identity_provider.sync_requested', ...about, data: { dry_run, confirms } } as const
  const [[run]] = await tx.write([
    sql<SyncRun>`with r as (
        insert into sync_run (tenant_id, id, identity_provider_id, dry_run, requested_by, confirms, next_look_at)
        values (${tx.tenant_id}::uuid, ${id}::uuid, ${identity_provider_id}::uuid, ${dry_run}::boolean,
          ${actor.user_id}::uuid, ${confirms}::uuid, clock_timestamp())
        on conflict (tenant_id, identity_provider_id) where finished_at is null do update set
          dry_run = excluded.dry_run, requested_by = excluded.requested_by, confirms = excluded.confirms,
          next_look_at = excluded.next_look_at
        where sync_run.status = 'pending' and sync_run.requested_by is null
        returning *),
      emitted as (${emit(ctx, event, sql`r`)})
      select ${runColumns} from r`,
  ])
  return run
}

/** The run of a provider that is not finished. */
export async function findUnfinishedRun(tx: Tx, identity_provider_id: string): Promise<SyncRun | undefined> {
  const [run] = await tx.read(sql<SyncRun>`select ${runColumns} from sync_run r where r.tenant_id = ${tx.tenant_id}
    and r.identity_provider_id = ${identity_provider_id} and r.finished_at is null`)
  return run
}

/** A run with how fast access went: counted anew at each call, by the users whom it deactivated. */
export async function findRun(tx: Tx, identity_provider_id: string, id: string): Promise<SyncRunDetail | undefined> {
  const ended = sql`select g.ended_at, g.step_since, g.provisioning_status from access_grant g
    where g.tenant_id = ${tx.tenant_id}::uuid
      and g.ended_at between r.started_at and coalesce(r.finished_at, 'infinity')
      and g.user_id in (select s.user_id from sync_person s where s.tenant_id = ${tx.tenant_id}::uuid
        and s.run_id = r.id and s.change in ('disable', 'absent') and s.done)`
  const isGone = sql`e.provisioning_status in ('not_attempted', 'deprovisioned')`
  const [run] = await tx.read(sql<SyncRunDetail>`select ${runColumns}, (
      select jsonb_build_object('grants', count(*), 'gone', count(*) filter (where ${isGone}), 'slowest_seconds',
        extract(epoch from max(e.step_since - e.ended_at) filter (where e.provisioning_status = 'deprovisioned')))
      from (${ended}) e) as access
    from sync_run r where r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${id}::uuid
      and r.identity_provider_id = ${identity_provider_id}::uuid`)
  return run
}

/** One page of the runs of a provider, the newest first. */
export function listRunsPage(tx: Tx, identity_provider_id: string, page: PageRequest): Promise<SyncRun[]> {
  const before = page.after === undefined ? sql`` : sql` and r.id < ${page.after[0]}::uuid`
  return tx.read(sql<SyncRun>`select ${runColumns} from sync_run r
    where r.tenant_id = ${tx.tenant_id} and r.identity_provider_id = ${identity_provider_id}${before}
    order by r.id desc limit ${page.limit + 1}`)
}

/** One page of what a run did, or would do, with people, in the order of their ids in the directory. */
export function listChangesPage(
  tx: Tx,
  { id, run_id, change }: { id: string; run_id: string; change?: PersonChange },
  page: PageRequest,
): Promise<SyncChange[]> {
  const after = page.after === undefined ? sql`` : sql` and s.source_id > ${page.after[0]}`
  const kind = change === undefined ? sql`and s.change <> 'unchanged'` : sql`and s.change = ${change}`
  return tx.read(sql<SyncChange>`select s.source_id, s.user_name, s.name, s.email, s.user_id, s.change, s.message,
      s.done
    from sync_run r join sync_person s on s.tenant_id = r.tenant_id and s.run_id = r.id
    where r.tenant_id = ${tx.tenant_id} and r.id = ${run_id} and r.identity_provider_id = ${id} ${kind}${after}
    order by s.source_id limit ${page.limit + 1}`)
}

/** Whether a run was stopped because too many would go, and it is still known who. */
export async function isConfirmable(tx: Tx, identity_provider_id: string, run_id: string): Promise<boolean> {
  const found = await tx.read(sql`select from sync_run r where r.tenant_id = ${tx.tenant_id} and r.id = ${run_id}
    and r.identity_provider_id = ${identity_provider_id} and r.needs_confirmation and (
      exists (select from sync_person s where s.tenant_id = r.tenant_id and s.run_id = r.id)
      or exists (select from sync_group s where s.tenant_id = r.tenant_id and s.run_id = r.id))`)
  return found.length > 0
}
