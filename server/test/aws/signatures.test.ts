import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ListInstancesCommand, SSOAdminClient } from '@aws-sdk/client-sso-admin'
import { AssumeRoleCommand, GetCallerIdentityCommand } from '@aws-sdk/client-sts'
import { openAws, operator } from '../support/aws/aws.ts'
import { assume, changeSent, clientsOf, refused } from '../support/aws/clients.ts'

const aws = await openAws()

const listInstances = (client: SSOAdminClient) => client.send(new ListInstancesCommand())

describe('a call of the simulated AWS must be signed', () => {
  test('identifies the operator and a session in a role', async () => {
    const { Instances = [] } = await listInstances(clientsOf(aws).sso)
    assert.equal(Instances[0]?.InstanceArn, aws.instance_arn)
    assert.equal(Instances[0]?.IdentityStoreId, aws.identity_store_id)
    const session = clientsOf(aws, await assume(aws, aws.addRole('word'), 'word'))
    const { Arn, Account } = await session.tokens.send(new GetCallerIdentityCommand())
    assert.match(String(Arn), /^arn:aws:sts::111111111111:assumed-role\/sallyport-[0-9a-f]{6}\/sallyport-test$/)
    assert.equal(Account, aws.management_account)
    await listInstances(session.sso)
  })

  const forgeries: Readonly<Record<string, [Parameters<typeof changeSent>[1], string]>> = {
    'a changed body': [(sent) => Object.assign(sent, { body: '[]' }), 'InvalidSignatureException'],
    'a changed header': [
      ({ headers }) => Object.assign(headers, { 'x-amz-target': 'SWBExternalService.ListPermissionSets' }),
      'InvalidSignatureException',
    ],
    'an unsigned header of AWS': [
      ({ headers }) => Object.assign(headers, { 'x-amz-more': '1' }),
      'InvalidSignatureException',
    ],
    'no signature': [({ headers }) => delete headers.authorization, 'MissingAuthenticationTokenException'],
    'half a signature': [
      ({ headers }) => Object.assign(headers, { authorization: 'AWS4-HMAC-SHA256 Credential=x' }),
      'IncompleteSignatureException',
    ],
  }
  for (const [what, [forge, name]] of Object.entries(forgeries)) {
    test(`refuses ${what}`, async () => {
      const { sso } = clientsOf(aws)
      changeSent(sso, forge)
      await refused(listInstances(sso), name)
    })
  }

  test('refuses an unexpected token, a session without its token, and the digest of another body', async () => {
    const lone = clientsOf(aws).sso
    changeSent(lone, ({ headers }) => Object.assign(headers, { 'x-amz-security-token': 'token' }), 'before')
    await refused(listInstances(lone), 'UnrecognizedClientException')
    const { sessionToken: _, ...half } = await assume(aws, aws.addRole(null))
    await refused(listInstances(clientsOf(aws, half).sso), 'UnrecognizedClientException')
    const other = clientsOf(aws).sso
    changeSent(other, ({ headers }) => Object.assign(headers, { 'x-amz-content-sha256': '0'.repeat(64) }), 'before')
    await refused(listInstances(other), 'InvalidSignatureException')
  })

  test('refuses an unknown key, and a wrong secret', async () => {
    const stranger = { ...operator, accessKeyId: 'AKIANOBODY0000000001' }
    await refused(listInstances(clientsOf(aws, stranger).sso), 'UnrecognizedClientException')
    const wrong = { ...operator, secretAccessKey: 'another' }
    await refused(listInstances(clientsOf(aws, wrong).sso), 'InvalidSignatureException')
    await refused(clientsOf(aws, wrong).tokens.send(new GetCallerIdentityCommand()), 'SignatureDoesNotMatch', 403)
  })

  test('refuses a signature for another region, another service, or another hour', async () => {
    const common = { endpoint: aws.origin, credentials: operator, maxAttempts: 1 }
    const elsewhere = new SSOAdminClient({ ...common, region: 'us-west-2' })
    await refused(listInstances(elsewhere), 'InvalidSignatureException', 400, /valid region, not 'us-west-2'/)
    const mistaken = clientsOf(aws).sso
    changeSent(
      mistaken,
      ({ headers }) => Object.assign(headers, { 'x-amz-target': 'AmazonSSM.DescribeSessions' }),
      'before',
    )
    await refused(listInstances(mistaken), 'InvalidSignatureException', 400, /correct service/)
    const late = new SSOAdminClient({ ...common, region: aws.region, systemClockOffset: -3_600_000 })
    await refused(listInstances(late), 'InvalidSignatureException', 400, /Signature expired/)
  })

  test('refuses a session that has ended', async () => {
    const { sso, tokens } = clientsOf(aws, await assume(aws, aws.addRole(null)))
    await listInstances(sso)
    aws.endSessions()
    await refused(listInstances(sso), 'ExpiredTokenException')
    await refused(tokens.send(new GetCallerIdentityCommand()), 'ExpiredToken', 403)
  })
})

describe('a role can be assumed', () => {
  test('only with its external id', async () => {
    const role = aws.addRole('our-word')
    await assume(aws, role, 'our-word')
    for (const word of ['another-word', undefined])
      await refused(assume(aws, role, word), 'AccessDenied', 403, /is not authorized to perform: sts:AssumeRole/)
    aws.setExternalId(role, 'a-new-word')
    await refused(assume(aws, role, 'our-word'), 'AccessDenied', 403)
  })

  test('by no session in another role, and only if it exists', async () => {
    const [role, other] = [aws.addRole(null), aws.addRole(null)]
    const { tokens } = clientsOf(aws, await assume(aws, other))
    const command = new AssumeRoleCommand({ RoleArn: role, RoleSessionName: 'chained' })
    await refused(tokens.send(command), 'AccessDenied', 403)
    await refused(assume(aws, 'arn:aws:iam::111111111111:role/nobody'), 'AccessDenied', 403)
  })

  test('for an allowed duration, under a valid session name', async () => {
    const role = aws.addRole(null)
    await assume(aws, role, undefined, 900)
    await refused(assume(aws, role, undefined, 899), 'ValidationError')
    await refused(assume(aws, role, undefined, 3601), 'ValidationError')
    const command = new AssumeRoleCommand({ RoleArn: role, RoleSessionName: 'a name with spaces' })
    await refused(clientsOf(aws).tokens.send(command), 'ValidationError')
  })

  test('and permits only the actions in its policy', async () => {
    const role = aws.addRole(null, ['sso:DescribeInstance', 'identitystore:*'])
    const { sso } = clientsOf(aws, await assume(aws, role))
    await refused(listInstances(sso), 'AccessDeniedException', 400, /not authorized to perform: sso:ListInstances/)
    aws.setActions(role, ['sso:List*'])
    await listInstances(clientsOf(aws, await assume(aws, role)).sso)
  })
})
