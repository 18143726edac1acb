import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as sso from '@aws-sdk/client-sso-admin'
import { openAws } from '../support/aws/aws.ts'
import { assume, clientsOf } from '../support/aws/clients.ts'
import { until } from '../support/wait.ts'

const aws = await openAws({ rate: 1000 })
const user = aws.addUser('ada')
const set = aws.addPermissionSet('ReadOnly')
const client = clientsOf(aws, await assume(aws, aws.addRole('our-word'), 'our-word')).sso

describe('assignments in the pretended AWS', () => {
  const seat = (TargetId: string) => ({
    InstanceArn: aws.instance_arn,
    PermissionSetArn: set,
    PrincipalId: user,
    PrincipalType: 'USER' as const,
    TargetId,
    TargetType: 'AWS_ACCOUNT' as const,
  })
  const grant = async (account: string): Promise<string> => {
    const { AccountAssignmentCreationStatus: act } = await client.send(
      new sso.CreateAccountAssignmentCommand(seat(account)),
    )
    return act?.RequestId ?? ''
  }
  const revoke = async (account: string): Promise<string> => {
    const { AccountAssignmentDeletionStatus: act } = await client.send(
      new sso.DeleteAccountAssignmentCommand(seat(account)),
    )
    return act?.RequestId ?? ''
  }
  const granted = (id: string) => {
    const input = { InstanceArn: aws.instance_arn, AccountAssignmentCreationRequestId: id }
    return until('an end', async () => {
      const { AccountAssignmentCreationStatus: act } = await client.send(
        new sso.DescribeAccountAssignmentCreationStatusCommand(input),
      )
      return act?.Status !== 'IN_PROGRESS' && act
    })
  }
  const revoked = (id: string) => {
    const input = { InstanceArn: aws.instance_arn, AccountAssignmentDeletionRequestId: id }
    return until('an end', async () => {
      const { AccountAssignmentDeletionStatus: act } = await client.send(
        new sso.DescribeAccountAssignmentDeletionStatusCommand(input),
      )
      return act?.Status !== 'IN_PROGRESS' && act
    })
  }

  test('an assignment is in progress until it was asked after, then there, then taken away', async () => {
    const account = aws.addAccount()
    aws.settings.acts.looks = 3
    const id = await grant(account)
    assert.deepEqual(aws.assignments(), [])
    const done = await granted(id)
    assert.equal(done.Status, 'SUCCEEDED')
    assert.ok(done.CreatedDate instanceof Date)
    assert.equal(aws.entries('DescribeAccountAssignmentCreationStatus').length, 3)
    assert.deepEqual(aws.assignments(), [{ account, set, principal: user, principal_type: 'USER' }])
    aws.settings.acts.looks = 0
    const gone = await revoked(await revoke(account))
    assert.equal(gone.Status, 'SUCCEEDED')
    assert.deepEqual(aws.assignments(), [])
  })
})
