import { isExactly } from '../../db/list-page.ts'
import { inIndexOrder, sql } from '../../db/sql.ts'
import { emit } from '../../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../../kernel/context.ts'
import type { PageRequest } from '../../kernel/page.ts'
import { allChanges, type SyncChange, type SyncRun, type SyncRunDetail } from './sync-run.ts'

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
          next_look_at = excluded.next_look_at,
          scheduled_for = case when excluded.dry_run then sync_run.next_look_at end
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

/** A run with how fast access ended: counted at each call, by the users whom it deactivated. */
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

/** What a list of changes is filtered by. */
export type ChangeFilters = {
  kind?: SyncChange['kind']
  change?: SyncChange['change']
  outcome?: SyncChange['outcome']
}

/** One page of what a run did, or would do: groups, and then users, in the order of their ids in the directory. */
export function listChangesPage(
  tx: Tx,
  { id, run_id }: { id: string; run_id: string },
  filters: ChangeFilters,
  page: PageRequest,
): Promise<SyncChange[]> {
  const asked = filters.change === undefined ? allChanges : [filters.change]
  // Of each change as many as the page needs: nearly all people of a run are unchanged.
  const branch = (kind: SyncChange['kind'], columns: Statement, rows: Statement) =>
    sql`(select ${columns}, s.change, ${outcome} as outcome, s.message
      from sync_run r cross join unnest(${asked}::text[]) as asked (change) cross join lateral (
        select * from ${rows} s where s.tenant_id = r.tenant_id and s.run_id = r.id
          and ${isExactly(sql`s.change`, sql`asked.change`)} and ${isAfter(kind, page)} and ${passes(kind, filters)}
        order by s.source_id limit ${page.limit + 1}) s
      where r.tenant_id = ${tx.tenant_id} and r.id = ${run_id} and r.identity_provider_id = ${id}
      order by s.source_id limit ${page.limit + 1})`
  const group = sql`'group' as kind, s.source_id, null::text as user_name, s.name, null::text as email,
    s.group_id as id`
  const user = sql`'user' as kind, s.source_id, s.user_name, s.name, s.email, s.user_id as id`
  return tx.read(
    inIndexOrder(sql<SyncChange>`select * from (${branch('group', group, sql`sync_group`)}
      union all ${branch('user', user, sql`sync_person`)}) c
    order by c.kind, c.source_id limit ${page.limit + 1}`),
  )
}

/** Of `s`, a row of a person or a group. */
const outcome = sql`case when s.message is not null then 'refused' when s.change = 'left_out' then 'none'
  when s.done then 'done' else 'planned' end`

function isAfter(kind: SyncChange['kind'], { after }: PageRequest): Statement {
  const [last, source_id] = after ?? []
  if (last === undefined || (last === 'group' && kind === 'user')) return sql`true`
  return last === kind ? sql`s.source_id > ${source_id}` : sql`false`
}

function passes(kind: SyncChange['kind'], filters: ChangeFilters): Statement {
  const isKind = filters.kind === undefined || filters.kind === kind
  const asked = filters.outcome ?? null
  return sql`${isKind}::boolean and (${asked}::text is null or ${outcome} = ${asked})`
}

/** Whether the provider has the run. */
export async function hasRun(tx: Tx, identity_provider_id: string, id: string): Promise<boolean> {
  const found = await tx.read(sql`select from sync_run r where r.tenant_id = ${tx.tenant_id} and r.id = ${id}
    and r.identity_provider_id = ${identity_provider_id}`)
  return found.length > 0
}

/** Whether a run was stopped because too many would go, and it is still known who. */
export async function isConfirmable(tx: Tx, identity_provider_id: string, run_id: string): Promise<boolean> {
  const found = await tx.read(sql`select from sync_run r where r.tenant_id = ${tx.tenant_id} and r.id = ${run_id}
    and r.identity_provider_id = ${identity_provider_id} and r.needs_confirmation
    -- What was read since says otherwise, or a person has confirmed it already.
    and not exists (select from sync_run o where o.tenant_id = r.tenant_id
      and o.identity_provider_id = r.identity_provider_id and o.status = 'synced' and not o.dry_run
      and o.finished_at > r.finished_at)
    and (
      exists (select from sync_person s where s.tenant_id = r.tenant_id and s.run_id = r.id)
      or exists (select from sync_group s where s.tenant_id = r.tenant_id and s.run_id = r.id))`)
  return found.length > 0
}
