import type { ActionDescriptions } from '../actions/action.ts'
import { actionDescription, descriptionsAsJson } from '../actions/action-store.ts'
import type { AccountPolicyView } from '../cloud/cloud-account.ts'
import {
  type AccountForPolicy,
  accountsForPolicyAsJson,
  listAccountIdsUnderEach,
  readAccountsForPolicy,
} from '../cloud/cloud-account-store.ts'
import { inIndexOrder, sql } from '../db/sql.ts'
import { foundNamesAsJson } from '../inventory/found-resource-store.ts'
import type { Tx } from '../kernel/context.ts'
import type { Principal } from '../policy-engine/cedar/question.ts'
import { ruleSetVersion } from '../policy-engine/deciding/rule-set-store.ts'
import { accountInId } from '../policy-facts/resource.ts'
import type { ServedPlace } from '../provisioners/serving.ts'
import { servedPlaces } from '../provisioners/serving-store.ts'
import { accountPlace, isOnAccounts } from '../requests/place.ts'
import type { ResourceReference } from '../requests/request.ts'
import { maxPlaces } from '../requests/request.ts'
import { readSettingValues, type Settings } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import { principalAsJson } from '../users/principal-store.ts'
import type { CatalogueEntry, Pair } from './catalogue-entry.ts'

/** The types of resources that the catalogue lists because an inventory found them. Found accounts are in the account cache. */
export const foundTypes = ['cloud_db_instance', 'cloud_organizational_unit'] as const

/** What policy must know to evaluate what a user may request, under one snapshot. */
export type Snapshot = {
  principal: Principal
  settings: Settings
  version: string
  accounts: ReadonlyMap<string, AccountPolicyView>
  /** The places where a provisioner gives access, by `keyOfPlace`; null: none is needed, for the tenant is in rehearsal. */
  served: ReadonlySet<string> | null
  /** The accounts under each organizational unit, up to one more than a request may cover. */
  under: ReadonlyMap<string, readonly string[]>
  /** The names of those of the resources that an inventory found, by `keyOfPlace`. */
  foundNames: ReadonlyMap<string, string>
  /** Of the actions that were asked for. */
  descriptions: ReadonlyMap<string, ActionDescriptions>
}

type SnapshotRow = Pick<Snapshot, 'principal' | 'version'> & {
  served: string[] | null
  stored: Record<string, string>
  described: Record<string, ActionDescriptions>
  found: Record<string, string>
  accounts: AccountForPolicy[]
}

/**
 * What is read for requests of these resources, and the descriptions of these actions. One round trip; two where organizational units are
 * among the resources.
 */
export async function readSnapshot(
  tx: Tx,
  user_id: string,
  resources: readonly ResourceReference[],
  actions: readonly string[],
): Promise<Snapshot> {
  const units = resources.flatMap(({ type, id }) => (type === 'cloud_organizational_unit' ? id : []))
  const under = units.length === 0 ? new Map() : await listAccountIdsUnderEach(tx, units, maxPlaces + 1)
  const homes = resources.flatMap((one) => accountInId(one) ?? [])
  const concerned = sql`${[...new Set([...homes, ...[...under.values()].flat()])]}`
  const findable = resources.filter(({ type }) => foundTypes.some((one) => one === type))
  const places = resources.flatMap((one) => placesIn(one, under))
  const [row] = await tx.read(
    sql<SnapshotRow>`select ${principalAsJson(tx, sql`${user_id}`)} as principal, ${settingsAsJson(tx)} as stored,
      ${ruleSetVersion(tx)} as version, ${accountsForPolicyAsJson(tx, concerned)} as accounts,
      ${servedPlaces(tx, places)} as served,
      ${descriptionsAsJson(tx, actions)} as described, ${foundNamesAsJson(tx, findable)} as found`,
  )
  if (row === undefined) throw new Error('a select without a from answered no row')
  const { stored, described, found, accounts, served, ...rest } = row
  return {
    ...rest,
    served: served && new Set(served),
    settings: readSettingValues(stored),
    accounts: readAccountsForPolicy(accounts),
    under,
    foundNames: new Map(Object.entries(found)),
    descriptions: new Map(Object.entries(described)),
  }
}

