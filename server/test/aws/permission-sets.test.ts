import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as sso from '@aws-sdk/client-sso-admin'
import { openAws } from '../support/aws/aws.ts'
import { changeSent, clientsOf, refused } from '../support/aws/clients.ts'
import { seatsOf } from '../support/aws/seats.ts'
import { until } from '../support/wait.ts'

const aws = await openAws({ rate: 1000 })
const client = clientsOf(aws).sso
const { instance_arn: InstanceArn } = aws

const make = async (input: Partial<sso.CreatePermissionSetRequest>): Promise<string> => {
  const command = new sso.CreatePermissionSetCommand({ InstanceArn, Name: 'Made', ...input })
  return (await client.send(command)).PermissionSet?.PermissionSetArn ?? ''
}
const policy = (Action: string): string =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource: '*' }] })
const put = (PermissionSetArn: string, InlinePolicy: string) =>
  client.send(new sso.PutInlinePolicyToPermissionSetCommand({ InstanceArn, PermissionSetArn, InlinePolicy }))

describe('a permission set in the simulated AWS', () => {
  test('is returned as it was created, with its tags, until it is deleted', async () => {
    const arn = await make({ Name: 'Whole', SessionDuration: 'PT2H', Tags: [{ Key: 'sallyport:grant', Value: 'g1' }] })
    const described = new sso.DescribePermissionSetCommand({ InstanceArn, PermissionSetArn: arn })
    const { PermissionSet } = await client.send(described)
    assert.equal(PermissionSet?.Name, 'Whole')
    assert.equal(PermissionSet?.SessionDuration, 'PT2H')
    const { Tags } = await client.send(new sso.ListTagsForResourceCommand({ InstanceArn, ResourceArn: arn }))
    assert.deepEqual(Tags, [{ Key: 'sallyport:grant', Value: 'g1' }])
    const { PermissionSets = [] } = await client.send(new sso.ListPermissionSetsCommand({ InstanceArn }))
    assert.ok(PermissionSets.includes(arn))
    const deleted = new sso.DeletePermissionSetCommand({ InstanceArn, PermissionSetArn: arn })
    await client.send(deleted)
    await refused(client.send(described), 'ResourceNotFoundException')
    await refused(client.send(deleted), 'ResourceNotFoundException')
    assert.equal(await make({ Name: 'Whole' }).then(() => true), true)
  })

  test('has a unique name, and their number is limited', async () => {
    await make({ Name: 'Twice' })
    await refused(make({ Name: 'Twice' }), 'ConflictException', 400, /Twice already exists/)
    aws.settings.maxSets = aws.permissionSets().length
    await refused(make({ Name: 'More' }), 'ServiceQuotaExceededException')
    aws.settings.maxSets = 3500
  })

  test('has sessions of one to twelve hours', async () => {
    for (const [name, duration] of Object.entries({ Short: 'PT59M', Long: 'PT12H1S', Days: 'P1D' }))
      await refused(
        make({ Name: name, SessionDuration: duration }),
        'ValidationException',
        400,
        /between 1 hour and 12/,
      )
    await make({ Name: 'Least', SessionDuration: 'PT1H' })
    const arn = await make({ Name: 'Most', SessionDuration: 'PT720M' })
    const update = { InstanceArn, PermissionSetArn: arn, SessionDuration: 'PT13H' }
    await refused(client.send(new sso.UpdatePermissionSetCommand(update)), 'ValidationException')
  })

  test('has only a policy that IAM would accept', async () => {
    const arn = await make({ Name: 'Policed' })
    await put(arn, policy('s3:GetObject'))
    const { InlinePolicy } = await client.send(
      new sso.GetInlinePolicyForPermissionSetCommand({ InstanceArn, PermissionSetArn: arn }),
    )
    assert.equal(InlinePolicy, policy('s3:GetObject'))
    const version = '2012-10-17'
    const whole = { Effect: 'Allow', Action: 's3:*', Resource: '*' }
    const bad = [
      '{',
      JSON.stringify({ Version: '2008', Statement: [] }),
      JSON.stringify({ Version: version, Statement: [{ Effect: 'Allow', Action: 's3:*' }] }),
      JSON.stringify({ Version: version, Statement: [{ Effect: 'Maybe', Action: 's3:*', Resource: '*' }] }),
      JSON.stringify({ Version: version, Statement: [{ ...whole, Until: 1 }] }),
      JSON.stringify({ Version: version, Statement: [{ ...whole, Sid: 'a-b' }] }),
      JSON.stringify({ Version: version, Statement: [1, 2].map(() => ({ ...whole, Sid: 'Twice' })) }),
      JSON.stringify({
        Version: version,
        Statement: [{ ...whole, Condition: { Sooner: { 'aws:CurrentTime': 'x' } } }],
      }),
      JSON.stringify({ Version: version, Statement: [{ ...whole, Condition: { StringEquals: { noprefix: 'x' } } }] }),
      JSON.stringify({
        Version: version,
        Statement: [{ ...whole, Condition: { DateLessThan: { 'aws:CurrentTime': 'noon' } } }],
      }),
    ]
    for (const text of bad) await refused(put(arn, text), 'ValidationException')
    await refused(put(arn, policy(`s3:${'a'.repeat(10_240)}`)), 'ServiceQuotaExceededException')
  })

  test('gives an account the content of its last provisioning there', async () => {
    const [arn, account, ada] = [await make({ Name: 'Stale' }), aws.addAccount(), aws.addUser('ada')]
    await put(arn, policy('s3:GetObject'))
    const { grant, granted } = seatsOf(aws, client, arn, ada)
    await granted(await grant(account))
    await put(arn, policy('s3:PutObject'))
    const there = (): string | undefined =>
      aws.permissionSets().find((one) => one.arn === arn)?.provisioned[account]?.inline_policy
    assert.equal(there(), policy('s3:GetObject'))
    const stale = {
      InstanceArn,
      AccountId: account,
      ProvisioningStatus: 'LATEST_PERMISSION_SET_NOT_PROVISIONED',
    } as const
    const list = () => client.send(new sso.ListPermissionSetsProvisionedToAccountCommand(stale))
    assert.deepEqual((await list()).PermissionSets, [arn])
    const command = { InstanceArn, PermissionSetArn: arn, TargetId: account, TargetType: 'AWS_ACCOUNT' } as const
    const { PermissionSetProvisioningStatus: act } = await client.send(new sso.ProvisionPermissionSetCommand(command))
    await until('the act has ended', async () => {
      const input = { InstanceArn, ProvisionPermissionSetRequestId: act?.RequestId }
      const answer = await client.send(new sso.DescribePermissionSetProvisioningStatusCommand(input))
      return answer.PermissionSetProvisioningStatus?.Status === 'SUCCEEDED'
    })
    assert.equal(there(), policy('s3:PutObject'))
    assert.deepEqual((await list()).PermissionSets, [])
    const elsewhere = new sso.ProvisionPermissionSetCommand({ ...command, TargetId: aws.addAccount() })
    await refused(client.send(elsewhere), 'ResourceNotFoundException')
  })

  test('is not deleted while it is assigned or being assigned', async () => {
    const [arn, account, ada] = [await make({ Name: 'Held' }), aws.addAccount(), aws.addUser('eve')]
    const { grant, granted, revoke, revoked } = seatsOf(aws, client, arn, ada)
    const remove = () => client.send(new sso.DeletePermissionSetCommand({ InstanceArn, PermissionSetArn: arn }))
    aws.settings.acts.checks = 1
    const id = await grant(account)
    await refused(remove(), 'ConflictException')
    await granted(id)
    await refused(remove(), 'ConflictException')
    await revoked(await revoke(account))
    aws.settings.acts.checks = 0
    await remove()
  })
})

