import { setTimeout as pause } from 'node:timers/promises'
import { readEgressAllow } from '../../src/egress/allow-list.ts'
import { openEgress } from '../../src/egress/egress.ts'
import type { Tx } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { awsIdentityCenterAt } from '../../src/provisioners/aws-identity-center/aws-identity-center.ts'
import { ownSetName, tagKeys } from '../../src/provisioners/aws-identity-center/own-set.ts'
import {
  type Driver,
  NotNow,
  type Opening,
  type PlanInput,
  type Progress,
  type Target,
} from '../../src/provisioners/driver.ts'
import type { Break, Stage } from '../conformance/stage.ts'
import { openAws, operator, operatorEnvironment } from './aws/aws.ts'
import type { Misdeed } from './aws/misdeeds.ts'
import type { TestDatabase } from './database.ts'
import { quickLimits } from './quick-limits.ts'

/** Makes the SDK's default credential chain find the operator's key, and no credential of this machine. */
function beOperator(): void {
  Object.assign(process.env, operatorEnvironment)
}

const databaseArn = 'arn:aws:rds:eu-west-1:123456789012:db:orders'

export type AwsTarget = Awaited<ReturnType<typeof openAwsTarget>>

/** A simulated AWS with accounts, users and permission sets, and the opening that a driver needs to act there. `more`: of its config. */
export async function openAwsTarget(settings: Parameters<typeof openAws>[0] = {}, more: Record<string, unknown> = {}) {
  beOperator()
  const aws = await openAws({ rate: 10_000, outstanding: 1_000, ...settings })
  const external_id = `external-id-${newId()}`
  const role_arn = aws.addRole(external_id)
  const accounts = [aws.addAccount(), aws.addAccount()] as const
  const sets = { ReadOnly: aws.addPermissionSet('ReadOnly'), Administrator: aws.addPermissionSet('Administrator') }
  const config = {
    region: aws.region,
    instance_arn: aws.instance_arn,
    identity_store_id: aws.identity_store_id,
    role_arn,
    external_id,
    endpoint: aws.origin,
    permission_sets: { Admin: 'Administrator' },
    bucket_actions: { ReadObjects: 'read' },
    session_hours: 2,
    portal_url: `https://${aws.identity_store_id}.awsapps.com/start`,
    ...more,
  }
  const opening: Opening = {
    tenant_id: newId(),
    provisioner_id: newId(),
    config,
    previous: {},
    egress: openEgress(readEgressAllow('127.0.0.1')),
    public_url: 'http://127.0.0.1',
  }
  /** A grant for a new user whom the directory knows. */
  const inputFor = (resource: PlanInput['resource'], action: string): PlanInput & { principal_id: string } => {
    const id = newId()
    const email = `${id}@example.com`
    const principal_id = aws.addUser(email)
    return {
      grant_id: newId(),
      first_grant_id: newId(),
      user: { id, email, name: 'Ada', external_id: null },
      resource,
      account_id: accounts[0],
      permission_set: null,
      action,
      duration_seconds: 3_600,
      audit_session: false,
      principal_id,
    }
  }
  return { aws, config, opening, accounts, sets, external_id, role_arn, inputFor }
}

/** The AWS driver never uses its transaction. */
export const noTx = {} as Tx

/** Runs a driver's act to its end, as the ledger does, but without pauses. */
export async function toTheEnd(driver: Driver, target: Target, begin: () => Promise<Progress>): Promise<string[]> {
  const references: string[] = []
  let progress = await untilRoom(begin)
  while (!progress.done) {
    const { reference } = progress
    references.push(reference)
    progress = await untilRoom(() => driver.poll(noTx, target, reference, patient))
  }
  return references
}

async function untilRoom<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof NotNow)) throw error
      await pause(Math.min(error.after_ms, 50))
    }
  }
}

export const patient = new AbortController().signal

type Seat = { account: string; set: string; principal: string }

/** For tests that are not about limits. */
export const quick = awsIdentityCenterAt(quickLimits, 0)

