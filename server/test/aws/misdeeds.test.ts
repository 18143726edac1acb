import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { DescribeAccountCommand } from '@aws-sdk/client-organizations'
import { ListInstancesCommand, ListPermissionSetsCommand } from '@aws-sdk/client-sso-admin'
import { openAws, operator } from '../support/aws/aws.ts'
import { clientsOf, refused } from '../support/aws/clients.ts'
import { seatsOf } from '../support/aws/seats.ts'
import { until } from '../support/wait.ts'

const aws = await openAws()
const { sso: client, organization } = clientsOf(aws)
const set = aws.addPermissionSet('ReadOnly')
const ada = aws.addUser('ada')
const { grant, granted, revoke, revoked } = seatsOf(aws, client, set, ada)

// The rate limit is for the first test; the others would have to wait for it.
afterEach(() => {
  aws.behave()
  aws.settings.rate = 1000
})

describe('the simulated AWS limits the rate of calls', () => {
  test('to twenty calls within a second, for each service', async () => {
    const calls = Array.from({ length: 25 }, () =>
      client.send(new ListInstancesCommand()).catch((error: Error) => error),
    )
    const began = performance.now()
    const answers = await Promise.all(calls)
    const took = performance.now() - began
    const refusals = answers.filter((one) => one instanceof Error && one.name === 'ThrottlingException')
    // On a machine that needs longer than a second, some calls fell into the next second.
    assert.ok(took > 1000 || refusals.length === 5, `${refusals.length} of 25 were refused in ${took} ms`)
    await organization.send(new DescribeAccountCommand({ AccountId: aws.management_account }))
    assert.ok(took > 1000 || aws.busiestSecond('sso') === 25)
  })

  test('and the vendor’s client retries a throttled call, but not a conflicting one', async () => {
    const patient = clientsOf(aws, operator, { maxAttempts: 5 }).sso
    aws.next('ListInstances', { error: 'ThrottlingException' }, 2)
    await patient.send(new ListInstancesCommand())
    const account = aws.addAccount()
    aws.next('CreateAccountAssignment', { error: 'ConflictException' })
    await refused(seatsOf(aws, patient, set, ada).grant(account), 'ConflictException')
  })
})

