import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'

/**
 * Schedules the next run of a provider after these minutes. It never delays a run that is pending already. With 0 it removes the scheduled
 * run. `latest`: when it begins at the latest. Nothing is scheduled before a run that was no dry one has succeeded: nobody is made a user before a person has seen the directory read.
 */
export function scheduleNext(
  tx: Tx,
  identity_provider_id: string,
  minutes: number,
  latest: Statement = sql`'infinity'::timestamptz`,
): Statement[] {
  const its = sql`r.tenant_id = ${tx.tenant_id}::uuid and r.identity_provider_id = ${identity_provider_id}::uuid`
  if (minutes === 0) {
    return [sql`delete from sync_run r where ${its} and r.status = 'pending' and r.requested_by is null`]
  }
  return [
    sql`insert into sync_run (tenant_id, id, identity_provider_id, next_look_at)
      select i.tenant_id, ${newId()}::uuid, i.id,
        least(clock_timestamp() + make_interval(mins => ${minutes}), ${latest})
      from identity_provider i where i.tenant_id = ${tx.tenant_id}::uuid and i.id = ${identity_provider_id}::uuid
        and i.enabled and i.read_at is not null
      on conflict (tenant_id, identity_provider_id) where finished_at is null do update
        set next_look_at = least(sync_run.next_look_at, excluded.next_look_at)
        where sync_run.status = 'pending'`,
  ]
}
