import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'
import type { WorkTable } from './claim.ts'

/** The due rows of one work list, counted up to `maxCounted`. */
export type DueLoad = { list: WorkTable; due: number; oldest_seconds: number }

const maxCounted = 10_000

const queuesByType = [
  sql`delivery_lane where channel_type = 'email'`,
  sql`delivery_lane where channel_type = 'webhook'`,
]

/** The due rows across tenants, for monitoring; read it as `sallyport_work`. A row in flight is due until it is done. */
export function dueLoad(): Statement<DueLoad> {
  return sql<DueLoad>`${of('access_request', [sql`access_request where true`])}
    union all ${of('access_grant', [sql`access_grant where true`])}
    union all ${of('entitlement', [sql`entitlement where gives`, sql`entitlement where not gives`])}
    union all ${of('sweep', [sql`sweep where true`])}
    union all ${of('policy_replay', [sql`policy_replay where true`])}
    union all ${of('reminder', [sql`reminder where true`])}
    union all ${of('delivery_lane', queuesByType)}
    union all ${of('event_queue', [sql`event_queue where true`])}
    union all ${of('claimed_groups', [sql`claimed_groups where true`])}`
}

/** Compares with the one moment at which the statement began. An index of each part limits the scan to due rows. */
function of(list: WorkTable, parts: readonly Statement[]): Statement {
  const due = parts
    .map(
      (part) => sql`(select next_look_at from ${part} and next_look_at <= statement_timestamp()
      order by next_look_at limit ${maxCounted})`,
    )
    .reduce((all, next) => sql`${all} union all ${next}`)
  return sql`select ${list}::text as list, least(count(*), ${maxCounted})::int as due,
      coalesce(extract(epoch from statement_timestamp() - min(next_look_at))::float8, 0) as oldest_seconds
    from (${due}) counted`
}
