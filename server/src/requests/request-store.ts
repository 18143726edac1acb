import {
  type AccountForPolicy,
  accountsForPolicyAsJson,
  listAccountIdsUnder,
  readAccountsForPolicy,
} from '../cloud/cloud-account-store.ts'
import { plannedOnce, sql } from '../db/sql.ts'
import { isPlannedOutside } from '../grants/plan-store.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Principal, Weighed } from '../policy-engine/cedar/question.ts'
import { ruleSetVersion } from '../policy-engine/deciding/rule-set-store.ts'
import { typesInNamedAccount } from '../provisioners/provisioner.ts'
import { actsInNamedAccount, servedPlaces } from '../provisioners/serving-store.ts'
import { gaveSince, receiversOf } from '../roles/gift-store.ts'
import type { Discounted } from '../roles/holding-store.ts'
import { readSettingValues } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import { wroteFactsSince } from '../users/fact-store.ts'
import {
  approversAsJson,
  approverWaitsToJoin,
  principalAsJson,
  principalsAsJson,
  weighedAsJson,
} from '../users/principal-store.ts'
import { accountPlace, isOnAccounts, namedAccounts, type Place } from './place.ts'
import { type Circumstances, heldInAll, type Known, type RequestedAccess } from './policy-question.ts'
import type { AccessRequest, NamedAccessRequest, ResourceReference } from './request.ts'
import { maxPlaces } from './request.ts'

export type RequestRow = Omit<AccessRequest, 'resource'> & {
  resource_type: ResourceReference['type']
  resource_id: string
}

export const requestColumns = sql`id, requester_id, resource_type, resource_id, action, reason, status,
  decision_reasoning, decided_by, approval_mode, break_glass, duration_seconds, metadata, created_at, updated_at`

/** What a named request has beside the columns of every request. */
export const furtherColumns = sql`extends, approved_duration_seconds, reminded_at`
export type FurtherColumns = Pick<NamedAccessRequest, 'extends' | 'approved_duration_seconds' | 'reminded_at'>

export function asRequest({ resource_type, resource_id, ...row }: RequestRow): AccessRequest {
  return { ...row, resource: { type: resource_type, id: resource_id } }
}