/** Existing permission sets, assigned on accounts. */
export async function accountStage(db: TestDatabase, more: Record<string, unknown> = {}): Promise<Stage> {
  const target = await openAwsTarget({}, more)
  const { aws, sets, accounts, inputFor } = target
  const makeInput = () => Promise.resolve(inputFor({ type: 'cloud_account', id: accounts[0] }, 'ReadOnly'))
  const seatOf = (one: PlanInput): Seat => ({
    account: one.account_id ?? '',
    set: one.action === 'ReadOnly' ? sets.ReadOnly : sets.Administrator,
    principal: principalOf(one),
  })
  return {
    ...stageOf(db, target),
    makeInput,
    others: (one) => [
      { ...one, action: 'Administrator' },
      { ...one, account_id: accounts[1], resource: { ...one.resource, id: accounts[1] } },
    ],
    target: {
      ...sightOf(target, seatOf),
      async give(one) {
        const { account, set, principal } = seatOf(one)
        aws.assignByHand(account, set, principal)
      },
    },
    endsByItself: false,
  }
}

/** The same with `cut_sessions`. Another user has the sets on the accounts, so that their roles stay, with sessions to cut. */
export async function cuttingStage(db: TestDatabase): Promise<Stage> {
  const stage = await accountStage(db, { cut_sessions: true })
  const input = await stage.makeInput()
  for (const one of [input, ...stage.others(input)]) await stage.target.give(one)
  return stage
}

/** Permission sets created for one user and one resource. */
export async function bucketStage(db: TestDatabase): Promise<Stage> {
  const target = await openAwsTarget()
  const { aws, accounts, inputFor, opening } = target
  const makeInput = () => Promise.resolve(inputFor({ type: 'cloud_storage_bucket', id: 'play-logs' }, 'read'))
  const nameOf = ({ user, account_id, resource, action }: PlanInput) =>
    ownSetName(opening.tenant_id, user.id, account_id ?? '', {
      on: 'bucket',
      bucket: resource.id,
      may: action as 'read',
    })
  const arnOf = (one: PlanInput) => aws.permissionSets().find(({ name }) => name === nameOf(one))?.arn
  const seatOf = (one: PlanInput): Seat => ({
    account: one.account_id ?? '',
    set: arnOf(one) ?? '',
    principal: principalOf(one),
  })
  return {
    ...stageOf(db, target),
    makeInput,
    others: (one) => [
      { ...one, action: 'write' },
      { ...one, account_id: accounts[1] },
      { ...one, resource: { ...one.resource, id: 'other-logs' } },
    ],
    target: {
      ...sightOf(target, seatOf),
      async give(one) {
        const set = arnOf(one) ?? aws.addPermissionSet(nameOf(one), { [tagKeys.tenant]: opening.tenant_id })
        aws.assignByHand(one.account_id ?? '', set, principalOf(one))
      },
    },
    // The other faults affect both kinds of set alike.
    breaks: [misdeed(aws, 'it makes no set', 'CreatePermissionSet', { error: 'ServiceQuotaExceededException' }, false)],
    endsByItself: true,
  }
}

function principalOf(input: PlanInput): string {
  return (input as PlanInput & { principal_id: string }).principal_id
}

function sightOf({ aws }: AwsTarget, seatOf: (input: PlanInput) => Seat) {
  return {
    sees: () =>
      Promise.resolve(
        [
          ...aws.assignments().map((one) => `${one.principal} has ${one.set} on ${one.account}`),
          ...aws.permissionSets().map((one) => `${one.name} ${one.arn}`),
        ].sort(),
      ),
    async holds(input: PlanInput) {
      const { account, set, principal } = seatOf(input)
      return aws.assignments().some((one) => one.account === account && one.set === set && one.principal === principal)
    },
    async take(input: PlanInput) {
      const { account, set, principal } = seatOf(input)
      aws.unassignByHand(account, set, principal)
    },
  }
}

function misdeed(aws: AwsTarget['aws'], name: string, operation: string, what: Misdeed, healthSees: boolean): Break {
  return {
    name,
    async begin() {
      const end = aws.always(operation, what)
      return async () => end()
    },
    healthSees,
  }
}

