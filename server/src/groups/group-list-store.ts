import { createdWithin, filterOf } from '../db/list-filters.ts'
import { byCreation, byId, byName } from '../db/list-orders.ts'
import { type List, readListPage } from '../db/list-page.ts'
import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { asGroup, type Group, type GroupRow } from './group.ts'
import { groupColumns } from './group-store.ts'

export const groupOrders = ['created_at', '-created_at', 'name', '-name'] as const

export type GroupFilters = {
  source?: string
  created_after?: string
  created_before?: string
  q?: string
  sort?: (typeof groupOrders)[number]
}

/**
 * One page, in the order of creation unless `sort` says otherwise; a search by words comes in the order of the found word.
 * `source` is compared exactly.
 */
export async function listGroupsPage(tx: Tx, filters: GroupFilters, page: PageRequest): Promise<PageRows<Group>> {
  const { source, q, sort } = filters
  const created = createdWithin(sql`r.created_at`, filters)
  const isByName = sort === 'name' || sort === '-name'
  const list: List = {
    table: sql`tenant_group r`,
    columns: groupColumns(tx, sql`r`),
    order: { ...orderOf(sort, created.length > 0), descending: sort?.startsWith('-') ?? false },
    range: isByName ? [] : created,
    filters: filterOf(sql`r.source`, sql`text`, source === undefined ? undefined : [source]),
    tested: isByName ? created : [],
    search: q === undefined ? undefined : { q, words: { table: sql`group_word`, id: sql`group_id` }, first: true },
  }
  const { rows, next } = await readListPage<GroupRow>(tx, list, page)
  return { rows: rows.map(asGroup), next }
}

/** The usual order, as long as nothing asks for moments, is that of ids. */
function orderOf(sort: GroupFilters['sort'], isRange: boolean) {
  if (sort === 'name' || sort === '-name') return byName
  return sort === undefined && !isRange ? byId : byCreation
}
