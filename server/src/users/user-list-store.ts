import { createdWithin, filterOf } from '../db/list-filters.ts'
import { byId, byName } from '../db/list-orders.ts'
import { type Filter, type Link, type List, readListPage } from '../db/list-page.ts'
import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { isCurrent } from '../roles/membership-store.ts'
import { isSuspended } from './active-store.ts'
import { type ListedUser, type Stored, userOf } from './user.ts'
import { listed, rolesOf } from './user-store.ts'

export const userOrders = ['created_at', '-created_at', 'name', '-name'] as const

/** Several values of a filter: a user has one of them. */
export type UserFilters = {
  role?: readonly string[]
  group?: string
  active?: boolean
  suspended?: boolean
  auth_provider?: readonly string[]
  created_after?: string
  created_before?: string
  q?: string
  sort?: (typeof userOrders)[number]
}

/** One page, in the order of creation unless `sort` says otherwise; a search by words comes in the order of the found word. */
export async function listUsersPage(tx: Tx, filters: UserFilters, page: PageRequest): Promise<PageRows<ListedUser>> {
  const { q, sort = 'created_at', suspended } = filters
  const isByName = sort === 'name' || sort === '-name'
  const created = createdWithin(sql`r.listed_at`, filters)
  const links = linksOf(filters)
  const own = filtersOf(filters)
  const isAlone = links.length + own.length + created.length === 1 && suspended === undefined
  const through = q === undefined && !isByName ? links.find(({ values }) => values.length === 1 || isAlone) : undefined
  const isRange = !isByName && through === undefined
  const list: List = {
    table: sql`tenant_user r`,
    columns: sql`${listed(sql`r`)}, r.rehearsal is not null as rehearsal, ${rolesOf(tx, sql`r.id`)} as roles`,
    order: { ...orderOf(isByName, through), descending: sort.startsWith('-') },
    range: [sql`${isByName ? sql`r.name_key` : sql`r.listed_at`} is not null`, ...(isRange ? created : [])],
    filters: own,
    tested: [
      ...(isRange ? [] : created),
      ...(suspended === undefined ? [] : [suspended ? isSuspended(sql`r`) : sql`not ${isSuspended(sql`r`)}`]),
    ],
    links: links.filter((link) => link !== through),
    through,
    search: q === undefined ? undefined : { q, words, first: true },
  }
  const { rows, next } = await readListPage<Stored<ListedUser>>(tx, list, page)
  return { rows: rows.map(listedUserOf), next }
}

function listedUserOf({ rehearsal, ...rest }: Stored<ListedUser>): ListedUser {
  return { ...userOf<ListedUser>(rest), ...(rehearsal === true && { rehearsal }) }
}

const words = { table: sql`user_word`, id: sql`user_id` }

/** Members and holders are read in the order of their ids, which is that of creation too. */
function orderOf(isByName: boolean, through: Link | undefined): Pick<List['order'], 'by' | 'id' | 'types'> {
  if (through !== undefined) return byId
  return isByName ? byName : { by: sql`r.listed_at`, types: [sql`timestamptz`, sql`uuid`] }
}

function linksOf({ group, role }: UserFilters): Link[] {
  const user_id = sql`user_id`
  const [members, holders] = [sql`(select * from group_member m where ${isCurrent(sql`m`)})`, sql`user_role`]
  return [
    group === undefined ? [] : [link(members, user_id, sql`group_id`, sql`uuid`, [group])],
    role === undefined ? [] : [link(holders, user_id, sql`role_id`, sql`text`, role)],
  ].flat()
}

function link(table: Statement, id: Statement, column: Statement, type: Statement, values: readonly string[]): Link {
  return { table, id, column, type, values: [...new Set(values)] }
}

function filtersOf({ suspended, auth_provider, active }: UserFilters): Filter[] {
  return [
    suspended === true ? [{ partial: sql`r.suspended_until is not null` }] : [],
    filterOf(sql`r.active`, sql`boolean`, active === undefined ? undefined : [String(active)]),
    filterOf(sql`r.auth_provider`, sql`text`, auth_provider),
  ].flat()
}
