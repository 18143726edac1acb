import { createdWithin } from '../db/list-filters.ts'
import { byCreation, byId, byName } from '../db/list-orders.ts'
import { type List, readListPage } from '../db/list-page.ts'
import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import type { Policy } from './policy.ts'
import { rulesOf } from './rule-store.ts'

export const policyOrders = ['priority', '-priority', 'name', '-name', 'created_at', '-created_at'] as const

export type PolicyFilters = {
  created_after?: string
  created_before?: string
  q?: string
  sort?: (typeof policyOrders)[number]
}

/**
 * One page, by priority unless `sort` says otherwise, and those of a range of time in the order of their creation, which the range is of; a
 * search by words comes in the order of the found word.
 */
export function listPoliciesPage(tx: Tx, filters: PolicyFilters, page: PageRequest): Promise<PageRows<Policy>> {
  const created = createdWithin(sql`r.created_at`, filters)
  const { q, sort = created.length > 0 ? 'created_at' : 'priority' } = filters
  const order = q === undefined ? ordersBy[columnOf(sort)] : byId
  const isByCreation = order === ordersBy.created_at
  const list: List = {
    table: sql`policy r`,
    columns: sql`r.id, r.name, r.description, r.enabled, r.priority, r.created_at, r.updated_at,
      (select ${rulesOf(tx)} from (select r.id) p) as rules`,
    order: { ...order, descending: sort.startsWith('-') },
    range: isByCreation ? created : [],
    filters: [],
    tested: isByCreation ? [] : created,
    search: q === undefined ? undefined : { q, words: { table: sql`policy_word`, id: sql`policy_id` }, first: true },
  }
  return readListPage<Policy>(tx, list, page)
}

/** A priority tells policies apart. */
const [priority, integer] = [sql`r.priority`, sql`integer`]
const ordersBy = {
  priority: { by: priority, id: priority, types: [integer, integer] },
  name: byName,
  created_at: byCreation,
} satisfies Record<string, Omit<List['order'], 'descending'>>

function columnOf(sort: NonNullable<PolicyFilters['sort']>): keyof typeof ordersBy {
  if (sort === 'priority' || sort === '-priority') return 'priority'
  return sort === 'name' || sort === '-name' ? 'name' : 'created_at'
}
