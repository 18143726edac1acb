import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'

/**
 * Has the next run of a provider begin after these minutes, or sooner if it was to; with 0, none by the schedule. Only where a run that
 * was no dry one has succeeded: nobody is made a user before a person has seen the directory read.
 */
export function scheduleNext(tx: Tx, identity_provider_id: string, minutes: number): Statement[] {
  const its = sql`r.tenant_id = ${tx.tenant_id}::uuid and r.identity_provider_id = ${identity_provider_id}::uuid`
  if (minutes === 0) {
    return [sql`delete from sync_run r where ${its} and r.status = 'pending' and r.requested_by is null`]
  }
  return [
    sql`insert into sync_run (tenant_id, id, identity_provider_id, next_look_at)
      select i.tenant_id, ${newId()}::uuid, i.id, clock_timestamp() + make_interval(mins => ${minutes})
      from identity_provider i where i.tenant_id = ${tx.tenant_id}::uuid and i.id = ${identity_provider_id}::uuid
        and i.enabled and exists (select from sync_run r where ${its} and r.status = 'synced' and not r.dry_run)
      on conflict (tenant_id, identity_provider_id) where finished_at is null do update
        set next_look_at = least(sync_run.next_look_at, excluded.next_look_at)
        where sync_run.status = 'pending'`,
  ]
}
