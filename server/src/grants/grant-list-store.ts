import { actionDescription } from '../actions/action-store.ts'
import { accountName } from '../cloud/cloud-account-store.ts'
import { createdWithin, filterOf } from '../db/list-filters.ts'
import { type Filter, type List, readListPage, testOf } from '../db/list-page.ts'
import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { type Counted, countedPage, countOf, type PageRequest, type PageRows } from '../kernel/page.ts'
import { personName } from '../users/person-name-store.ts'
import { connectColumn } from './connect-store.ts'
import { type ExtensionColumns, extensionOf } from './extension-store.ts'
import type { GrantDetail, NamedGrant } from './grant.ts'
import { progressColumn } from './grant-progress-store.ts'
import { asGrant, type GrantRow, grantColumns } from './grant-store.ts'

type NamedRow = GrantRow &
  Pick<NamedGrant, 'user_name' | 'ended_by_name' | 'resource_name' | 'action_description'> & {
    served_by: string | null
    approval: { by: string | null; name: string | null; extends: string | null; break_glass: boolean }
  }

/** The type of resource on which the action of a grant `r` counts; none where the grant is of a permission set that was requested itself. */
const actedOn = sql`case when r.permission_set is null then r.resource_type end`

/** The columns of the grants `r`, with the names beside the ids. */
function namedColumns(tx: Tx): Statement {
  return sql`${grantColumns}, r.served_by, (select ${progressColumn} from (select r.*) g) as progress,
    (select ${connectColumn} from (select r.*) g),
    ${personName(tx, sql`r.user_id`)} as user_name, ${personName(tx, sql`r.ended_by`)} as ended_by_name,
    case when r.resource_type = 'cloud_account' then ${accountName(tx, sql`r.resource_id`)} end as resource_name,
    ${actionDescription(tx, sql`r.action`, actedOn)} as action_description,
    (select json_build_object('by', q.decided_by, 'name', ${personName(tx, sql`q.decided_by`)},
        'extends', q.extends, 'break_glass', q.break_glass)
      from access_request q where q.tenant_id = ${tx.tenant_id}::uuid and q.id = r.request_id) as approval`
}

function asNamedGrant(named: NamedRow): NamedGrant {
  const { user_name, ended_by_name, resource_name, action_description, served_by, approval, ...row } = named
  const grant = asGrant(row)
  const { provisioner, drift } = grant.provisioning
  return {
    ...grant,
    extends: approval.extends,
    user_name,
    ended_by_name,
    resource_name,
    action_description,
    provisioner_name: served_by === sandbox ? sandbox : (provisioner?.name ?? null),
    approved_by: approval.by,
    approved_by_name: approval.name,
    break_glass: approval.break_glass,
    drifted: grant.status === 'active' && drift?.kind === 'removed',
  }
}

/** Serves the grants of a tenant without provisioners. */
const sandbox = 'sandbox'

export async function findGrantDetail(tx: Tx, id: string): Promise<GrantDetail | undefined> {
  const [row] = await tx.read(sql<NamedRow & ExtensionColumns>`select ${namedColumns(tx)}, extension.*
    from access_grant r, lateral ${extensionOf(tx)} extension
    where r.tenant_id = ${tx.tenant_id} and r.id = ${id}`)
  if (row === undefined) return undefined
  const { extended_by, extendable, ...named } = row
  return { ...asNamedGrant(named), extended_by, extendable }
}

export const grantOrders = ['created_at', '-created_at', 'expires_at', '-expires_at'] as const

/** Several values of a filter: a grant has one of them. */
export type GrantFilters = {
  user_id?: readonly string[] | undefined
  request_id?: string
  status?: readonly string[]
  provisioning_status?: readonly string[]
  resource_type?: readonly string[]
  resource_id?: string
  action?: string
  provisioner_id?: readonly string[]
  drifted?: boolean
  ends_before?: string
  created_after?: string
  created_before?: string
  q?: string
  sort?: (typeof grantOrders)[number]
}

/**
 * One page, newest first unless `sort` or `ends_before` says otherwise; a search by words comes in the order of the found word.
 */
