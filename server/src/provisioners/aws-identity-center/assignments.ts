import { type Center, ifThere } from './center.ts'
import { pagesOf } from './pages.ts'
import type { QueueLimits } from './priority-queue.ts'

type Where = { account_id: string; principal_id: string }

/** The permission sets assigned directly to a person on an account, without those assigned through a group. */
export async function listSetsOf(center: Center, where: Where, queueLimits: QueueLimits): Promise<string[]> {
  const { account_id: AccountId, principal_id: PrincipalId } = where
  const input = {
    InstanceArn: center.config.instance_arn,
    PrincipalId,
    PrincipalType: 'USER',
    Filter: { AccountId },
  } as const
  const arns: string[] = []
  const pages = pagesOf((NextToken) =>
    ifThere(
      center.sso('ListAccountAssignmentsForPrincipal', queueLimits, (client, options) =>
        client.listAccountAssignmentsForPrincipal({ ...input, MaxResults: 100, NextToken }, options),
      ),
    ),
  )
  for await (const { AccountAssignments = [] } of pages) {
    for (const one of AccountAssignments) {
      const isTheirs = one.PrincipalType === 'USER' && one.PrincipalId === PrincipalId && one.AccountId === AccountId
      if (isTheirs && one.PermissionSetArn !== undefined) arns.push(one.PermissionSetArn)
    }
  }
  return arns
}

export async function isAssigned(
  center: Center,
  where: Where,
  arn: string,
  queueLimits: QueueLimits,
): Promise<boolean> {
  return (await listSetsOf(center, where, queueLimits)).includes(arn)
}

/** The people and groups assigned a set on an account, page by page; an empty page when the set or the account is gone. */
export async function* listHolders(
  center: Center,
  AccountId: string,
  PermissionSetArn: string,
  queueLimits: QueueLimits,
): AsyncGenerator<{ type: string; id: string }[]> {
  const input = { InstanceArn: center.config.instance_arn, AccountId, PermissionSetArn }
  const pages = pagesOf(async (NextToken) => {
    const page = await ifThere(
      center.sso('ListAccountAssignments', queueLimits, (client, options) =>
        client.listAccountAssignments({ ...input, MaxResults: 100, NextToken }, options),
      ),
    )
    // An empty page shows the caller that its reading goes on.
    return page ?? { AccountAssignments: [], NextToken: undefined }
  })
  for await (const { AccountAssignments = [] } of pages)
    yield AccountAssignments.map(({ PrincipalType = '', PrincipalId = '' }) => ({
      type: PrincipalType,
      id: PrincipalId,
    }))
}

/** The people assigned the set directly. */
export async function* listPeople(...query: Parameters<typeof listHolders>): AsyncGenerator<string[]> {
  for await (const holders of listHolders(...query)) {
    yield holders.filter(({ type }) => type === 'USER').map(({ id }) => id)
  }
}

/** The accounts in which a set has its role; with a status, those in which its role matches the current set. */
export async function listAccounts(
  center: Center,
  PermissionSetArn: string,
  queueLimits: QueueLimits,
  ProvisioningStatus?: 'LATEST_PERMISSION_SET_PROVISIONED',
): Promise<string[]> {
  const InstanceArn = center.config.instance_arn
  const accounts: string[] = []
  const pages = pagesOf((NextToken) =>
    ifThere(
      center.sso('ListAccountsForProvisionedPermissionSet', queueLimits, (client, options) =>
        client.listAccountsForProvisionedPermissionSet(
          { InstanceArn, PermissionSetArn, ProvisioningStatus, MaxResults: 100, NextToken },
          options,
        ),
      ),
    ),
  )
  for await (const { AccountIds = [] } of pages) accounts.push(...AccountIds)
  return accounts
}
