import type * as sso from '@aws-sdk/client-sso-admin'
import { type Act, type Cloud, type Fate, newRequestId, settle } from './cloud.ts'
import { AwsError } from './wire.ts'

/** @throws AwsError */
export function checkInstance({ instance_arn }: Cloud, given: string | undefined): void {
  if (given !== instance_arn) throw new AwsError('AccessDeniedException', `You do not have access to ${given}`)
}

/** Whether an act in progress matches the test. */
export const goingOn = (cloud: Cloud, test: (act: Act) => boolean): boolean =>
  cloud.acts.values().some((act) => act.status === 'IN_PROGRESS' && test(act))

export const inTheWay = (): AwsError =>
  new AwsError('ConflictException', 'There is a conflicting operation in process. Please try again later.')

type WantedAct = Pick<Act, 'kind' | 'account' | 'set' | 'seat'>

/**
 * Begins an act if there is room for it: one at a time in an account, `outstanding` in an instance.
 * @param fateOf called once the act has begun; undefined: the act ends as it should
 * @throws AwsError
 */
export function beginAct(cloud: Cloud, wanted: WantedAct, fateOf: () => Fate | undefined): Act {
  const { log, settings } = cloud
  const going = cloud.acts
    .values()
    .filter(({ status }) => status === 'IN_PROGRESS')
    .toArray()
  const first = going.find((act) => meet(cloud, act, wanted))
  if (first !== undefined) {
    first.checks++
    throw inTheWay()
  }
  if (going.length >= settings.outstanding)
    throw new AwsError('ThrottlingException', 'There are too many requests processing. Please try again later.')
  const act: Act = {
    ...wanted,
    id: newRequestId(),
    since: performance.now(),
    created: new Date(),
    checks: 0,
    status: 'IN_PROGRESS',
    reason: undefined,
    fate: fateOf() ?? { status: 'SUCCEEDED' },
  }
  cloud.acts.set(act.id, act)
  log.max_outstanding = Math.max(log.max_outstanding, going.length + 1)
  return act
}

/** Whether two acts change roles in one account: provisioning everywhere changes all accounts that have the set. */
function meet(cloud: Cloud, one: WantedAct | Act, other: WantedAct | Act): boolean {
  const where = ({ account, set }: WantedAct): string[] =>
    account === null ? [...(cloud.sets.get(set)?.provisioned.keys() ?? [])] : [account]
  const there = where(other)
  return where(one).some((account) => there.includes(account))
}

/** The current state of the act of that kind with that id; counts one more status check. */
export function checkAct(cloud: Cloud, instance: string | undefined, kind: Act['kind'], id: string | undefined): Act {
  checkInstance(cloud, instance)
  const act = cloud.acts.get(id ?? '')
  if (act?.kind !== kind) throw new AwsError('ResourceNotFoundException', `Request not found: ${id}`)
  act.checks++
  settle(cloud)
  return act
}

export function shownAct({ id, status, reason, seat, created }: Act): sso.AccountAssignmentOperationStatus {
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

export function shownProvisioning({
  id,
  status,
  reason,
  account,
  set,
  created,
}: Act): sso.PermissionSetProvisioningStatus {
  return {
    Status: status,
    RequestId: id,
    FailureReason: reason,
    AccountId: account ?? undefined,
    PermissionSetArn: set,
    CreatedDate: created,
  }
}