function stageOf({ database }: TestDatabase, target: AwsTarget) {
  const { aws, opening, config, external_id, role_arn, inputFor } = target
  return {
    type: quick,
    opening,
    tx: database.tenant(opening.tenant_id),
    unknown: {
      ...inputFor({ type: 'cloud_account', id: '999999999999' }, 'ReadOnly'),
      account_id: '999999999999',
    },
    breaks: [
      misdeed(aws, 'it throttles', '*', { error: 'ThrottlingException' }, true),
      misdeed(aws, 'it fails inside', '*', { error: 'InternalServerException' }, true),
      misdeed(aws, 'it does, and does not answer', '*', { cut: 'after' }, true),
      misdeed(aws, 'it answers half', '*', { cut: 'half' }, true),
      misdeed(aws, 'something else is under way', 'CreateAccountAssignment', { error: 'ConflictException' }, false),
      misdeed(
        aws,
        'it ends them as failed',
        'CreateAccountAssignment',
        { end: { status: 'FAILED', reason: 'Internal' } },
        false,
      ),
      {
        name: 'the role lets nobody in',
        async begin() {
          aws.setExternalId(role_arn, 'another-one')
          aws.endSessions()
          return async () => aws.setExternalId(role_arn, external_id)
        },
        healthSees: true,
      },
    ],
    secrets: [external_id, operator.secretAccessKey],
    faulty: [
      { config: { ...config, region: 'Mars' }, pointer: '/config/region' },
      { config: { ...config, instance_arn: 'arn:aws:sso:::instance/1' }, pointer: '/config/instance_arn' },
      { config: { ...config, role_arn: 'arn:aws:iam::1:role/x' }, pointer: '/config/role_arn' },
      { config: { ...config, endpoint: 'https://198.51.100.7/' }, pointer: '/config/endpoint' },
      // A public address that is neither AWS's own nor listed by the operator.
      { config: { ...config, endpoint: 'https://8.8.8.8/' }, pointer: '/config/endpoint' },
      { config: { ...config, endpoint: 'http://127.0.0.2:80' }, pointer: '/config/endpoint' },
      {
        config: { ...config, endpoint: 'https://abc123.execute-api.eu-west-1.amazonaws.com/' },
        pointer: '/config/endpoint',
      },
      { config: { ...config, user_name: 'local_part' }, pointer: '/config/email_domain' },
      { config: { ...config, email_domain: 'example.com' }, pointer: '/config/email_domain' },
      { config: { ...config, session_hours: 13 }, pointer: '/config/session_hours' },
      { config: { ...config, inventory_role: 'admin' }, pointer: '/config/inventory_role' },
      { config: { ...config, inventory_regions: ['Mars'] }, pointer: '/config/inventory_regions' },
      { config: { ...config, cut_sessions: 'yes' }, pointer: '/config/cut_sessions' },
      ...[
        { host: 'db.example.com' },
        { host: '-x', port: 5432 },
        { host: 'a b', port: 5432 },
        { host: 'a', port: '5432' },
      ].map((place) => ({
        config: { ...config, databases: { [databaseArn]: { resource_id: 'db-ABC', users: { read: 'ro' }, ...place } } },
        pointer: `/config/databases/${databaseArn}`,
      })),
      ...[
        'http://acme.awsapps.com/start',
        'https://acme.awsapps.com.evil.example/start',
        'https://evil.example/start',
      ].map((portal_url) => ({ config: { ...config, portal_url }, pointer: '/config/portal_url' })),
      { config: { ...config, portal_url: 'https://acme.awsapps.com/start/#/' }, pointer: '/config/portal_url' },
      {
        config: {
          ...config,
          permission_sets: { Admin: `arn:aws:sso:::permissionSet/ssoins-${'0'.repeat(16)}/ps-${'0'.repeat(16)}` },
        },
        pointer: '/config/permission_sets/Admin',
      },
      { config: { ...config, bucket_actions: { Any: 'all' } }, pointer: '/config/bucket_actions/Any' },
    ],
  }
}