export async function findRequest(tx: Tx, id: string): Promise<AccessRequest | undefined> {
  const [row] = await tx.read(
    sql<RequestRow>`select ${requestColumns} from access_request where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return row && asRequest(row)
}

/** What policy must know to evaluate a new request, under one snapshot. */
export type CurrentAccess = Known & {
  principal: Principal
  version: string
  /** Accounts under the requested organizational unit, up to one more than a request may cover. */
  under: string[]
  /** The places where a provisioner gives access, by `keyOfPlace`; null: none is needed, for the tenant is in rehearsal. */
  served: ReadonlySet<string> | null
}

type CurrentAccessRow = {
  principal: Principal
  stored: Record<string, string>
  version: string
  accounts: AccountForPolicy[]
  served: string[] | null
  acts_in_named_account: boolean
}

/** The requester, the tenant's settings and rule-set version, and the cached accounts concerned. One round trip, two for a unit. */
export async function readCurrentAccess(
  tx: Tx,
  user_id: string,
  resource: ResourceReference,
  account_ids: readonly string[],
): Promise<CurrentAccess> {
  const under =
    resource.type === 'cloud_organizational_unit' ? await listAccountIdsUnder(tx, resource.id, maxPlaces + 1) : []
  return readAccessIn(tx, user_id, resource, { account_ids, under })
}

/** The same, where the accounts under a unit are known, or none of them is concerned. One round trip. */
export async function readAccessIn(
  tx: Tx,
  user_id: string,
  resource: ResourceReference,
  { account_ids, under = [] }: { account_ids: readonly string[]; under?: string[] },
): Promise<CurrentAccess> {
  const concerned = [...account_ids, ...under]
  const account_id = account_ids[0] ?? null
  const named = { type: sql`${resource.type}`, id: sql`${resource.id}`, account_id: sql`${account_id}::text` }
  const places = isOnAccounts(resource) ? concerned.map(accountPlace) : [{ ...resource, account_id }]
  const [row] = await tx.read(
    sql<CurrentAccessRow>`select ${principalAsJson(tx, sql`${user_id}`)} as principal, ${settingsAsJson(tx)} as stored,
      ${ruleSetVersion(tx)} as version, ${accountsForPolicyAsJson(tx, sql`${concerned}`)} as accounts,
      ${servedPlaces(tx, places)} as served,
      ${actsInNamedAccount(tx, named)} as acts_in_named_account`,
  )
  if (row === undefined) throw new Error('a select without a from answered no row')
  return {
    principal: row.principal,
    settings: readSettingValues(row.stored),
    version: row.version,
    accounts: readAccountsForPolicy(row.accounts),
    under,
    served: row.served && new Set(row.served),
    acts_in_named_account: row.acts_in_named_account,
  }
}

/** A request to evaluate again: as recorded, with the current people, settings, rules and accounts. */
export type Recorded = Known & {
  request: AccessRequest
  requested: RequestedAccess
  /** The circumstances in which the request was made, stored with it. */
  when: Circumstances
  requester: Principal
  version: string
}

export type RecordedRow = RequestRow &
  FurtherColumns & {
    duration_seconds: number
    held_seconds: number | null
    places: Place[]
    asked_via: Circumstances['via']
    source_ip: string
    requester: Principal
    stored: Record<string, string>
    version: string
    accounts: AccountForPolicy[]
    acts_in_named_account: boolean
  }

/** The columns of a RecordedRow for the requests `a`, under one snapshot. */
export function recordedColumns(tx: Tx): Statement {
  const account_ids = sql`array(select place ->> 'account_id' from jsonb_array_elements(a.places) place)`
  const account_id = sql`a.places -> 0 ->> 'account_id'`
  const resource = { type: sql`a.resource_type`, id: sql`a.resource_id`, account_id }
  return sql`${requestColumns}, ${furtherColumns}, held_seconds, places, asked_via, source_ip,
    ${principalAsJson(tx, sql`a.requester_id`)} as requester,
    ${settingsAsJson(tx)} as stored, ${ruleSetVersion(tx)} as version,
    ${accountsForPolicyAsJson(tx, account_ids)} as accounts,
    ${actsInNamedAccount(tx, resource)}
      and not ${isPlannedOutside(tx, sql`a.id`, typesInNamedAccount)} as acts_in_named_account`
}

export function asRecorded(row: RecordedRow): Recorded {
  const { places, asked_via, source_ip, requester, stored, version, accounts, acts_in_named_account, ...about } = row
  const { extends: grant_id, held_seconds, approved_duration_seconds, reminded_at: _, ...rest } = about
  const request = asRequest(rest)
  const { home } = namedAccounts(request.resource, request.metadata)
  const extension = grant_id === null ? undefined : { grant_id, held_seconds: held_seconds ?? 0 }
  const duration_seconds = heldInAll(approved_duration_seconds ?? row.duration_seconds, extension)
  return {
    request,
    requested: { ...request, duration_seconds, places, home, extension },
    when: { now: new Date(request.created_at), via: asked_via, source_ip },
    requester,
    settings: readSettingValues(stored),
    version,
    accounts: readAccountsForPolicy(accounts),
    acts_in_named_account,
  }
}

/** The requests with these ids, in no order; one round trip. */
export async function readRecorded(tx: Tx, request_ids: readonly string[]): Promise<Recorded[]> {
  const rows = await tx.read(
    plannedOnce(sql<RecordedRow>`select ${recordedColumns(tx)} from access_request a
      where a.tenant_id = ${tx.tenant_id} and a.id = any(${[...request_ids]}::uuid[])`),
  )
  return rows.map(asRecorded)
}

/** What an approver's decision is based on. What the requester gave or wrote after the request does not count. */
export type Deciding = Recorded & { approver: Weighed; weighed_requester: Weighed }

type DecidingRow = RecordedRow & { counting_requester: Principal }

/** `counting_requester` is the requester without what does not count. */
function asWeighed({ counting_requester: counting, ...row }: DecidingRow): Omit<Deciding, 'approver'> {
  const recorded = asRecorded(row)
  return { ...recorded, weighed_requester: { counting, whole: recorded.requester } }
}

/** The request as `a`, and those through whom its requester may have made an approver since, who are computed once where needed. */
function requestAndGivers(tx: Tx, request_id: string): Statement {
  const giving = { giver: requester, after: requested }
  return sql`a as materialized (select * from access_request where tenant_id = ${tx.tenant_id} and id = ${request_id}),
    tainted as materialized (${receiversOf(tx, giving)})`
}

const requester = sql`(select requester_id from a)`
const requested = sql`(select created_at from a)`
const tainted: Discounted = { givers: sql`select id from tainted`, after: requested }

/** The request, the approver, the rule-set version and the accounts that the request covers; one round trip. */
export async function readDeciding(tx: Tx, request_id: string, approver_id: string): Promise<Deciding | undefined> {
  const [row] = await tx.read(
    plannedOnce(sql<DecidingRow & { approver: Weighed }>`with ${requestAndGivers(tx, request_id)}
      select ${recordedColumns(tx)}, ${principalAsJson(tx, sql`a.requester_id`, tainted)} as counting_requester,
        ${weighedAsJson(tx, sql`${approver_id}`, tainted)} as approver from a`),
  )
  if (row === undefined) return undefined
  const { approver, ...recorded } = row
  return { ...asWeighed(recorded), approver }
}

/** A batch of people: those whose ids come after `after` (null: from the first), at most `limit`. */
export type Batch = { after: string | null; limit: number }

/**
 * A request, and a batch of the people who might decide it: active people other than the requester who hold the scope and do not wait
 * to join, ignoring roles that the requester gave after the request. Undefined where the request does not exist. One round trip.
 */
export async function readWithApprovers(
  tx: Tx,
  request_id: string,
  { after, limit }: Batch,
): Promise<(Omit<Deciding, 'approver'> & { approvers: Weighed[] }) | undefined> {
  const page = { except: requester, after, limit }
  const [row] = await tx.read(sql<DecidingRow & { approvers: Weighed[] }>`with ${requestAndGivers(tx, request_id)}
    select ${recordedColumns(tx)}, ${principalAsJson(tx, sql`a.requester_id`, tainted)} as counting_requester,
      ${approversAsJson(tx, page, tainted)} as approvers from a`)
  if (row === undefined) return undefined
  const { approvers, ...recorded } = row
  return { ...asWeighed(recorded), approvers }
}

/**
 * Requests, and a batch of the people who might decide any of them. `differs`: what its requester gave or wrote since does not count, so that
 * who might decide the request must be read for it alone.
 */
export type ManyWithApprovers = {
  version: string
  requests: ReadonlyMap<string, Omit<Deciding, 'approver'> & { differs: boolean }>
  approvers: readonly Weighed[]
}

type ManyRow = DecidingRow & { differs: boolean; approvers: Weighed[] | null }

const nobody = sql`select null::uuid where false`

/**
 * The requests with these ids, and a batch of the people who might decide them, as `readWithApprovers` finds them where no request
 * differs, but with the requesters. What counts of an approver is of the earliest request. Undefined where none of the requests exists. One
 * round trip.
 */
export async function readManyWithApprovers(
  tx: Tx,
  request_ids: readonly string[],
  { after, limit }: Batch,
): Promise<ManyWithApprovers | undefined> {
  const since = { giver: sql`a.requester_id`, after: sql`a.created_at` }
  const page = { except: null, after, limit }
  const earliest: Discounted = { givers: nobody, after: sql`(select min(created_at) from a)` }
  const rows = await tx.read(sql<ManyRow>`with a as materialized (select * from access_request
      where tenant_id = ${tx.tenant_id} and id = any(${[...request_ids]}::uuid[])),
    page as materialized (select ${approversAsJson(tx, page, earliest)} as approvers)
    select ${recordedColumns(tx)},
      ${principalAsJson(tx, since.giver, { givers: nobody, after: since.after })} as counting_requester,
      ${gaveSince(tx, since)} or ${wroteFactsSince(tx, since.giver, since.after)} as differs,
      case when a.id = (select id from a limit 1) then (select approvers from page) end as approvers from a`)
  const [first] = rows
  if (first === undefined) return undefined
  const requests = rows.map(({ differs, approvers: _, ...row }) => ({ ...asWeighed(row), differs }))
  return {
    version: first.version,
    requests: new Map(requests.map((one) => [one.request.id, one])),
    approvers: rows.find(({ approvers }) => approvers !== null)?.approvers ?? [],
  }
}

/** `awaits`: there is nobody, but somebody who was invited could be one once they join. */
type PossibleApprovers = { approvers: Principal[]; awaits: boolean }

/** A batch of the people who might decide a request that is not stored yet. One round trip. */
export async function readApprovers(tx: Tx, requester_id: string, { after, limit }: Batch): Promise<PossibleApprovers> {
  const except = sql`${requester_id}::uuid`
  const [row] = await tx.read(sql<PossibleApprovers>`with found as materialized (
      select ${principalsAsJson(tx, { except, after, limit })} as approvers)
    select approvers, case when approvers = '[]' then ${approverWaitsToJoin(tx, except)} else false end as awaits
    from found`)
  return row ?? { approvers: [], awaits: false }
}
