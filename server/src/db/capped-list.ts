import type { Statement, Tx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { createdWithin } from './list-filters.ts'
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
    order: { ...orderOf(sort), descending: sort.startsWith('-') },
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

/** By their ids records are in the order of creation too. */
function orderOf(sort: NonNullable<CappedFilters['sort']>): {
  by: Statement
  id: Statement
  types: List['order']['types']
} {
  const [id, uuid] = [sql`r.id`, sql`uuid`]
  if (sort === 'created_at' || sort === '-created_at') return { by: id, id, types: [uuid, uuid] }
  return { by: sql`(sort_key(r.name) collate "C")`, id, types: [sql`text`, uuid] }
}
