import type * as sso from '@aws-sdk/client-sso-admin'
import { beginAct, checkAct, checkInstance, goingOn, shownAct, shownProvisioning } from './acts.ts'
import { type Act, type Cloud, type Fate, holds, type Seat, sameSeat, shows } from './cloud.ts'
import { refuse } from './model.ts'
import { page } from './pages.ts'
import { findSet } from './permission-sets.ts'
import { AwsError, type Call, type Handlers } from './wire.ts'

/** The fate that a test gives the act that a call begins; undefined: the act ends as it should. */
export type Fates = (operation: string, input: object) => Fate | undefined

export const assignmentHandlers = (cloud: Cloud, fates: Fates) =>
  ({
    CreateAccountAssignment: (input: sso.CreateAccountAssignmentRequest): sso.CreateAccountAssignmentResponse => {
      const seat = seatOf(cloud, input)
      const again = goingOn(cloud, (act) => act.kind === 'create' && act.seat !== null && sameSeat(act.seat, seat))
      if (again || holds(cloud, seat) !== undefined) cloud.log.needless_grants++
      const act = beginAct(
        cloud,
        { kind: 'create', account: seat.account, set: seat.set, seat },
        () => refusalOf(cloud, seat) ?? fates('CreateAccountAssignment', input),
      )
      return { AccountAssignmentCreationStatus: shownAct(act) }
    },

    DeleteAccountAssignment: (input: sso.DeleteAccountAssignmentRequest): sso.DeleteAccountAssignmentResponse => {
      const seat = seatOf(cloud, input)
      const act = beginAct(
        cloud,
        { kind: 'delete', account: seat.account, set: seat.set, seat },
        () => absenceOf(cloud, seat) ?? fates('DeleteAccountAssignment', input),
      )
      return { AccountAssignmentDeletionStatus: shownAct(act) }
    },

    ProvisionPermissionSet: (input: sso.ProvisionPermissionSetRequest): sso.ProvisionPermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      const set = findSet(cloud, input.PermissionSetArn)
      if ((input.TargetType === 'AWS_ACCOUNT') !== (input.TargetId !== undefined))
        refuse('sso', 'TargetId goes with the TargetType AWS_ACCOUNT')
      const account = input.TargetId ?? null
      if (account !== null && !set.provisioned.has(account))
        throw new AwsError('ResourceNotFoundException', `${set.arn} is not provisioned in ${account}`)
      const act = beginAct(cloud, { kind: 'provision', account, set: set.arn, seat: null }, () =>
        fates('ProvisionPermissionSet', input),
      )
      return { PermissionSetProvisioningStatus: shownProvisioning(act) }
    },
    ...statusHandlers(cloud),
    ...listHandlers(cloud),
  }) as const satisfies Handlers

const statusHandlers = (cloud: Cloud) =>
  ({
    DescribeAccountAssignmentCreationStatus: (
      input: sso.DescribeAccountAssignmentCreationStatusRequest,
    ): sso.DescribeAccountAssignmentCreationStatusResponse => {
      const act = checkAct(cloud, input.InstanceArn, 'create', input.AccountAssignmentCreationRequestId)
      return { AccountAssignmentCreationStatus: shownAct(act) }
    },

    DescribeAccountAssignmentDeletionStatus: (
      input: sso.DescribeAccountAssignmentDeletionStatusRequest,
    ): sso.DescribeAccountAssignmentDeletionStatusResponse => {
      const act = checkAct(cloud, input.InstanceArn, 'delete', input.AccountAssignmentDeletionRequestId)
      return { AccountAssignmentDeletionStatus: shownAct(act) }
    },

    DescribePermissionSetProvisioningStatus: (
      input: sso.DescribePermissionSetProvisioningStatusRequest,
    ): sso.DescribePermissionSetProvisioningStatusResponse => {
      const act = checkAct(cloud, input.InstanceArn, 'provision', input.ProvisionPermissionSetRequestId)
      return { PermissionSetProvisioningStatus: shownProvisioning(act) }
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
      const { PrincipalId = '', PrincipalType } = input
      const only = input.Filter?.AccountId
      const listed = listedSeats(
        cloud,
        (one) =>
          ((one.principal === PrincipalId && one.principal_type === PrincipalType) ||
            (PrincipalType === 'USER' && cloud.groups.get(one.principal)?.members.has(PrincipalId) === true)) &&
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

const failure = (reason: string): Fate => ({ status: 'FAILED', reason })

/** Why an act that has begun fails because its account or user is gone: AWS finds out only while it works. */
function refusalOf(cloud: Cloud, { account, principal, principal_type }: Seat): Fate | undefined {
  if (!(principal_type === 'USER' ? cloud.users : cloud.groups).has(principal))
    return failure(
      `Received a 404 status error: the ${principal_type} assignee ${principal} was not found in directory ${cloud.identity_store_id}`,
    )
  const { status } = cloud.accounts.get(account) ?? {}
  return status === 'ACTIVE' ? undefined : failure(`Received a 403 status error: account ${account} is ${status}`)
}

/** Revoking an assignment that does not exist fails too, after the act has begun. */
function absenceOf(cloud: Cloud, seat: Seat): Fate | undefined {
  const refused = refusalOf(cloud, seat)
  if (refused !== undefined || holds(cloud, seat) !== undefined) return refused
  const key = `EntitlementKey{accessorId=${seat.principal}, resourceId=${seat.account}, auxiliaryResourceId=${seat.set}}`
  return failure(`Received a 404 status error: EntitlementItem doesn't exist with the given entitlement key ${key}`)
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
  // An assignment that was removed and made again within the lag is listed once.
  const seats = new Map(listed.map((one) => [JSON.stringify([one.account, one.set, one.principal]), one]))
  return [...seats.values()].map(({ account, set, principal, principal_type }) => ({
    AccountId: account,
    PermissionSetArn: set,
    PrincipalId: principal,
    PrincipalType: principal_type,
  }))
}
