import type { Statement } from '../kernel/context.ts'
import type { Filter } from './list-page.ts'
import { sql } from './sql.ts'

/** A filter that may be absent, as a list of none or one. A value that is given twice counts once. */
export function filterOf(column: Statement, type: Statement, values: readonly string[] | undefined): Filter[] {
  return values === undefined ? [] : [{ column, type, values: [...new Set(values)] }]
}

/** The conditions of the parameters `created_after` and `created_before`: from the one moment on, and before the other. */
export function createdWithin(
  column: Statement,
  { created_after, created_before }: { created_after?: string | undefined; created_before?: string | undefined },
): Statement[] {
  return [
    ...(created_after === undefined ? [] : [sql`${column} >= ${created_after}`]),
    ...(created_before === undefined ? [] : [sql`${column} < ${created_before}`]),
  ]
}