describe('an input that the model does not allow is refused', () => {
  const wrong: Readonly<Record<string, [Partial<sso.CreatePermissionSetRequest>, RegExp]>> = {
    'a name of 33 letters': [
      { Name: 'n'.repeat(33) },
      /'Name' failed to satisfy constraint: Member must have length less/,
    ],
    'a name with a space': [{ Name: 'a name' }, /'Name' failed .* regular expression pattern/],
    'no name': [{ Name: undefined }, /Value null at 'Name' .* must not be null/],
    'an invalid instance': [{ InstanceArn: 'arn:aws:sso:::instance/x' }, /'InstanceArn' failed/],
    'an invalid duration': [{ SessionDuration: 'one hour' }, /'SessionDuration' failed/],
    'a tag without a value': [{ Tags: [{ Key: 'k', Value: undefined }] }, /'Value' .* must not be null/],
    'a tag twice': [
      {
        Tags: [
          { Key: 'k', Value: '1' },
          { Key: 'k', Value: '2' },
        ],
      },
      /Duplicate tag keys/,
    ],
    'a tag of AWS itself': [{ Tags: [{ Key: 'aws:k', Value: '1' }] }, /reserved/],
  }
  for (const [what, [input, message]] of Object.entries(wrong)) {
    test(what, () => refused(make(input), 'ValidationException', 400, message))
  }

  test('an invalid principal, account, value or number', async () => {
    const seat = { InstanceArn, TargetId: '111111111111', TargetType: 'AWS_ACCOUNT', PrincipalType: 'USER' } as const
    const set = aws.addPermissionSet('Formed')
    const principal = '11111111-1111-1111-1111-111111111111'
    const whole = { ...seat, PermissionSetArn: set, PrincipalId: principal }
    const bad = [
      { PrincipalId: 'ada' },
      { TargetId: '1' },
      { PrincipalType: 'ROBOT' as never },
      { PermissionSetArn: 'x' },
    ]
    for (const part of bad)
      await refused(client.send(new sso.CreateAccountAssignmentCommand({ ...whole, ...part })), 'ValidationException')
    const much = new sso.ListPermissionSetsCommand({ InstanceArn, MaxResults: 101 })
    await refused(client.send(much), 'ValidationException', 400, /value less than or equal to 100/)
  })

  const raw: Readonly<Record<string, [string, string]>> = {
    'an unknown member': [JSON.stringify({ InstanceArn, Colour: 'red' }), 'SerializationException'],
    'a number for a text': ['{"InstanceArn":1}', 'SerializationException'],
    'a text for a number': [JSON.stringify({ InstanceArn, MaxResults: '1' }), 'SerializationException'],
    'a value that is not an object': ['[]', 'SerializationException'],
    'a text that is not JSON': ['{', 'SerializationException'],
  }
  for (const [what, [body, name]] of Object.entries(raw)) {
    test(what, async () => {
      const other = clientsOf(aws).sso
      changeSent(other, (sent) => Object.assign(sent, { body }) && delete sent.headers['content-length'], 'before')
      await refused(other.send(new sso.ListPermissionSetsCommand({ InstanceArn })), name)
    })
  }

  test('an unknown operation', async () => {
    const other = clientsOf(aws).sso
    changeSent(
      other,
      ({ headers }) => Object.assign(headers, { 'x-amz-target': 'SWBExternalService.Nothing' }),
      'before',
    )
    await refused(other.send(new sso.ListInstancesCommand()), 'UnknownOperationException')
  })
})
