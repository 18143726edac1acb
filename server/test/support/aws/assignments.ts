import type * as sso from '@aws-sdk/client-sso-admin'
import { type Act, type Cloud, type Fate, holds, newRequestId, type Seat, sameSeat, settle, shows } from './cloud.ts'
import { refuse } from './model.ts'
import { page } from './pages.ts'
import { checkInstance, findSet, goingOn } from './permission-sets.ts'
import { AwsError, type Call, type Handlers } from './wire.ts'

/** What a call that begins an act is told of its end by whoever runs the test; undefined: it ends as it should. */
export type Fates = (operation: string, input: object) => Fate | undefined

export const assignmentHandlers = (cloud: Cloud, fates: Fates) =>
  ({
    CreateAccountAssignment: (input: sso.CreateAccountAssignmentRequest): sso.CreateAccountAssignmentResponse => {
      const seat = seatOf(cloud, input)
      const again = goingOn(cloud, (act) => act.kind === 'create' && act.seat !== null && sameSeat(act.seat, seat))
      if (again || holds(cloud, seat) !== undefined) cloud.book.needless_grants++
      const fate = fates('CreateAccountAssignment', input) ?? { status: 'SUCCEEDED' }
      const act = begin(
        cloud,
        { kind: 'create', account: seat.account, set: seat.set, seat },
        refusalOf(cloud, seat) ?? fate,
      )
      return { AccountAssignmentCreationStatus: shown(act) }
    },

    DeleteAccountAssignment: (input: sso.DeleteAccountAssignmentRequest): sso.DeleteAccountAssignmentResponse => {
      const seat = seatOf(cloud, input)
      const fate = fates('DeleteAccountAssignment', input) ?? { status: 'SUCCEEDED' }
      const act = begin(
        cloud,
        { kind: 'delete', account: seat.account, set: seat.set, seat },
        absenceOf(cloud, seat) ?? fate,
      )
      return { AccountAssignmentDeletionStatus: shown(act) }
    },

    ProvisionPermissionSet: (input: sso.ProvisionPermissionSetRequest): sso.ProvisionPermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      const set = findSet(cloud, input.PermissionSetArn)
      if ((input.TargetType === 'AWS_ACCOUNT') !== (input.TargetId !== undefined))
        refuse('sso', 'TargetId goes with the TargetType AWS_ACCOUNT')
      const account = input.TargetId ?? null
      if (account !== null && !set.provisioned.has(account))
        throw new AwsError('ResourceNotFoundException', `${set.arn} is not provisioned in ${account}`)
      const fate = fates('ProvisionPermissionSet', input) ?? { status: 'SUCCEEDED' }
      const act = begin(cloud, { kind: 'provision', account, set: set.arn, seat: null }, fate)
      return { PermissionSetProvisioningStatus: shownProvision(act) }
    },
    ...statusHandlers(cloud),
    ...listHandlers(cloud),
  }) as const satisfies Handlers

const statusHandlers = (cloud: Cloud) =>
  ({
    DescribeAccountAssignmentCreationStatus: (
      input: sso.DescribeAccountAssignmentCreationStatusRequest,
    ): sso.DescribeAccountAssignmentCreationStatusResponse => {
      const act = look(cloud, input.InstanceArn, 'create', input.AccountAssignmentCreationRequestId)
      return { AccountAssignmentCreationStatus: shown(act) }
    },

    DescribeAccountAssignmentDeletionStatus: (
      input: sso.DescribeAccountAssignmentDeletionStatusRequest,
    ): sso.DescribeAccountAssignmentDeletionStatusResponse => {
      const act = look(cloud, input.InstanceArn, 'delete', input.AccountAssignmentDeletionRequestId)
      return { AccountAssignmentDeletionStatus: shown(act) }
    },

    DescribePermissionSetProvisioningStatus: (
      input: sso.DescribePermissionSetProvisioningStatusRequest,
    ): sso.DescribePermissionSetProvisioningStatusResponse => {
      const act = look(cloud, input.InstanceArn, 'provision', input.ProvisionPermissionSetRequestId)
      return { PermissionSetProvisioningStatus: shownProvision(act) }
    },

    ListAccountAssignmentCreationStatus: (
      input: sso.ListAccountAssignmentCreationStatusRequest,
      call: Call,
    ): sso.ListAccountAssignmentCreationStatusResponse => {
      const { items, NextToken } = page(call, actsOf(cloud, 'create', input), cloud.settings.page)
      return { AccountAssignmentsCreationStatus: items, NextToken }
    },

    ListAccountAssignmentDeletionStatus: (
      input: sso.ListAccountAssignmentDeletionStatusRequest,
      call: Call,
    ): sso.ListAccountAssignmentDeletionStatusResponse => {
      const { items, NextToken } = page(call, actsOf(cloud, 'delete', input), cloud.settings.page)
      return { AccountAssignmentsDeletionStatus: items, NextToken }
    },
  }) as const satisfies Handlers