export async function listGrantsPage(tx: Tx, filters: GrantFilters, page: PageRequest): Promise<PageRows<NamedGrant>> {
  const { rows, next } = await readListPage<NamedRow>(tx, grantList(tx, filters, namedColumns(tx)), page)
  return { rows: rows.map(asNamedGrant), next }
}

/** How many grants the list has, by the list's own reading: so a count shows nothing that the list does not. */
export async function countGrantsListed(tx: Tx, filters: GrantFilters): Promise<Counted> {
  return countOf(await readListPage(tx, grantList(tx, filters, sql`r.id`), countedPage))
}

function grantList(tx: Tx, filters: GrantFilters, columns: Statement): List {
  const { user_id, request_id, q, ends_before } = filters
  const sort = filters.sort ?? (ends_before === undefined ? '-created_at' : 'expires_at')
  const byEnd = sort.endsWith('expires_at')
  const by = byEnd ? sql`r.expires_at` : sql`r.created_at`
  const { ends, created } = rangesOf(filters, byEnd)
  // INVARIANT: first. How far a page reads must not depend on grants that the caller may not see.
  const holder = filterOf(sql`r.user_id`, sql`uuid`, user_id)
  const others = otherFilters(filters)
  // A request has few grants, and those by their end are indexed by their holder alone: the other filters are tested.
  const indexed = request_id === undefined && !byEnd ? [...holder, ...others] : request_id === undefined ? holder : []
  const tested = [...holder, ...others].filter((filter) => !indexed.includes(filter)).map(testOf)
  return {
    table: request_id === undefined ? sql`access_grant r` : grantsOfRequest(tx, request_id),
    columns,
    order: { by, types: [sql`timestamptz`, sql`uuid`], descending: sort.startsWith('-') },
    range: byEnd ? ends : created,
    filters: indexed,
    tested: [...tested, ...(byEnd ? created : ends), ...(filters.drifted === false ? [sql`not ${isDrifted}`] : [])],
    // Where the caller sees only their own grants, `user_id` says so.
    search: q === undefined ? undefined : { q, words, first: user_id === undefined && request_id === undefined },
  }
}

const words = { table: sql`grant_word`, id: sql`grant_id` }

const isDrifted = sql`(r.drifted and r.ended_at is null)`

/** Conditions on the end, if there are any, and on the creation. A grant that was active and has no end yet is active. */
function rangesOf(filters: GrantFilters, byEnd: boolean) {
  const { ends_before } = filters
  const active = [sql`r.ended_at is null`, sql`r.expires_at is not null`]
  return {
    ends: [
      ...(byEnd || ends_before !== undefined ? active : []),
      ...(ends_before === undefined ? [] : [sql`r.expires_at < ${ends_before}`]),
    ],
    created: createdWithin(sql`r.created_at`, filters),
  }
}

/** The grants of a request, read by their request and then sorted, whatever the plan would be for the order of the list. */
function grantsOfRequest(tx: Tx, request_id: string): Statement {
  return sql`(select g.* from access_grant g where g.tenant_id = ${tx.tenant_id} and g.request_id = ${request_id}
    offset 0) r`
}

/** Statuses that most grants reach: any other filter leaves fewer rows. */
const common = ['expired', 'deprovisioned']

function otherFilters(filters: GrantFilters): Filter[] {
  const { status, provisioning_status, resource_type, resource_id, action, provisioner_id, drifted } = filters
  const states = [
    ...filterOf(sql`r.provisioning_status collate "C"`, sql`text`, provisioning_status),
    ...filterOf(sql`r.status collate "C"`, sql`text`, status),
  ]
  const isCommon = (filter: Filter) => 'values' in filter && filter.values.some((value) => common.includes(value))
  const served = provisioner_id?.map((id) => id.toLowerCase())
  return [
    drifted === true ? [{ partial: isDrifted }] : [],
    filterOf(sql`r.resource_id`, sql`text`, resource_id === undefined ? undefined : [resource_id]),
    states.filter((state) => !isCommon(state)),
    filterOf(sql`r.action`, sql`text`, action === undefined ? undefined : [action]),
    filterOf(sql`r.served_by`, sql`text`, served),
    filterOf(sql`r.resource_type`, sql`text`, resource_type),
    states.filter(isCommon),
  ].flat()
}
