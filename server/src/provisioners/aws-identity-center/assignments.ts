import { type Center, ifThere } from './center.ts'
import type { Patience } from './line.ts'

type Where = { account_id: string; principal_id: string }

/** The sets that a person has on an account by themselves; what they have through a group is not among them. */
export async function listSetsOf(center: Center, where: Where, patience: Patience): Promise<string[]> {
  const { account_id: AccountId, principal_id: PrincipalId } = where
  const input = {
    InstanceArn: center.config.instance_arn,
    PrincipalId,
    PrincipalType: 'USER',
    Filter: { AccountId },
  } as const
  const arns: string[] = []
  let NextToken: string | undefined
  do {
    const page = await ifThere(
      center.sso('ListAccountAssignmentsForPrincipal', patience, (client, options) =>
        client.listAccountAssignmentsForPrincipal({ ...input, MaxResults: 100, NextToken }, options),
      ),
    )
    for (const one of page?.AccountAssignments ?? []) {
      const isTheirs = one.PrincipalType === 'USER' && one.PrincipalId === PrincipalId && one.AccountId === AccountId
      if (isTheirs && one.PermissionSetArn !== undefined) arns.push(one.PermissionSetArn)
    }
    NextToken = page?.NextToken
  } while (NextToken !== undefined)
  return arns
}

export async function isAssigned(center: Center, where: Where, arn: string, patience: Patience): Promise<boolean> {
  return (await listSetsOf(center, where, patience)).includes(arn)
}

/** The people who have a set on an account by themselves, page by page; none where the set or the account is gone. */
export async function* listHolders(
  center: Center,
  AccountId: string,
  PermissionSetArn: string,
  patience: Patience,
): AsyncGenerator<string[]> {
  const input = { InstanceArn: center.config.instance_arn, AccountId, PermissionSetArn }
  let NextToken: string | undefined
  do {
    const page = await ifThere(
      center.sso('ListAccountAssignments', patience, (client, options) =>
        client.listAccountAssignments({ ...input, MaxResults: 100, NextToken }, options),
      ),
    )
    yield (page?.AccountAssignments ?? []).flatMap(({ PrincipalType, PrincipalId }) =>
      PrincipalType === 'USER' && PrincipalId !== undefined ? [PrincipalId] : [],
    )
    NextToken = page?.NextToken
  } while (NextToken !== undefined)
}
