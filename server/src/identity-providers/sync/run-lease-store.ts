/** The run that a worker has in its hands: what it is about, whether it is still ours, and how it ends. */
import { sql } from '../../db/sql.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import type { KeptConfig } from '../../secrets/sealed-config.ts'
import type { ProviderType } from '../provider-config.ts'

/** A run when a worker takes it up. */
export type OpenRun = KeptConfig & {
  identity_provider_id: string
  provider_type: ProviderType
  enabled: boolean
  /** The operator suspended the tenant. */
  suspended: boolean
  /** Who last said where the directory is read. */
  configured_by: string | null
  requested_by: string | null
  dry_run: boolean
  confirms: string | null
  phase: 'reading' | 'people' | 'groups'
  attempts: number
}

/** Whether the directory of the provider `i` may be read. */
const maySync = sql`(i.enabled and exists (
  select from tenant t where t.id = i.tenant_id and t.suspended_at is null))`

function isOurs(tx: Tx, item: WorkItem): Statement {
  return sql`r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${item.id}::uuid
    and r.generation = ${item.generation}::bigint and r.lease_until is not null`
}

/**
 * The common table expression `held`: the run, as long as its lease is ours, its provider is switched on with the config by which it reads,
 * and its tenant is not suspended. Without a row, nothing may be written. The provider is locked before: its deletion has locked it too before
 * its runs go.
 */
export function held(tx: Tx, item: WorkItem): Statement {
  return sql`held as materialized (
    select r.id, r.identity_provider_id from (
        select i.id, i.config_version from identity_provider i
        where i.tenant_id = ${tx.tenant_id}::uuid and ${maySync} and i.id = (
          select r.identity_provider_id from sync_run r
          where r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${item.id}::uuid)
        for key share) i
      join sync_run r on r.identity_provider_id = i.id and r.config_version = i.config_version
    where ${isOurs(tx, item)} for share of r)`
}

/** Whether the run is still ours to write. It takes no lock. */
export async function isHeld(tx: Tx, item: WorkItem): Promise<boolean> {
  const found = await tx.read(sql`select from sync_run r
    join identity_provider i on i.tenant_id = r.tenant_id and i.id = r.identity_provider_id
      and i.config_version = r.config_version and ${maySync}
    where ${isOurs(tx, item)}`)
  return found.length > 0
}

/** Takes up a run. What an interrupted one has read is dropped, what it has written stays. Undefined if the lease was lost. */
export async function openRun(tx: Tx, item: WorkItem): Promise<OpenRun | undefined> {
  // What was read by another config is not written.
  const reads = sql`(coalesce(r.phase, 'reading') = 'reading' or r.config_version is distinct from p.config_version)`
  const [[run]] = await tx.write([
    // The provider before the run, as its deletion locks them.
    sql<OpenRun>`with p as materialized (
        select i.* from identity_provider i where i.tenant_id = ${tx.tenant_id}::uuid and i.id = (
          select r.identity_provider_id from sync_run r
          where r.tenant_id = ${tx.tenant_id}::uuid and r.id = ${item.id}::uuid)
        for no key update),
      r as (
        update sync_run r set status = 'syncing', attempts = r.attempts + 1, config_version = p.config_version,
          dry_run = r.dry_run or (r.requested_by is null and p.config @> '{"dry_run": true}'),
          started_at = coalesce(r.started_at, clock_timestamp()),
          phase = case when ${reads} then 'reading' else r.phase end,
          people_read = case when ${reads} then 0 else r.people_read end,
          groups_read = case when ${reads} then 0 else r.groups_read end
        from p where ${isOurs(tx, item)} and r.identity_provider_id = p.id returning r.*),
      i as (
        update identity_provider i set sync_status = 'syncing' from r
        where i.tenant_id = r.tenant_id and i.id = r.identity_provider_id and not r.dry_run and ${maySync})
      select p.config, p.sealed_secrets, p.id as identity_provider_id, p.provider_type, p.enabled, p.configured_by,
        (select t.suspended_at is not null from tenant t where t.id = p.tenant_id) as suspended,
        r.requested_by, r.dry_run, r.confirms, r.phase, r.attempts
      from r join p on p.id = r.identity_provider_id`,
  ])
  return run
}

/** Rows that one statement deletes. */
const maxDeleted = 5_000

/** What a run keeps of what it read: members before their groups. */
export const detailTables = [sql`sync_member`, sql`sync_person`, sql`sync_group`]

/** Drops what a run that begins to read has read before. */
export async function dropRead(tx: Tx, item: WorkItem): Promise<void> {
  const of = sql`s.tenant_id = ${tx.tenant_id}::uuid and s.run_id = ${item.id}::uuid
    and exists (select from sync_run r where ${isOurs(tx, item)} and r.phase = 'reading')`
  for (const rows of detailTables) await deleteAll(tx, rows, of)
}

/** Deletes all rows `s` of a table for which the condition holds, some at a time. */
export async function deleteAll(tx: Tx, rows: Statement, which: Statement): Promise<void> {
  let deleted: readonly unknown[]
  do {
    ;[deleted] = await tx.write([
      sql`delete from ${rows} where tenant_id = ${tx.tenant_id}::uuid and ctid = any(array(
        select s.ctid from ${rows} s where ${which} limit ${maxDeleted})) returning 1`,
    ])
  } while (deleted.length === maxDeleted)
}

/** The run is interrupted, and goes on after `seconds`. */
export async function putOffRun(
  tx: Tx,
  item: WorkItem,
  seconds: number,
  { failed }: { failed: boolean },
): Promise<void> {
  await tx.write([
    sql`update sync_run r set lease_until = null, next_look_at = clock_timestamp() + make_interval(secs => ${seconds}),
        attempts = r.attempts - case when ${failed} then 0 else 1 end
      where ${isOurs(tx, item)}`,
  ])
}

/** Removes a run by the schedule of a provider that is switched off: the schedule begins again when it is switched on. */
export async function dropRun(tx: Tx, item: WorkItem): Promise<void> {
  await tx.write([
    sql`update identity_provider i set sync_status = case when i.sync_error is not null then 'failed'
        when i.last_synced_at is not null then 'synced' else 'pending' end
      where i.tenant_id = ${tx.tenant_id}::uuid and i.sync_status = 'syncing' and i.id in (
        select r.identity_provider_id from sync_run r where ${isOurs(tx, item)})`,
    sql`delete from sync_run r where ${isOurs(tx, item)}`,
  ])
}

/** What has been compared is written from now on: so many changes. */
export async function beginWriting(tx: Tx, item: WorkItem, total: number): Promise<boolean> {
  const [rows] = await tx.write([
    sql`with ${held(tx, item)} update sync_run r set phase = 'people', total = ${total}, done = 0
      from held where r.tenant_id = ${tx.tenant_id}::uuid and r.id = held.id returning r.id`,
  ])
  return rows.length > 0
}

/** The people are written, and now the groups. */
export async function beginGroups(tx: Tx, item: WorkItem): Promise<boolean> {
  const [rows] = await tx.write([
    sql`with ${held(tx, item)} update sync_run r set phase = 'groups', total = r.done + (
        select count(*) from sync_group s where s.tenant_id = r.tenant_id and s.run_id = r.id and not s.done
          and s.change <> 'unchanged' and s.message is null)
      from held where r.tenant_id = ${tx.tenant_id}::uuid and r.id = held.id returning r.id`,
  ])
  return rows.length > 0
}
