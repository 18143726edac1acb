import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'
import type { WorkTable } from './work-list.ts'

/** What is due on one work list: at most `mostCounted` rows are counted. */
export type DueLoad = { list: WorkTable; due: number; oldest_seconds: number }

const mostCounted = 10_000

/** How much is due across tenants, for whoever watches; to be read as `sallyport_work`. A row in hand is due until it is done. */
export function dueLoad(): Statement<DueLoad> {
  return sql<DueLoad>`${of('access_request', sql`access_request`)} union all ${of('access_grant', sql`access_grant`)}
    union all ${of('entitlement', sql`entitlement`)}`
}

/** By the moment at which the statement began, which is one: an index holds the search to what is due. */
function of(list: WorkTable, table: Statement): Statement {
  return sql`select ${list}::text as list,
    (select count(*)::int from (select from ${table}
      where next_look_at <= statement_timestamp() limit ${mostCounted}) counted) as due,
    coalesce((select extract(epoch from statement_timestamp() - next_look_at)::float8 from ${table}
      where next_look_at <= statement_timestamp() order by next_look_at limit 1), 0) as oldest_seconds`
}
