import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { busiestSecond, type Entry, type Overtaken, openCallLog, overtakenRevokes } from './call-log.ts'
import {
  type Account,
  assign,
  type Cloud,
  hex,
  nowIn,
  release,
  type Seat,
  type SetContents,
  type Settings,
  settle,
  unassign,
} from './cloud.ts'
import { furnishing } from './furnishing.ts'
import { type Misdeed, openMisdeeds, type Victims } from './misdeeds.ts'
import { sessionsIn } from './role-sessions.ts'
import { serveAws } from './server.ts'
import { administrator } from './templates.ts'
import type { ServiceName } from './wire.ts'

const usual: Settings = {
  rate: 20,
  outstanding: 10,
  acts: { ms: 0, checks: 0 },
  listLag: { ms: 0, lists: 0 },
  page: 100,
  maxSets: 3500,
  policies: 'as put',
  ids: 'uuid',
  instances: 1,
}

/** The caller who exists from the start, whose key the operator has. */
export const operator = {
  accessKeyId: 'AKIAOPERATOR00000001',
  secretAccessKey: 'a secret of the operator that is kept with the tests',
  arn: 'arn:aws:iam::111111111111:user/sallyport',
}

/** The environment in which a process finds the operator's key, and no credential of this machine. */
export const operatorEnvironment = {
  AWS_ACCESS_KEY_ID: operator.accessKeyId,
  AWS_SECRET_ACCESS_KEY: operator.secretAccessKey,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
}

export type Aws = Awaited<ReturnType<typeof openAws>>

/**
 * A simulation of the AWS services that Sallyport calls: STS, IAM Identity Center, its directory, Organizations, RDS and Session
 * Manager, over HTTP on 127.0.0.1. It is as strict as the real ones, and misbehaves when a test says so. Open it at the top of
 * a file: it is closed when the file's tests are done.
 */
export async function openAws(settings: Partial<Settings> = {}) {
  const aws = await startAws(settings)
  after(aws.close)
  return aws
}

/** The same for a command that is not a test: the caller closes it. */
export async function startAws(settings: Partial<Settings> = {}) {
  const cloud = emptyCloud({ ...structuredClone(usual), ...settings })
  const misdeeds = openMisdeeds()
  const { origin, close } = await serveAws(cloud, misdeeds)
  return {
    origin,
    region: cloud.region,
    instance_arn: cloud.instance_arn,
    identity_store_id: cloud.identity_store_id,
    management_account: cloud.management_account,
    root_id: cloud.root_id,
    /** May be changed as a test goes. */
    settings: cloud.settings,
    close,
    ...furnishing(cloud, operator.arn),
    ...administrator(cloud),
    ...hands(cloud),
    ...reckoning(cloud),
    ...sessionsIn(cloud),
    /** The next `times` calls of an operation meet a misdeed; `*`: of any operation. */
    next: (victims: string | Victims, misdeed: Misdeed, times = 1): (() => void) =>
      misdeeds.add(typeof victims === 'string' ? { operation: victims } : victims, misdeed, times),
    /** All calls of an operation meet it, until the returned function is called. */
    always: (victims: string | Victims, misdeed: Misdeed): (() => void) =>
      misdeeds.add(typeof victims === 'string' ? { operation: victims } : victims, misdeed),
    /** Ends all misdeeds; acts that would never end now do. */
    behave: (): void => {
      misdeeds.clear()
      release(cloud)
    },
  }
}

function emptyCloud(settings: Settings): Cloud {
  const caller = { arn: operator.arn, account: '111111111111', actions: null, chained: false }
  const [root, management] = [`r-${hex(4)}`, '111111111111']
  return {
    region: 'eu-central-1',
    instance_arn: `arn:aws:sso:::instance/ssoins-${hex(16)}`,
    instance_tags: new Map(),
    identity_store_id: settings.ids === 'store too' ? randomUUID() : `d-${hex(10)}`,
    management_account: management,
    organization_id: `o-${hex(10)}`,
    root_id: root,
    settings,
    log: openCallLog(),
    keys: new Map([[operator.accessKeyId, { id: operator.accessKeyId, secret: operator.secretAccessKey, caller }]]),
    roles: new Map(),
    users: new Map(),
    groups: new Map(),
    accounts: new Map([
      [management, { id: management, name: 'management', status: 'ACTIVE', parent: root, tags: new Map() }],
    ]),
    units: new Map(),
    sets: new Map(),
    assignments: [],
    acts: new Map(),
    shells: new Map(),
    databases: new Map(),
    lists: 0,
  }
}

