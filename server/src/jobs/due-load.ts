import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'
import { listRows, type Part, partsOf, type WorkTable } from './claim.ts'

/** The due rows of one work list, counted up to `maxCounted`. */
export type DueLoad = { list: WorkTable; due: number; oldest_seconds: number }

const maxCounted = 10_000

/** The due rows across tenants, for monitoring; read it as `sallyport_work`. A row in flight is due until it is done. */
export function dueLoad(): Statement<DueLoad> {
  return union(Object.entries(partsOf).map(([list, parts]) => loadOf(list as WorkTable, parts)))
}

function union(statements: readonly Statement[]): Statement<DueLoad> {
  return sql<DueLoad>`${statements.reduce((all, next) => sql`${all} union all ${next}`)}`
}

/** Compares with the one moment at which the statement began. An index of each part limits the scan to due rows. */
function loadOf(list: WorkTable, parts: readonly Part[]): Statement {
  const due = (parts.length > 0 ? parts : [undefined]).map(
    (part) => sql`(select next_look_at from ${listRows(list, part)} next_look_at <= statement_timestamp()
      order by next_look_at limit ${maxCounted})`,
  )
  return sql`select ${list}::text as list, least(count(*), ${maxCounted})::int as due,
      coalesce(extract(epoch from statement_timestamp() - min(next_look_at))::float8, 0) as oldest_seconds
    from (${union(due)}) counted`
}
