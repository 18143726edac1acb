import * as sso from '@aws-sdk/client-sso-admin'
import { until } from '../wait.ts'
import type { Aws } from './aws.ts'

/** Assigns and removes a permission set on accounts with the vendor's client, and polls the acts. */
export function seatsOf(aws: Aws, client: sso.SSOAdminClient, set: string, user: string) {
  const InstanceArn = aws.instance_arn
  const who = { PrincipalId: user, PrincipalType: 'USER' } as const
  const seat = (TargetId: string) =>
    ({ InstanceArn, TargetId, TargetType: 'AWS_ACCOUNT', PermissionSetArn: set, ...who }) as const
  return {
    /** Returns the act's id. */
    async grant(account: string): Promise<string> {
      const answer = await client.send(new sso.CreateAccountAssignmentCommand(seat(account)))
      return answer.AccountAssignmentCreationStatus?.RequestId ?? ''
    },
    async revoke(account: string): Promise<string> {
      const answer = await client.send(new sso.DeleteAccountAssignmentCommand(seat(account)))
      return answer.AccountAssignmentDeletionStatus?.RequestId ?? ''
    },
    granted: (AccountAssignmentCreationRequestId: string) =>
      until('its end', async () => {
        const command = new sso.DescribeAccountAssignmentCreationStatusCommand({
          InstanceArn,
          AccountAssignmentCreationRequestId,
        })
        const { AccountAssignmentCreationStatus: act } = await client.send(command)
        return act?.Status !== 'IN_PROGRESS' && act
      }),
    revoked: (AccountAssignmentDeletionRequestId: string) =>
      until('its end', async () => {
        const command = new sso.DescribeAccountAssignmentDeletionStatusCommand({
          InstanceArn,
          AccountAssignmentDeletionRequestId,
        })
        const { AccountAssignmentDeletionStatus: act } = await client.send(command)
        return act?.Status !== 'IN_PROGRESS' && act
      }),
    /** The principals that the service lists for the set there, over all pages. */
    async listed(AccountId: string): Promise<string[]> {
      const pages = sso.paginateListAccountAssignments({ client }, { InstanceArn, AccountId, PermissionSetArn: set })
      const found: string[] = []
      for await (const { AccountAssignments = [] } of pages)
        found.push(...AccountAssignments.map(({ PrincipalId = '' }) => PrincipalId))
      return found
    },
  }
}