/** Where a request for the resource gives access; nowhere for a permission set, whose request names the accounts. */
function placesIn(resource: ResourceReference, under: ReadonlyMap<string, readonly string[]>): ServedPlace[] {
  if (isOnAccounts(resource)) return (under.get(resource.id) ?? []).map(accountPlace)
  return [{ ...resource, account_id: accountInId(resource) ?? null }]
}

/** An account of the cache, at its place in the order of the list. */
export type RankedAccount = { rank: string; name: string; id: string; account_id: string; is_requestable: boolean }

/**
 * The entries of the account cache after `after`, or from there on (`isIncluded`), by rank, name and id. Requestable is the entry that
 * policy sees of an account: the first one with its number, which has 12 digits.
 */
export function listRankedAccounts(
  tx: Tx,
  { after, isIncluded }: { after: readonly string[]; isIncluded: boolean },
  limit: number,
): Promise<RankedAccount[]> {
  const [rank, name, id] = after
  const [here, place] = [sql`(r.rank, r.name, r.id)`, sql`(${rank}::integer, ${name}::text, ${id}::text)`]
  const behind = rank === undefined ? sql`true` : isIncluded ? sql`${here} >= ${place}` : sql`${here} > ${place}`
  return tx.read(
    inIndexOrder(sql<RankedAccount>`select r.rank::text, r.name, r.id, r.account_id,
        r.account_id ~ '^[0-9]{12}$' and not exists (select from cloud_account o where o.tenant_id = r.tenant_id
          and o.account_id = r.account_id and (o.rank, o.name, o.id) < (r.rank, r.name, r.id)) as is_requestable
      from cloud_account r where r.tenant_id = ${tx.tenant_id} and ${behind}
      order by r.rank, r.name, r.id limit ${limit}`),
  )
}

/** A pair that the user requested, with the moment and the id of the last such request. */
export type RecentPair = Pair & { created_at: string; id: string }
type RecentRow = { resource_type: ResourceReference['type']; resource_id: string } & Omit<RecentPair, 'resource'>

const recentRequests = 500
const recentPairs = 20

/** The last different pairs that the user requested, the newest first: of their last 500 requests at most 20. */
export async function listRecentPairs(tx: Tx, user_id: string): Promise<RecentPair[]> {
  const rows = await tx.read(
    inIndexOrder(sql<RecentRow>`select resource_type, resource_id, action, created_at::text, id
      from (select distinct on (resource_type, resource_id, action) *
        from (select resource_type, resource_id, action, created_at, id from access_request
          where tenant_id = ${tx.tenant_id} and requester_id = ${user_id}
          order by created_at desc, id desc limit ${recentRequests}) last
        order by resource_type, resource_id, action, created_at desc, id desc) pairs
      order by pairs.created_at desc, pairs.id desc limit ${recentPairs}`),
  )
  return rows.map(({ resource_type: type, resource_id, ...row }) => ({ ...row, resource: { type, id: resource_id } }))
}

export type Marks = Pick<CatalogueEntry, 'action_description' | 'live_grant_id' | 'is_favourite'>

/** What an entry shows beside policy's answer, in the order of the pairs. A grant counts by its own resource, and by that of its request. */
export async function readMarks(tx: Tx, user_id: string, pairs: readonly Pair[]): Promise<Marks[]> {
  if (pairs.length === 0) return []
  const asked = pairs.map(({ resource, action }, place) => ({ place, ...resource, action }))
  return tx.read(sql`with live as materialized (
      select g.id, g.resource_type as type, g.resource_id, g.permission_set, r.resource_type as asked_type,
        r.resource_id as asked_id, r.action
      from access_grant g join access_request r on r.tenant_id = g.tenant_id and r.id = g.request_id
      where g.tenant_id = ${tx.tenant_id} and g.user_id = ${user_id} and g.status in ('pending', 'active'))
    select (select live.id from live where live.action = pair.action
        and ((live.type = pair.type and live.resource_id = pair.id and live.permission_set is null)
          or (live.asked_type = pair.type and live.asked_id = pair.id))
        order by live.id desc limit 1) as live_grant_id,
      exists (select from favourite f where f.tenant_id = ${tx.tenant_id} and f.user_id = ${user_id}
        and f.resource_type = pair.type and f.resource_id = pair.id and f.action = pair.action) as is_favourite,
      ${actionDescription(tx, sql`pair.action`, sql`pair.type`)} as action_description
    from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as pair (place integer, type text, id text, action text)
    order by pair.place`)
}