describe('the simulated AWS misbehaves if a test says so', () => {
  test('by an error, with its own message or a given one', async () => {
    aws.next('ListInstances', { error: 'AccessDeniedException' })
    await refused(client.send(new ListInstancesCommand()), 'AccessDeniedException', 400, /sufficient access/)
    aws.next('ListInstances', { error: 'InternalServerException', message: 'out of order' })
    await refused(client.send(new ListInstancesCommand()), 'InternalServerException', 500, /out of order/)
    await client.send(new ListInstancesCommand())
  })

  test('for some calls only: by service, by input, or after a number of calls', async () => {
    const account = aws.addAccount()
    const undo = aws.always({ operation: '*', service: 'sso' }, { error: 'ThrottlingException' })
    await refused(client.send(new ListInstancesCommand()), 'ThrottlingException')
    await organization.send(new DescribeAccountCommand({ AccountId: account }))
    undo()
    aws.next({ operation: '*', when: ({ MaxResults }) => MaxResults === 7 }, { error: 'ConflictException' })
    await client.send(new ListInstancesCommand())
    await refused(client.send(new ListInstancesCommand({ MaxResults: 7 })), 'ConflictException')
    aws.next({ operation: 'ListInstances', skip: 2 }, { error: 'ConflictException' })
    await client.send(new ListInstancesCommand())
    await client.send(new ListInstancesCommand())
    await refused(client.send(new ListInstancesCommand()), 'ConflictException')
  })

  test('by cutting the connection before the effect, after it, or in the middle of the answer', async () => {
    const gone = /ECONNRESET|socket hang up|aborted|terminated|Unexpected end|JSON/i
    const [first, second, third] = [aws.addAccount(), aws.addAccount(), aws.addAccount()]
    for (const [account, cut] of [
      [first, 'before'],
      [second, 'after'],
      [third, 'half'],
    ] as const) {
      aws.next('CreateAccountAssignment', { cut })
      await assert.rejects(
        grant(account),
        (error: Error) => gone.test(`${error.name} ${error.message}`) || assert.fail(error),
      )
    }
    await until('both assignments exist', async () => aws.assignments().length === 2)
    const there = aws.assignments().map(({ account }) => account)
    assert.deepEqual(there, [second, third])
    aws.next('ListPermissionSets', { cut: 'after' })
    const unknown = new ListPermissionSetsCommand({ InstanceArn: 'arn:aws:sso:::instance/ssoins-0000000000000000' })
    await assert.rejects(
      client.send(unknown),
      (error: Error) => gone.test(error.message),
      'the error is not returned either',
    )
    const outcomes = aws.entries('CreateAccountAssignment').map(({ outcome }) => outcome)
    assert.deepEqual(outcomes.slice(-3), ['cut before', 'cut after', 'cut half'])
  })

  test('by a late answer, or none', async () => {
    aws.next('ListInstances', { delay_ms: 20 })
    await client.send(new ListInstancesCommand())
    aws.next('ListInstances', { hang: true })
    const aborter = new AbortController()
    const call = client.send(new ListInstancesCommand(), { abortSignal: aborter.signal })
    const rejected = assert.rejects(call, { name: 'AbortError' })
    await until('the call has arrived', async () => aws.entries('ListInstances').at(-1)?.outcome === 'not answered')
    aborter.abort()
    await rejected
  })

  test('by acts that fail, or never end', async () => {
    const account = aws.addAccount()
    aws.next('CreateAccountAssignment', { end: { status: 'FAILED', reason: 'the account has too many roles' } })
    const failed = await granted(await grant(account))
    assert.deepEqual([failed.Status, failed.FailureReason], ['FAILED', 'the account has too many roles'])
    aws.next('CreateAccountAssignment', { end: { status: 'never' } })
    const id = await grant(account)
    await refused(revoke(account), 'ConflictException')
    assert.equal(aws.inProgress(), 1)
    aws.behave()
    assert.equal((await granted(id)).Status, 'SUCCEEDED')
  })
})

describe('the call log of the simulated AWS', () => {
  test('has every call in order, with its caller and its outcome', async () => {
    const from = aws.entries().length
    aws.next('ListPermissionSets', { error: 'ThrottlingException' })
    const list = new ListPermissionSetsCommand({ InstanceArn: aws.instance_arn })
    await refused(client.send(list), 'ThrottlingException')
    await client.send(list)
    assert.deepEqual(
      aws
        .entries()
        .slice(from)
        .map(({ service, operation, outcome, by }) => [service, operation, outcome, by]),
      [
        ['sso', 'ListPermissionSets', 'ThrottlingException', operator.arn],
        ['sso', 'ListPermissionSets', 'ok', operator.arn],
      ],
    )
    assert.ok(aws.actions().includes('sso:ListPermissionSets'))
  })

  test('shows a revoke that was refused while later grants were accepted', async () => {
    const [held, other, late] = [aws.addAccount(), aws.addAccount(), aws.addAccount()]
    await granted(await grant(held))
    assert.deepEqual(aws.overtakenRevokes(), [])
    aws.next('DeleteAccountAssignment', { error: 'ThrottlingException' })
    await refused(revoke(held), 'ThrottlingException')
    await grant(other)
    await revoked(await revoke(held))
    await grant(late)
    const [overtaken, ...more] = aws.overtakenRevokes()
    assert.deepEqual([overtaken?.revoke.input.TargetId, more.length], [held, 0])
    assert.deepEqual(
      overtaken?.grants.map(({ input }) => input.TargetId),
      [other],
    )
  })
})
