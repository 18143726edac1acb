import { randomBytes, randomUUID } from 'node:crypto'
import type { User as IdentityStoreUser } from '@aws-sdk/client-identitystore'
import type { CallLog } from './call-log.ts'
import type { Key } from './signature.ts'

export type Account = {
  id: string
  name: string
  status: 'ACTIVE' | 'SUSPENDED' | 'PENDING_CLOSURE'
  parent: string
  tags: ReadonlyMap<string, string>
}
export type Unit = { id: string; name: string; parent: string }
export type User = {
  id: string
  user_name: string
  display_name: string
  external_ids: { Issuer: string; Id: string }[]
  more: UserDetails
}
/** What a user may have beside names; `enterprise`: shown to those who ask for the extension. */
export type UserDetails = Pick<IdentityStoreUser, 'Name' | 'Emails' | 'Title' | 'UserStatus'> & {
  enterprise?: Readonly<Record<string, unknown>>
}
/** A group of the directory; `members`: ids of users. */
export type Group = { id: string; name: string; members: Set<string> }
/** A database instance. `host`: null while it is being made. */
export type Database = {
  arn: string
  name: string
  account: string
  region: string
  engine: string
  host: string | null
  port: number
  resource_id: string
  tags: ReadonlyMap<string, string>
}
/** An open session on a machine; `owner`: the ARN that opened it. */
export type ShellSession = {
  id: string
  account: string
  region: string
  target: string
  owner: string
  ended: boolean
}
/**
 * A role that can be assumed: its trusted callers and its external id, or its whole trust policy in their place; its actions. `actions`: null
 * for all.
 */
export type Role = {
  arn: string
  external_id: string | null
  trusts: readonly string[]
  trust?: string
  actions: readonly string[] | null
  max_seconds: number
}

/** The moment of a change: by the clock, and by the count of list calls. */
export type Moment = { at: number; lists: number }

/** The content of a permission set. */
export type SetContents = { inline_policy: string; session_duration: string; managed: string[] }
export type PermissionSet = {
  arn: string
  name: string
  description: string | undefined
  relay_state: string | undefined
  contents: SetContents
  tags: Map<string, string>
  made_at: Date
  created: Moment
  deleted: Moment | null
  /** Per account the content of its role: that of the last provisioning there. */
  provisioned: Map<string, SetContents>
  /** Per account the id of its role, as long as there is one. */
  roles: Map<string, string>
}

/** A permission set for one principal on one account. */
export type Seat = { account: string; set: string; principal_type: 'USER' | 'GROUP'; principal: string }
export type Assignment = Seat & { from: Moment; to: Moment | null; by: 'call' | 'hand' }

/** How an act in progress will end; `never`: it stays in progress. */
export type Fate = { status: 'SUCCEEDED' } | { status: 'FAILED'; reason: string } | { status: 'never' }
export type Act = {
  id: string
  kind: 'create' | 'delete' | 'provision'
  /** Null: all accounts that have the set. */
  account: string | null
  set: string
  seat: Seat | null
  /** On the monotonic clock, in milliseconds; `created` is the time that answers show. */
  since: number
  created: Date
  checks: number
  status: 'IN_PROGRESS' | 'SUCCEEDED' | 'FAILED'
  reason: string | undefined
  fate: Fate
}

/** How the service behaves without misdeeds; times in milliseconds. */
export type Settings = {
  /** Calls per second, for each service. */
  rate: number
  /** Acts in progress at once, in an instance. */
  outstanding: number
  /** An act ends after this time, and not before this many status checks. */
  acts: { ms: number; checks: number }
  /** Lists show the state of this long ago, and of this many list calls ago. */
  listLag: { ms: number; lists: number }
  /** The maximum length of a page. */
  page: number
  /** How many permission sets an instance may have. */
  maxSets: number
  /** Whether policies are shown as they were put, or in another form that says the same. */
  policies: 'as put' | 'in another form'
  /**
   * The forms of ids. `prefixed`: those of users and groups begin with that of their store; `store too`: that of the store is a UUID, too;
   * `uuid`: UUIDs in a store `d-…`.
   */
  ids: 'uuid' | 'prefixed' | 'store too'
  /** How many instances the role finds: none in another region than the organization's. */
  instances: number
}

