import type { Tx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { createdWithin } from './list-filters.ts'
import { byId, byName } from './list-orders.ts'
import { type List, readListPage } from './list-page.ts'
import { sql } from './sql.ts'

export const cappedOrders = ['created_at', '-created_at', 'name', '-name'] as const

export type CappedFilters = {
  enabled?: boolean
  created_after?: string
  created_before?: string
  q?: string
  sort?: (typeof cappedOrders)[number]
}

/**
 * One page of a table of which a guarded statement caps the rows of a tenant, in the order of creation unless `sort` says otherwise. So its
 * rows need no index and no word table: each is tested, and sorted where the order is that of names. `table` is the one that is
 * `r`; it has a name, `enabled` and a date of creation.
 */
export function readCappedPage<Row>(
  tx: Tx,
  { table, columns }: Pick<List, 'table' | 'columns'>,
  filters: CappedFilters,
  page: PageRequest,
): Promise<PageRows<Row>> {
  const { enabled, q, sort = 'created_at' } = filters
  const list: List = {
    table,
    columns,
    order: { ...(sort.endsWith('created_at') ? byId : byFewNames), descending: sort.startsWith('-') },
    range: [],
    filters: [],
    tested: [
      ...createdWithin(sql`r.created_at`, filters),
      ...(enabled === undefined ? [] : [sql`r.enabled = ${enabled}::boolean`]),
    ],
    search: q === undefined ? undefined : { q, text: sql`r.name`, first: false },
  }
  return readListPage<Row>(tx, list, page)
}

/** The names need no column of their own to be sorted by: there are few. */
const byFewNames = { ...byName, by: sql`(sort_key(r.name) collate "C")` }
