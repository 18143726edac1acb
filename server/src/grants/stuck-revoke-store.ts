import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'
import { alarmAfterFailures, alarmAfterSeconds } from './entitlement.ts'

/** Ended access that is still at its target, counted over at most `maxChecked` entitlements. */
export type StuckRevokes = { stuck: number; oldest_seconds: number }

const maxChecked = 10_000

/** An entitlement to revoke is checked again within this time: the maximum backoff plus a margin. */
const maxWaitSeconds = 120

/** Those of one of the two lists: a revocation that is repeated may be awaited by a grant that wants the access again. */
const dueSoon = (which: Statement) => sql`(select tenant_id, id, failures from entitlement
    where ${which} and next_look_at <= statement_timestamp() + make_interval(secs => ${maxWaitSeconds})
    order by next_look_at limit ${maxChecked})`

/**
 * Access that could not be revoked, across tenants, for monitoring; read it as `sallyport_work`. It is found through the work
 * list of entitlements, because an index of such grants would be written twice at each end of a grant.
 */
export function stuckRevokes(): Statement<StuckRevokes> {
  return sql<StuckRevokes>`select count(*)::int as stuck,
      coalesce(extract(epoch from statement_timestamp() - min(ended_at)), 0)::float8 as oldest_seconds
    from (select g.ended_at
      from (${dueSoon(sql`not gives`)} union all ${dueSoon(sql`gives`)}) e
      join access_grant g on g.tenant_id = e.tenant_id and g.entitlement_id = e.id
      where g.provisioning_status in ('deprovisioning', 'deprovisioning_failed')
        and (e.failures >= ${alarmAfterFailures}
          or g.ended_at <= statement_timestamp() - make_interval(secs => ${alarmAfterSeconds}))) stuck`
}
