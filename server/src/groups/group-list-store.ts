import { createdWithin, filterOf } from '../db/list-filters.ts'
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
  const byName = sort === 'name' || sort === '-name'
  const list: List = {
    table: sql`tenant_group r`,
    columns: groupColumns(tx, sql`r`),
    order: { ...orderOf(sort, created.length > 0), descending: sort?.startsWith('-') ?? false },
    range: byName ? [] : created,
    filters: filterOf(sql`r.source`, sql`text`, source === undefined ? undefined : [source]),
    tested: byName ? created : [],
    search: q === undefined ? undefined : { q, words: { table: sql`group_word`, id: sql`group_id` }, first: true },
  }
  const { rows, next } = await readListPage<GroupRow>(tx, list, page)
  return { rows: rows.map(asGroup), next }
}

/** By their ids groups are in the order of creation too: the usual order, as long as nothing asks for moments. */
function orderOf(sort: GroupFilters['sort'], isRange: boolean): Pick<List['order'], 'by' | 'id' | 'types'> {
  const [id, uuid] = [sql`r.id`, sql`uuid`]
  if (sort === 'name' || sort === '-name') return { by: sql`r.name_key`, types: [sql`text`, uuid] }
  return sort === undefined && !isRange
    ? { by: id, id, types: [uuid, uuid] }
    : { by: sql`r.created_at`, types: [sql`timestamptz`, uuid] }
}