const listHandlers = (cloud: Cloud) =>
  ({
    ListAccountAssignments: (
      input: sso.ListAccountAssignmentsRequest,
      call: Call,
    ): sso.ListAccountAssignmentsResponse => {
      checkInstance(cloud, input.InstanceArn)
      const set = findSet(cloud, input.PermissionSetArn)
      checkAccount(cloud, input.AccountId)
      const listed = listedSeats(cloud, (one) => one.set === set.arn && one.account === input.AccountId)
      const { items, NextToken } = page(call, listed, cloud.settings.page)
      return { AccountAssignments: items, NextToken }
    },

    ListAccountAssignmentsForPrincipal: (
      input: sso.ListAccountAssignmentsForPrincipalRequest,
      call: Call,
    ): sso.ListAccountAssignmentsForPrincipalResponse => {
      checkInstance(cloud, input.InstanceArn)
      const only = input.Filter?.AccountId
      const listed = listedSeats(
        cloud,
        (one) =>
          one.principal === input.PrincipalId &&
          one.principal_type === input.PrincipalType &&
          (only === undefined || one.account === only),
      )
      const { items, NextToken } = page(call, listed, cloud.settings.page)
      return { AccountAssignments: items, NextToken }
    },
  }) as const satisfies Handlers

function seatOf(cloud: Cloud, input: sso.CreateAccountAssignmentRequest): Seat {
  checkInstance(cloud, input.InstanceArn)
  if (input.TargetType !== 'AWS_ACCOUNT') refuse('sso', `TargetType ${input.TargetType} is not AWS_ACCOUNT`)
  const { arn } = findSet(cloud, input.PermissionSetArn)
  checkAccount(cloud, input.TargetId)
  const { TargetId = '', PrincipalId = '', PrincipalType = 'USER' } = input
  return { account: TargetId, set: arn, principal_type: PrincipalType, principal: PrincipalId }
}

function checkAccount(cloud: Cloud, id: string | undefined): void {
  if (!cloud.accounts.has(id ?? '')) throw new AwsError('ResourceNotFoundException', `Account ${id} not found`)
}

/** Why a grant fails that was taken on: found out only on the way. */
function refusalOf(cloud: Cloud, { account, principal, principal_type }: Seat): Fate | undefined {
  const reason = (text: string): Fate => ({ status: 'FAILED', reason: text })
  if (principal_type !== 'USER' || !cloud.users.has(principal))
    return reason(
      `Received a 404 status error: the ${principal_type} assignee ${principal} was not found in directory ${cloud.identity_store_id}`,
    )
  const { status } = cloud.accounts.get(account) ?? {}
  return status === 'ACTIVE' ? undefined : reason(`Received a 403 status error: account ${account} is ${status}`)
}

/** Taking away what is not there fails, on the way. */
function absenceOf(cloud: Cloud, seat: Seat): Fate | undefined {
  if (holds(cloud, seat) !== undefined) return undefined
  const key = `EntitlementKey{accessorId=${seat.principal}, resourceId=${seat.account}, auxiliaryResourceId=${seat.set}}`
  return {
    status: 'FAILED',
    reason: `Received a 404 status error: EntitlementItem doesn't exist with the given entitlement key ${key}`,
  }
}