/** Changes by hand, which the tested driver does not see. */
function hands(cloud: Cloud) {
  const seatOf = (account: string, set: string, principal: string): Seat => ({
    account,
    set,
    principal,
    principal_type: cloud.groups.has(principal) ? 'GROUP' : 'USER',
  })
  return {
    /** `principal`: a user or a group. */
    assignByHand: (account: string, set: string, principal: string): void =>
      assign(cloud, seatOf(account, set, principal), 'hand'),
    unassignByHand: (account: string, set: string, principal: string): void =>
      unassign(cloud, seatOf(account, set, principal)),
    /** With all its assignments. */
    deletePermissionSetByHand(arn: string): void {
      for (const one of cloud.assignments) if (one.set === arn && one.to === null) unassign(cloud, one)
      const set = cloud.sets.get(arn)
      if (set !== undefined) set.deleted = nowIn(cloud)
    },
    /** Replaces a set's inline policy, and provisions it in each account unless told otherwise. */
    setPolicyByHand(arn: string, policy: string, { provisioned = true } = {}): void {
      const set = cloud.sets.get(arn)
      if (set === undefined) return
      set.contents.inline_policy = policy
      if (!provisioned) return
      for (const account of set.provisioned.keys()) set.provisioned.set(account, structuredClone(set.contents))
    },
    setAccountStatus(id: string, status: Account['status']): void {
      const account = cloud.accounts.get(id)
      if (account !== undefined) account.status = status
    },
    /** Deletes the account, with every assignment in it. */
    removeAccount(id: string): void {
      cloud.accounts.delete(id)
      for (const one of cloud.assignments) if (one.account === id) unassign(cloud, one)
    },
    /** Deletes the user, with all of the user's assignments. */
    deleteUserByHand(id: string): void {
      cloud.users.delete(id)
      for (const { members } of cloud.groups.values()) members.delete(id)
      for (const one of cloud.assignments) if (one.principal === id) unassign(cloud, one)
    },
    /** Deletes the group, with all of its assignments. */
    deleteGroupByHand(id: string): void {
      cloud.groups.delete(id)
      for (const one of cloud.assignments) if (one.principal === id) unassign(cloud, one)
    },
    /** Invalidates the keys of every session. */
    endSessions(): void {
      for (const { session } of cloud.keys.values()) if (session !== undefined) session.ends_at = 0
    },
  }
}

/** The current state, and figures about the calls so far. */
function reckoning(cloud: Cloud) {
  const entries = (operation?: string): Entry[] =>
    cloud.log.entries.filter((one) => operation === undefined || one.operation === operation)
  return {
    /** Every call, in order of arrival. */
    entries,
    /** Every operation that succeeded, once each, as IAM names its action. */
    actions: (): string[] =>
      [
        ...new Set(entries().flatMap((one) => (one.outcome === 'ok' ? [`${one.service}:${one.operation}`] : []))),
      ].sort(),
    assignments(): Seat[] {
      settle(cloud)
      const live = cloud.assignments.filter(({ to }) => to === null)
      return live.map(({ account, set, principal, principal_type }) => ({ account, set, principal, principal_type }))
    },
    /** Existing permission sets: their content, and the content of each account's role. */
    permissionSets() {
      settle(cloud)
      const live = [...cloud.sets.values()].filter(({ deleted }) => deleted === null)
      return live.map(({ arn, name, contents, tags, provisioned }) => ({
        arn,
        name,
        contents: structuredClone(contents),
        tags: Object.fromEntries(tags),
        provisioned: Object.fromEntries(provisioned) as Record<string, SetContents>,
      }))
    },
    /** Open sessions on machines. */
    shells: (): string[] => [...cloud.shells.values()].filter(({ ended }) => !ended).map(({ id }) => id),
    /** Acts that are in progress. */
    inProgress(): number {
      settle(cloud)
      return cloud.acts
        .values()
        .filter(({ status }) => status === 'IN_PROGRESS')
        .toArray().length
    },
    mostOutstanding: (): number => cloud.log.max_outstanding,
    needlessGrants: (): number => cloud.log.needless_grants,
    busiestSecond: (service: ServiceName): number => busiestSecond(cloud.log, service),
    overtakenRevokes: (): Overtaken[] => overtakenRevokes(cloud.log),
  }
}
