import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'
import { alarmAfterFailures } from './entitlement.ts'

/** Access that is over and is still there: at most `mostCounted` grants are counted. */
export type StuckRevokes = { stuck: number; oldest_seconds: number }

const mostCounted = 10_000
const longestRevokeSeconds = 300

/** What could not be taken away, across tenants, for whoever watches; to be read as `sallyport_work`. */
export function stuckRevokes(): Statement<StuckRevokes> {
  return sql<StuckRevokes>`select count(*)::int as stuck,
      coalesce(extract(epoch from statement_timestamp() - min(ended_at)), 0)::float8 as oldest_seconds
    from (select g.ended_at from access_grant g
      left join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
      where g.provisioning_status in ('deprovisioning', 'deprovisioning_failed')
        and (e.failures >= ${alarmAfterFailures}
          or g.ended_at <= statement_timestamp() - make_interval(secs => ${longestRevokeSeconds}))
      order by g.ended_at limit ${mostCounted}) stuck`
}