/** Takes an act on, where there is room for it: one at a time in an account, so many in an instance. */
function begin(cloud: Cloud, act: Pick<Act, 'kind' | 'account' | 'set' | 'seat'>, fate: Fate): Act {
  const { book, settings } = cloud
  const inTheWay = cloud.acts.values().find((one) => one.status === 'IN_PROGRESS' && meets(cloud, one, act))
  if (inTheWay !== undefined) {
    inTheWay.looks++
    throw new AwsError('ConflictException', 'There is a conflicting operation in process. Please try again later.')
  }
  const going = cloud.acts
    .values()
    .filter(({ status }) => status === 'IN_PROGRESS')
    .toArray().length
  if (going >= settings.outstanding)
    throw new AwsError('ThrottlingException', 'There are too many requests processing. Please try again later.')
  const begun: Act = {
    ...act,
    fate,
    id: newRequestId(),
    since: performance.now(),
    looks: 0,
    status: 'IN_PROGRESS',
    reason: undefined,
    created: new Date(),
  }
  cloud.acts.set(begun.id, begun)
  book.most_outstanding = Math.max(book.most_outstanding, going + 1)
  return begun
}

/** Whether two acts change roles in one account: what is provisioned everywhere changes all where the set is. */
function meets(cloud: Cloud, one: Pick<Act, 'account' | 'set'>, other: Pick<Act, 'account' | 'set'>): boolean {
  const where = ({ account, set }: Pick<Act, 'account' | 'set'>): string[] =>
    account === null ? [...(cloud.sets.get(set)?.provisioned.keys() ?? [])] : [account]
  const [here, there] = [where(one), where(other)]
  return here.some((account) => there.includes(account))
}

function look(cloud: Cloud, instance: string | undefined, kind: Act['kind'], id: string | undefined): Act {
  checkInstance(cloud, instance)
  const act = cloud.acts.get(id ?? '')
  if (act?.kind !== kind) throw new AwsError('ResourceNotFoundException', `Request not found: ${id}`)
  act.looks++
  settle(cloud)
  return act
}

type StatusQuestion = { InstanceArn?: string | undefined; Filter?: sso.OperationStatusFilter | undefined }

function actsOf(
  cloud: Cloud,
  kind: Act['kind'],
  { InstanceArn, Filter }: StatusQuestion,
): sso.AccountAssignmentOperationStatusMetadata[] {
  checkInstance(cloud, InstanceArn)
  return [...cloud.acts.values()]
    .filter((act) => act.kind === kind && (Filter?.Status === undefined || Filter.Status === act.status))
    .map((act) => ({ Status: act.status, RequestId: act.id, CreatedDate: act.created }))
}

function listedSeats(cloud: Cloud, test: (seat: Seat) => boolean): sso.AccountAssignment[] {
  const listed = cloud.assignments.filter((one) => test(one) && shows(cloud, one.from, one.to))
  // One that went and came again within the lag is listed once.
  const seats = new Map(listed.map((one) => [JSON.stringify([one.account, one.set, one.principal]), one]))
  return [...seats.values()].map(({ account, set, principal, principal_type }) => ({
    AccountId: account,
    PermissionSetArn: set,
    PrincipalId: principal,
    PrincipalType: principal_type,
  }))
}

function shown({ id, status, reason, seat, created }: Act): sso.AccountAssignmentOperationStatus {
  return {
    Status: status,
    RequestId: id,
    FailureReason: reason,
    TargetId: seat?.account,
    TargetType: 'AWS_ACCOUNT',
    PermissionSetArn: seat?.set,
    PrincipalType: seat?.principal_type,
    PrincipalId: seat?.principal,
    CreatedDate: created,
  }
}

function shownProvision({ id, status, reason, account, set, created }: Act): sso.PermissionSetProvisioningStatus {
  return {
    Status: status,
    RequestId: id,
    FailureReason: reason,
    AccountId: account ?? undefined,
    PermissionSetArn: set,
    CreatedDate: created,
  }
}
