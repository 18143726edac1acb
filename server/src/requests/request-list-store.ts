import { actionDescription } from '../actions/action-store.ts'
import { accountName } from '../cloud/cloud-account-store.ts'
import { createdWithin, filterOf } from '../db/list-filters.ts'
import { type List, readListPage } from '../db/list-page.ts'
import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { type Counted, countedPage, countOf, type PageRequest, type PageRows } from '../kernel/page.ts'
import { personName } from '../users/person-name-store.ts'
import type { AccessRequest, NamedAccessRequest } from './request.ts'
import { commentCount } from './request-comment-store.ts'
import { type FurtherColumns, furtherColumns, type RequestRow, requestColumns } from './request-store.ts'

export type CountedRequest = NamedAccessRequest & { comment_count: number }

export type NamedRow = RequestRow &
  FurtherColumns &
  Omit<NamedAccessRequest, keyof AccessRequest | keyof FurtherColumns>

/** What a named request has beside the columns of the request `r`: its risk, and the names to its ids. */
export function nameColumns(tx: Tx, r: Statement): Statement {
  return sql`risk, risk_reasons, ${personName(tx, sql`${r}.requester_id`)} as requester_name,
    ${personName(tx, sql`${r}.decided_by`)} as decided_by_name,
    case when ${r}.resource_type = 'cloud_account' then ${accountName(tx, sql`${r}.resource_id`)} end as resource_name,
    ${actionDescription(tx, sql`${r}.action`, sql`${r}.resource_type`)} as action_description`
}

/** The columns of the named requests `r`. */
function namedColumns(tx: Tx): Statement {
  return sql`${requestColumns}, ${furtherColumns}, ${nameColumns(tx, sql`r`)}`
}

function asNamedRequest(row: NamedRow): NamedAccessRequest {
  const { resource_type, resource_id, ...named } = row
  return { ...named, resource: { type: resource_type, id: resource_id } }
}

/** One request, with the number of its comments. */
export async function findNamedRequest(tx: Tx, id: string): Promise<CountedRequest | undefined> {
  const [row] = await tx.read(sql<NamedRow & Pick<CountedRequest, 'comment_count'>>`select ${namedColumns(tx)},
      ${commentCount(tx, sql`r.id`)} as comment_count
    from access_request r where r.tenant_id = ${tx.tenant_id} and r.id = ${id}`)
  if (row === undefined) return undefined
  const { comment_count, ...named } = row
  return { ...asNamedRequest(named), comment_count }
}

/** Several values of a filter: a request has one of them. */
export type RequestFilters = {
  requester_id?: readonly string[] | undefined
  decided_by?: readonly string[] | undefined
  status?: readonly string[]
  resource_type?: readonly string[]
  resource_id?: string
  break_glass?: boolean
  created_after?: string
  created_before?: string
  q?: string
  sort?: 'created_at' | '-created_at'
}

/** One page, newest first unless `sort` says otherwise; a search by words comes in the order of the found word. */
export async function listRequestsPage(
  tx: Tx,
  filters: RequestFilters,
  page: PageRequest,
): Promise<PageRows<NamedAccessRequest>> {
  const { rows, next } = await readListPage<NamedRow>(tx, requestList(filters, namedColumns(tx)), page)
  return { rows: rows.map(asNamedRequest), next }
}

/** How many requests the list has, by the list's own reading: so a count shows nothing that the list does not. */
export async function countRequestsListed(tx: Tx, filters: RequestFilters): Promise<Counted> {
  return countOf(await readListPage(tx, requestList(filters, sql`r.id`), countedPage))
}

function requestList(filters: RequestFilters, columns: Statement): List {
  const { requester_id, decided_by, status, resource_type, resource_id, break_glass, q } = filters
  return {
    table: sql`access_request r`,
    columns,
    order: {
      by: sql`r.created_at`,
      types: [sql`timestamptz`, sql`uuid`],
      descending: filters.sort !== 'created_at',
    },
    range: createdWithin(sql`r.created_at`, filters),
    filters: [
      // INVARIANT: first. How far a page reads must not depend on requests that the caller may not see.
      filterOf(sql`r.requester_id`, sql`uuid`, requester_id),
      filterOf(sql`r.decided_by`, sql`uuid`, decided_by),
      filterOf(sql`r.resource_id`, sql`text`, resource_id === undefined ? undefined : [resource_id]),
      break_glass === true ? [{ partial: sql`r.break_glass` }] : [],
      filterOf(sql`r.status`, sql`text`, status),
      filterOf(sql`r.resource_type`, sql`text`, resource_type),
    ].flat(),
    tested: break_glass === false ? [sql`not r.break_glass`] : [],
    // Where the caller sees only their own requests, `requester_id` says so.
    search: q === undefined ? undefined : { q, words, first: requester_id === undefined },
  }
}

const words = { table: sql`request_word`, id: sql`request_id` }
