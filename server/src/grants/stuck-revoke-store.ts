import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'
import { alarmAfterFailures, alarmAfterSeconds } from './entitlement.ts'

/** Access that is over and is still there: those of at most `mostLookedAt` entitlements are counted. */
export type StuckRevokes = { stuck: number; oldest_seconds: number }

const maxChecked = 10_000

/** Whatever is to be taken away is looked at again within this: the longest back-off, and some. */
const maxWaitSeconds = 120

/**
 * What could not be taken away, across tenants, for whoever watches; to be read as `sallyport_work`. Found by the work list
 * of entitlements: an index of such grants would be written twice at each end of a grant.
 */
export function stuckRevokes(): Statement<StuckRevokes> {
  return sql<StuckRevokes>`select count(*)::int as stuck,
      coalesce(extract(epoch from statement_timestamp() - min(ended_at)), 0)::float8 as oldest_seconds
    from (select g.ended_at
      from (select tenant_id, id, failures from entitlement
        where not gives and next_look_at <= statement_timestamp() + make_interval(secs => ${maxWaitSeconds})
        order by next_look_at limit ${maxChecked}) e
      join access_grant g on g.tenant_id = e.tenant_id and g.entitlement_id = e.id
      where g.provisioning_status in ('deprovisioning', 'deprovisioning_failed')
        and (e.failures >= ${alarmAfterFailures}
          or g.ended_at <= statement_timestamp() - make_interval(secs => ${alarmAfterSeconds}))) stuck`
}
