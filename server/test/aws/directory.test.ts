import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DescribeUserCommand, GetUserIdCommand, ListUsersCommand } from '@aws-sdk/client-identitystore'
import * as org from '@aws-sdk/client-organizations'
import { DescribeSessionsCommand, TerminateSessionCommand } from '@aws-sdk/client-ssm'
import { openAws, operator } from '../support/aws/aws.ts'
import { assume, clientsOf, refused } from '../support/aws/clients.ts'

const aws = await openAws({ rate: 1000 })
const { directory, organization } = clientsOf(aws)

describe('the simulated directory', () => {
  const { identity_store_id: IdentityStoreId } = aws
  const ada = aws.addUser('ada@example.com', [{ Issuer: 'https://idp.example', Id: 'ada-1' }])

  const find = async (AlternateIdentifier: { ExternalId: object } | { UniqueAttribute: object }) => {
    const command = new GetUserIdCommand({ IdentityStoreId, AlternateIdentifier: AlternateIdentifier as never })
    return (await directory.send(command)).UserId
  }

  test('finds users by the provider’s id and by name, whatever its case', async () => {
    assert.equal(await find({ ExternalId: { Issuer: 'https://idp.example', Id: 'ada-1' } }), ada)
    assert.equal(await find({ UniqueAttribute: { AttributePath: 'userName', AttributeValue: 'Ada@Example.com' } }), ada)
    const { Users = [] } = await directory.send(
      new ListUsersCommand({
        IdentityStoreId,
        Filters: [{ AttributePath: 'UserName', AttributeValue: 'ada@example.com' }],
      }),
    )
    assert.deepEqual(
      Users.map(({ UserId }) => UserId),
      [ada],
    )
    const { UserName, ExternalIds } = await directory.send(new DescribeUserCommand({ IdentityStoreId, UserId: ada }))
    assert.deepEqual([UserName, ExternalIds], ['ada@example.com', [{ Issuer: 'https://idp.example', Id: 'ada-1' }]])
  })

  test('does not find an unknown user, nor by another provider’s id, nor in another store', async () => {
    const unknown = find({ UniqueAttribute: { AttributePath: 'userName', AttributeValue: 'bob' } })
    await refused(unknown, 'ResourceNotFoundException', 400, /USER not found/)
    await refused(find({ ExternalId: { Issuer: 'https://other.example', Id: 'ada-1' } }), 'ResourceNotFoundException')
    const elsewhere = new DescribeUserCommand({ IdentityStoreId: 'd-0000000000', UserId: ada })
    await refused(directory.send(elsewhere), 'ResourceNotFoundException', 400, /IDENTITY_STORE not found/)
  })

  test('shows what is known of a user, and the extension to those who ask for it', async () => {
    const details = {
      Name: { GivenName: 'Grace', FamilyName: 'Hopper' },
      Emails: [{ Value: 'grace@example.com', Type: 'work', Primary: true }],
      Title: 'Admiral',
      UserStatus: 'ENABLED',
    } as const
    const enterprise = { department: 'Navy', manager: { value: ada } }
    const grace = aws.addUser('grace', [], { ...details, Emails: [...details.Emails], enterprise })
    const listed = async (Extensions?: string[]) => {
      const { Users = [] } = await directory.send(new ListUsersCommand({ IdentityStoreId, Extensions }))
      return Users.find(({ UserId }) => UserId === grace)
    }
    const names = { IdentityStoreId, UserId: grace, UserName: 'grace', DisplayName: 'grace' }
    assert.deepEqual(await listed(), { ...names, ...details })
    const Extensions = { 'aws:identitystore:enterprise': enterprise }
    assert.deepEqual(await listed(Object.keys(Extensions)), { ...names, ...details, Extensions })
    await refused(listed(['aws:identitystore:other']), 'ValidationException')
    await refused(listed([]), 'ValidationException')
    aws.changeUser(grace, { UserStatus: 'DISABLED', user_name: 'hopper' })
    assert.deepEqual(await listed(), { ...names, ...details, UserName: 'hopper', UserStatus: 'DISABLED' })
    aws.deleteUserByHand(grace)
    assert.equal(await listed(), undefined)
  })

  test('refuses an attribute that is not unique', async () => {
    await refused(find({ UniqueAttribute: { AttributePath: 'title', AttributeValue: 'x' } }), 'ValidationException')
    await refused(find({ UniqueAttribute: { AttributePath: 'userName' } }), 'ValidationException')
  })
})

