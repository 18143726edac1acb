import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as store from '@aws-sdk/client-identitystore'
import * as org from '@aws-sdk/client-organizations'
import { DescribeDBInstancesCommand, paginateDescribeDBInstances } from '@aws-sdk/client-rds'
import * as sso from '@aws-sdk/client-sso-admin'
import { openAws } from '../support/aws/aws.ts'
import { assume, clientsOf, refused } from '../support/aws/clients.ts'

const aws = await openAws({ rate: 1000 })
const { directory, organization, sso: center } = clientsOf(aws)

describe('the simulated tags of the organization', () => {
  test('are listed in pages, for accounts, units and the root', async () => {
    const tags = Object.fromEntries(Array.from({ length: 45 }, (_, place) => [`key-${place}`, `<${place}> & "x"`]))
    const account = aws.addAccount('ACTIVE', aws.root_id, tags)
    const found: (readonly [string | undefined, string | undefined])[] = []
    let pages = 0
    for await (const { Tags = [] } of org.paginateListTagsForResource(
      { client: organization },
      { ResourceId: account },
    )) {
      pages += 1
      found.push(...Tags.map(({ Key, Value }) => [Key, Value] as const))
    }
    assert.deepEqual([Object.fromEntries(found), pages], [tags, 3])
    for (const ResourceId of [aws.addUnit(), aws.root_id]) {
      const { Tags } = await organization.send(new org.ListTagsForResourceCommand({ ResourceId }))
      assert.deepEqual(Tags, [])
    }
  })

  test('of an unknown account are refused, and of something else', async () => {
    const tagsOf = (ResourceId: string) => organization.send(new org.ListTagsForResourceCommand({ ResourceId }))
    await refused(tagsOf('999999999999'), 'TargetNotFoundException')
    await refused(tagsOf('12'), 'InvalidInputException')
  })
})

describe('simulated groups', () => {
  const { identity_store_id: IdentityStoreId, instance_arn: InstanceArn } = aws
  const people = Array.from({ length: 5 }, (_, place) => aws.addUser(`user-${place}@example.com`))
  const group = aws.addGroup('Developers', people)

  test('are listed with their members, in pages', async () => {
    aws.addGroup('Nobody')
    const groups: (string | undefined)[] = []
    for await (const { Groups = [] } of store.paginateListGroups(
      { client: directory, pageSize: 1 },
      { IdentityStoreId },
    ))
      groups.push(...Groups.map(({ DisplayName }) => DisplayName))
    assert.deepEqual(groups, ['Developers', 'Nobody'])
    const members: (string | undefined)[] = []
    for await (const { GroupMemberships = [] } of store.paginateListGroupMemberships(
      { client: directory, pageSize: 2 },
      { IdentityStoreId, GroupId: group },
    ))
      members.push(...GroupMemberships.map(({ MemberId }) => MemberId?.UserId))
    assert.deepEqual(members, people)
  })

  test('are refused when they are unknown, and pages that are too long', async () => {
    const membersOf = (GroupId: string, MaxResults = 100) =>
      directory.send(new store.ListGroupMembershipsCommand({ IdentityStoreId, GroupId, MaxResults }))
    await refused(membersOf(people[0] ?? ''), 'ResourceNotFoundException', 400, /GROUP not found/)
    await refused(membersOf('x'), 'ValidationException')
    await refused(membersOf(group, 101), 'ValidationException')
    const elsewhere = new store.ListGroupsCommand({ IdentityStoreId: 'd-0000000000' })
    await refused(directory.send(elsewhere), 'ResourceNotFoundException', 400, /IDENTITY_STORE not found/)
  })

  test('hold assignments, which their members’ lists show as the group’s', async () => {
    const [account, set] = [aws.addAccount(), aws.addPermissionSet('Grouped')]
    aws.assignByHand(account, set, group)
    const seat = { AccountId: account, PermissionSetArn: set, PrincipalId: group, PrincipalType: 'GROUP' }
    const there = new sso.ListAccountAssignmentsCommand({ InstanceArn, AccountId: account, PermissionSetArn: set })
    assert.deepEqual((await center.send(there)).AccountAssignments, [seat])
    const of = async (PrincipalId: string) => {
      const question = { InstanceArn, PrincipalId, PrincipalType: 'USER' } as const
      return (await center.send(new sso.ListAccountAssignmentsForPrincipalCommand(question))).AccountAssignments
    }
    assert.deepEqual(await of(people[0] ?? ''), [seat])
    assert.deepEqual(await of(aws.addUser('stranger@example.com')), [])
  })
})

