import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import * as sso from '@aws-sdk/client-sso-admin'
import { openAws } from '../support/aws/aws.ts'
import { assume, clientsOf, refused } from '../support/aws/clients.ts'
import { seatsOf } from '../support/aws/seats.ts'
import { until } from '../support/wait.ts'

const aws = await openAws({ rate: 1000 })
const user = aws.addUser('ada')
const set = aws.addPermissionSet('ReadOnly')
const client = clientsOf(aws, await assume(aws, aws.addRole('our-word'), 'our-word')).sso
const { grant, revoke, granted, revoked, listed } = seatsOf(aws, client, set, user)

afterEach(() => {
  aws.behave()
  aws.settings.acts = { ms: 0, checks: 0 }
  aws.settings.listLag = { ms: 0, lists: 0 }
  aws.settings.page = 100
})

const given = async (account = aws.addAccount()): Promise<string> => {
  assert.equal((await granted(await grant(account))).Status, 'SUCCEEDED')
  return account
}
const held = (account: string): boolean => aws.assignments().some((one) => one.account === account)

describe('an assignment in the simulated AWS', () => {
  test('is in progress until polled, then exists, and can be revoked', async () => {
    const account = aws.addAccount()
    aws.settings.acts.checks = 3
    const id = await grant(account)
    assert.equal(held(account), false)
    const done = await granted(id)
    assert.equal(done.Status, 'SUCCEEDED')
    assert.ok(done.CreatedDate instanceof Date)
    assert.equal(aws.entries('DescribeAccountAssignmentCreationStatus').length, 3)
    assert.deepEqual(aws.assignments(), [{ account, set, principal: user, principal_type: 'USER' }])
    assert.equal((await revoked(await revoke(account))).Status, 'SUCCEEDED')
    assert.deepEqual(aws.assignments(), [])
  })

  test('exists once, however often it is granted', async () => {
    const account = await given()
    assert.equal(aws.needlessGrants(), 0)
    await given(account)
    assert.equal(aws.assignments().filter((one) => one.account === account).length, 1)
    assert.equal(aws.needlessGrants(), 1)
  })

  test('that does not exist cannot be revoked: the act fails after it began', async () => {
    const { Status, FailureReason = '' } = await revoked(await revoke(aws.addAccount()))
    assert.equal(Status, 'FAILED')
    assert.match(FailureReason, /^Received a 404 status error: EntitlementItem doesn't exist/)
  })

  test('fails after it began for an unknown user or a closed account', async () => {
    const unknownUser = seatsOf(aws, client, set, '00000000-0000-0000-0000-000000000000')
    const unknown = await unknownUser.granted(await unknownUser.grant(aws.addAccount()))
    assert.match(unknown.FailureReason ?? '', /404 status error: the USER assignee .* was not found in directory d-/)
    const closed = await granted(await grant(aws.addAccount('SUSPENDED')))
    assert.match(closed.FailureReason ?? '', /403 status error: account \d+ is SUSPENDED/)
  })

  test('is refused at once for an unknown account, set or instance', async () => {
    await refused(grant('999999999999'), 'ResourceNotFoundException')
    const other = aws.instance_arn.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    await refused(client.send(new sso.ListPermissionSetsCommand({ InstanceArn: other })), 'AccessDeniedException')
    const gone = aws.addPermissionSet('Gone')
    aws.deletePermissionSetByHand(gone)
    await refused(seatsOf(aws, client, gone, user).grant(aws.addAccount()), 'ResourceNotFoundException')
  })

  test('ends with its account, its user or its set', async () => {
    const [account, other] = [await given(), await given()]
    aws.removeAccount(account)
    assert.deepEqual([held(account), held(other)], [false, true])
    await refused(revoke(account), 'ResourceNotFoundException')
    const [person, mine] = [aws.addUser('bob'), aws.addPermissionSet('Bobs')]
    const bobs = seatsOf(aws, client, mine, person)
    await bobs.granted(await bobs.grant(other))
    aws.deleteUserByHand(person)
    const { FailureReason = '' } = await bobs.revoked(await bobs.revoke(other))
    assert.match(FailureReason, /404 status error: the USER assignee .* was not found/)
    const adas = seatsOf(aws, client, mine, user)
    aws.settings.acts.checks = 1
    const id = await adas.grant(other)
    aws.deletePermissionSetByHand(mine)
    assert.match((await adas.granted(id)).FailureReason ?? '', /deleted meanwhile/)
  })
})

describe('the simulated AWS limits concurrent acts', () => {
  test('to one in an account: a second one conflicts until the first has ended', async () => {
    const account = aws.addAccount()
    aws.settings.acts.checks = 2
    const id = await grant(account)
    await refused(revoke(account), 'ConflictException')
    assert.equal((await granted(id)).Status, 'SUCCEEDED')
    assert.equal((await revoked(await revoke(account))).Status, 'SUCCEEDED')
  })

  test('to ten in an instance: an eleventh is refused', async () => {
    aws.next('CreateAccountAssignment', { end: { status: 'never' } }, 10)
    const begun = await Promise.all(Array.from({ length: 10 }, () => grant(aws.addAccount())))
    const account = aws.addAccount()
    await refused(grant(account), 'ThrottlingException', 400, /too many requests processing/)
    assert.deepEqual([aws.inProgress(), aws.mostOutstanding()], [10, 10])
    aws.behave()
    for (const id of begun) assert.equal((await granted(id)).Status, 'SUCCEEDED')
    await given(account)
  })

  test('and provisioning everywhere conflicts with acts in each account', async () => {
    const account = await given()
    aws.settings.acts.checks = 2
    const command = {
      InstanceArn: aws.instance_arn,
      PermissionSetArn: set,
      TargetType: 'ALL_PROVISIONED_ACCOUNTS',
    } as const
    await client.send(new sso.ProvisionPermissionSetCommand(command))
    await refused(revoke(account), 'ConflictException')
    await until(
      'the act has ended',
      async () => aws.inProgress() === 0 || ((await revoke(account).catch(() => '')) !== '' && true),
    )
  })
})

describe('lists in the simulated AWS', () => {
  test('lag: new assignments are missing, and removed ones are still listed', async () => {
    aws.settings.listLag.lists = 2
    const account = await given()
    assert.deepEqual([await listed(account), await listed(account), await listed(account)], [[], [], [user]])
    await revoked(await revoke(account))
    assert.equal(held(account), false)
    assert.deepEqual([await listed(account), await listed(account), await listed(account)], [[user], [user], []])
  })

  test('show assignments made by hand', async () => {
    const account = aws.addAccount()
    aws.assignByHand(account, set, user)
    assert.deepEqual(await listed(account), [user])
    aws.unassignByHand(account, set, user)
    assert.deepEqual(await listed(account), [])
  })

  test('have pages, each with the next page’s token, which is valid for no other list', async () => {
    const [account, other] = [await given(), await given()]
    for (const name of ['cid', 'dan', 'eve']) aws.assignByHand(account, set, aws.addUser(name))
    aws.settings.page = 3
    assert.equal((await listed(account)).length, 4)
    const question = { InstanceArn: aws.instance_arn, AccountId: account, PermissionSetArn: set }
    const { NextToken } = await client.send(new sso.ListAccountAssignmentsCommand({ ...question, MaxResults: 1 }))
    const second = await client.send(new sso.ListAccountAssignmentsCommand({ ...question, NextToken }))
    assert.equal(second.AccountAssignments?.length, 3)
    const mistaken = new sso.ListAccountAssignmentsCommand({ ...question, AccountId: other, NextToken })
    await refused(client.send(mistaken), 'ValidationException')
  })

  test('of a user, and of acts in progress, show the same', async () => {
    const [account, eve] = [aws.addAccount(), aws.addUser('eva')]
    const hers = seatsOf(aws, client, set, eve)
    await hers.granted(await hers.grant(account))
    const question = { InstanceArn: aws.instance_arn, PrincipalId: eve, PrincipalType: 'USER' } as const
    const { AccountAssignments } = await client.send(new sso.ListAccountAssignmentsForPrincipalCommand(question))
    assert.deepEqual(AccountAssignments, [
      { AccountId: account, PermissionSetArn: set, PrincipalId: eve, PrincipalType: 'USER' },
    ])
    aws.next('CreateAccountAssignment', { end: { status: 'never' } })
    const id = await hers.grant(aws.addAccount())
    const going = { InstanceArn: aws.instance_arn, Filter: { Status: 'IN_PROGRESS' } } as const
    const { AccountAssignmentsCreationStatus: acts = [] } = await client.send(
      new sso.ListAccountAssignmentCreationStatusCommand(going),
    )
    assert.deepEqual(
      acts.map(({ RequestId, Status }) => [RequestId, Status]),
      [[id, 'IN_PROGRESS']],
    )
    const none = await client.send(new sso.ListAccountAssignmentDeletionStatusCommand(going))
    assert.deepEqual(none.AccountAssignmentsDeletionStatus, [])
  })
})