/** Everything in the simulated organization. */
export type Cloud = {
  region: string
  instance_arn: string
  /** Those of the instance itself. */
  instance_tags: Map<string, string>
  identity_store_id: string
  management_account: string
  organization_id: string
  root_id: string
  settings: Settings
  log: CallLog
  keys: Map<string, Key>
  roles: Map<string, Role>
  users: Map<string, User>
  groups: Map<string, Group>
  accounts: Map<string, Account>
  units: Map<string, Unit>
  sets: Map<string, PermissionSet>
  assignments: Assignment[]
  acts: Map<string, Act>
  shells: Map<string, ShellSession>
  databases: Map<string, Database>
  /** The number of list calls so far. */
  lists: number
}

export const nowIn = (cloud: Cloud): Moment => ({ at: performance.now(), lists: cloud.lists })

/** Whether lists already show a change made at this moment. */
export const isListed = ({ settings, lists }: Cloud, moment: Moment): boolean =>
  performance.now() - moment.at >= settings.listLag.ms && lists - moment.lists > settings.listLag.lists

/** Whether a list shows an item, with a delay for its creation and its removal. */
export const shows = (cloud: Cloud, from: Moment, to: Moment | null): boolean =>
  isListed(cloud, from) && (to === null || !isListed(cloud, to))

export const sameSeat = (one: Seat, other: Seat): boolean =>
  one.account === other.account && one.set === other.set && one.principal === other.principal

export const holds = (cloud: Cloud, seat: Seat): Assignment | undefined =>
  cloud.assignments.find((one) => one.to === null && sameSeat(one, seat))

/** Creates an assignment, and with it the set's role in the account. */
export function assign(cloud: Cloud, seat: Seat, by: 'call' | 'hand'): void {
  const set = cloud.sets.get(seat.set)
  if (holds(cloud, seat) !== undefined || set === undefined) return
  cloud.assignments.push({ ...seat, from: nowIn(cloud), to: null, by })
  if (set.provisioned.has(seat.account)) return
  set.provisioned.set(seat.account, structuredClone(set.contents))
  set.roles.set(seat.account, `AROA${hex(16).toUpperCase()}`)
}

/** Ends an assignment; with the last one of its set in the account, also the role there. */
export function unassign(cloud: Cloud, seat: Seat): void {
  const found = holds(cloud, seat)
  if (found === undefined) return
  found.to = nowIn(cloud)
  const others = cloud.assignments.some(
    ({ to, account, set }) => to === null && account === seat.account && set === seat.set,
  )
  if (others) return
  cloud.sets.get(seat.set)?.provisioned.delete(seat.account)
  cloud.sets.get(seat.set)?.roles.delete(seat.account)
}

/** Ends each act that is due, in the order in which they were begun. */
export function settle(cloud: Cloud): void {
  for (const act of cloud.acts.values()) {
    const { ms, checks } = cloud.settings.acts
    if (act.status !== 'IN_PROGRESS' || act.fate.status === 'never') continue
    if (performance.now() - act.since >= ms && act.checks >= checks) end(cloud, act, act.fate)
  }
}

function end(cloud: Cloud, act: Act, wanted: Exclude<Fate, { status: 'never' }>): void {
  const { deleted } = cloud.sets.get(act.set) ?? {}
  const lost = deleted !== null || (act.account !== null && !cloud.accounts.has(act.account))
  const fate = lost
    ? ({ status: 'FAILED', reason: 'Received a 404 status error: it was deleted meanwhile' } as const)
    : wanted
  act.status = fate.status
  act.reason = fate.status === 'FAILED' ? fate.reason : undefined
  if (fate.status === 'FAILED') return
  if (act.kind === 'create' && act.seat !== null) assign(cloud, act.seat, 'call')
  if (act.kind === 'delete' && act.seat !== null) unassign(cloud, act.seat)
  if (act.kind === 'provision') provision(cloud, act)
}

function provision(cloud: Cloud, { set, account }: Act): void {
  const found = cloud.sets.get(set)
  if (found === undefined) return
  for (const where of found.provisioned.keys())
    if (account === null || account === where) found.provisioned.set(where, structuredClone(found.contents))
}

/** Ends every act that would otherwise never end. */
export function release(cloud: Cloud): void {
  for (const act of cloud.acts.values()) if (act.fate.status === 'never') act.fate = { status: 'SUCCEEDED' }
}

/** A name as the service makes them: lower-case hex. */
export const hex = (length: number): string => randomBytes(length).toString('hex').slice(0, length)
export const newRequestId = (): string => randomUUID()
/** The id of a user or a group. */
export function newPrincipalId({ settings, identity_store_id }: Cloud): string {
  return settings.ids === 'prefixed' ? `${identity_store_id.slice(2)}-${randomUUID()}` : randomUUID()
}