describe('simulated databases', async () => {
  const account = aws.addAccount()
  const there = async (actions: readonly string[] | null = null, region = aws.region) =>
    clientsOf(aws, await assume(aws, aws.addRole(null, actions, account)), { region }).databases
  const arns = Array.from({ length: 45 }, (_, place) => aws.addDatabase(account, `orders-${place}`))
  const tags = new Map([['team', '<R&D> "x"']])
  const far = aws.addDatabase(account, 'far', { region: 'eu-west-1', engine: 'mysql', tags })

  test('are listed in pages of their account and region, as XML', async () => {
    const found: (string | undefined)[] = []
    let pages = 0
    const paging = paginateDescribeDBInstances({ client: await there(), pageSize: 20 }, {})
    for await (const { DBInstances = [] } of paging) {
      pages += 1
      found.push(...DBInstances.map(({ DBInstanceArn }) => DBInstanceArn))
    }
    assert.deepEqual([found, pages], [arns, 3])
    const { DBInstances = [] } = await (await there(null, 'eu-west-1')).send(new DescribeDBInstancesCommand({}))
    assert.deepEqual(
      DBInstances.map((one) => [one.DBInstanceArn, one.Engine, one.Endpoint?.Port, one.TagList]),
      [[far, 'mysql', 5432, [{ Key: 'team', Value: '<R&D> "x"' }]]],
    )
    assert.match(DBInstances[0]?.DbiResourceId ?? '', /^db-[0-9A-F]{26}$/)
    assert.match(DBInstances[0]?.Endpoint?.Address ?? '', /^far\..*\.eu-west-1\.rds\.amazonaws\.com$/)
    assert.deepEqual((await clientsOf(aws).databases.send(new DescribeDBInstancesCommand({}))).DBInstances ?? [], [])
  })

  test('have no endpoint while they are being made', async () => {
    aws.addDatabase(account, 'new', { region: 'eu-west-2', host: null })
    const { DBInstances = [] } = await (await there(null, 'eu-west-2')).send(new DescribeDBInstancesCommand({}))
    assert.deepEqual(
      DBInstances.map(({ DBInstanceStatus, Endpoint }) => [DBInstanceStatus, Endpoint]),
      [['creating', undefined]],
    )
  })

  test('are refused with the names and status codes of the service', async () => {
    const client = await there()
    const ask = (input: object) => client.send(new DescribeDBInstancesCommand(input))
    await refused(ask({ MaxRecords: 19 }), 'InvalidParameterValue')
    await refused(ask({ MaxRecords: 101 }), 'InvalidParameterValue')
    await refused(ask({ Marker: 'made up' }), 'InvalidParameterValue')
    await refused(ask({ DBInstanceIdentifier: 'nothing' }), 'DBInstanceNotFoundFault', 404)
    const unable = (await there(['rds:ListTagsForResource'])).send(new DescribeDBInstancesCommand({}))
    await refused(unable, 'AccessDenied', 403, /not authorized to perform: rds:DescribeDBInstances/)
    const keys = { accessKeyId: 'AKIAUNKNOWN', secretAccessKey: 'x' }
    await refused(clientsOf(aws, keys).databases.send(new DescribeDBInstancesCommand({})), 'InvalidClientTokenId', 403)
    aws.next('DescribeDBInstances', { error: 'Throttling' })
    await refused(ask({}), 'Throttling')
  })
})
