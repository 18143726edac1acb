import { createdWithin, filterOf } from '../db/list-filters.ts'
import { byCreation, byId } from '../db/list-orders.ts'
import { type List, readListPage } from '../db/list-page.ts'
import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { type ApiKey, type ApiKeyRow, apiKeyOf } from './api-key.ts'
import { apiKeyRecord } from './api-key-store.ts'

export const apiKeyOrders = ['-created_at', 'created_at'] as const

export type ApiKeyFilters = {
  identity_provider_id?: string
  revoked?: boolean
  created_after?: string
  created_before?: string
  q?: string
  sort?: (typeof apiKeyOrders)[number]
}

/** One page, the newest first unless `sort` says otherwise; a search by words comes in the order of the found word. */
export async function listApiKeysPage(tx: Tx, filters: ApiKeyFilters, page: PageRequest): Promise<PageRows<ApiKey>> {
  const { identity_provider_id, revoked, q, sort = '-created_at' } = filters
  const created = createdWithin(sql`r.created_at`, filters)
  const ofProvider = identity_provider_id === undefined ? undefined : [identity_provider_id]
  const list: List = {
    table: sql`api_key r`,
    columns: apiKeyRecord,
    order: { ...(created.length > 0 ? byCreation : byId), descending: sort === '-created_at' },
    range: created,
    filters: [
      ...filterOf(sql`r.identity_provider_id`, sql`uuid`, ofProvider),
      ...(revoked === undefined
        ? []
        : [{ partial: revoked ? sql`r.revoked_at is not null` : sql`r.revoked_at is null` }]),
    ],
    tested: [],
    search: q === undefined ? undefined : { q, words: { table: sql`api_key_word`, id: sql`api_key_id` }, first: true },
  }
  const { rows, next } = await readListPage<ApiKeyRow>(tx, list, page)
  return { rows: rows.map(apiKeyOf), next }
}