describe('the simulated organization', () => {
  test('shows whether an account is active, and refuses an unknown one', async () => {
    const [open, closed] = [aws.addAccount(), aws.addAccount('SUSPENDED')]
    const status = async (AccountId: string) =>
      (await organization.send(new org.DescribeAccountCommand({ AccountId }))).Account?.State
    assert.deepEqual([await status(open), await status(closed)], ['ACTIVE', 'SUSPENDED'])
    await refused(status('999999999999'), 'AccountNotFoundException')
    await refused(status('12'), 'InvalidInputException')
    aws.setAccountStatus(open, 'PENDING_CLOSURE')
    assert.equal(await status(open), 'PENDING_CLOSURE')
  })

  test('is a tree of units and accounts, listed in pages of twenty', async () => {
    const unit = aws.addUnit()
    const inner = aws.addUnit(unit)
    const below = Array.from({ length: 45 }, () => aws.addAccount('ACTIVE', unit))
    const found: (string | undefined)[] = []
    for await (const { Accounts = [] } of org.paginateListAccountsForParent(
      { client: organization },
      { ParentId: unit },
    ))
      found.push(...Accounts.map(({ Id }) => Id))
    assert.deepEqual(found, below)
    const parents = await organization.send(new org.ListParentsCommand({ ChildId: inner }))
    assert.deepEqual(parents.Parents, [{ Id: unit, Type: 'ORGANIZATIONAL_UNIT' }])
    const units = { ParentId: unit, ChildType: 'ORGANIZATIONAL_UNIT' } as const
    assert.deepEqual((await organization.send(new org.ListChildrenCommand(units))).Children, [
      { Id: inner, Type: 'ORGANIZATIONAL_UNIT' },
    ])
    const nowhere = new org.ListAccountsForParentCommand({ ParentId: 'ou-none-00000000' })
    await refused(organization.send(nowhere), 'ParentNotFoundException')
  })

  test('is in us-east-1, whatever region the other services are in', async () => {
    const elsewhere = new org.OrganizationsClient({
      endpoint: aws.origin,
      region: aws.region,
      credentials: operator,
      maxAttempts: 1,
    })
    await refused(elsewhere.send(new org.ListRootsCommand()), 'InvalidSignatureException', 400, /valid region/)
  })
})

describe('simulated sessions on machines', () => {
  test('can be listed and ended only from their account and region', async () => {
    const account = aws.addAccount()
    const owner = `arn:aws:sts::${account}:assumed-role/AWSReservedSSO_x_0123/ada`
    const session = aws.addShell(account, 'i-0123456789abcdef0', owner)
    const keys = await assume(aws, aws.addRole(null, null, account))
    const there = clientsOf(aws, keys).shells
    const question = { State: 'Active', Filters: [{ key: 'Owner', value: owner }] } as const
    const sessionsOf = async (client: typeof there) =>
      (await client.send(new DescribeSessionsCommand({ ...question, Filters: [...question.Filters] }))).Sessions ?? []
    assert.deepEqual(
      (await sessionsOf(there)).map(({ SessionId, Target }) => [SessionId, Target]),
      [[session, 'i-0123456789abcdef0']],
    )
    const { shells: here } = clientsOf(aws)
    assert.deepEqual(await sessionsOf(here), [])
    await refused(here.send(new TerminateSessionCommand({ SessionId: session })), 'DoesNotExistException')
    assert.deepEqual(await sessionsOf(clientsOf(aws, keys, { region: 'eu-west-3' }).shells), [])
    await there.send(new TerminateSessionCommand({ SessionId: session }))
    assert.deepEqual([await sessionsOf(there), aws.shells()], [[], []])
  })
})
