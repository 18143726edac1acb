import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { PutInlinePolicyToPermissionSetCommand } from '@aws-sdk/client-sso-admin'
import { clientsOf } from '../../../test/support/aws/clients.ts'
import { noTx, openAwsTarget, patient, quick, toTheEnd } from '../../../test/support/aws-stage.ts'
import { NotNow, TargetError } from '../driver.ts'

const { aws, opening, accounts, sets, inputFor } = await openAwsTarget()
const driver = quick.open(opening)
const inAnHour = new Date(Date.now() + 3_600_000)
const account = accounts[0]
const onAccount = () => inputFor({ type: 'cloud_account', id: account }, 'ReadOnly')
const onBucket = () => inputFor({ type: 'cloud_storage_bucket', id: 'play-logs' }, 'read')

const planned = async (input = onAccount()) => (await driver.plan(noTx, input, patient)).target
const give = (target: Record<string, unknown>) =>
  toTheEnd(driver, target, () => driver.grant(noTx, target, inAnHour, patient))
const take = (target: Record<string, unknown>) => toTheEnd(driver, target, () => driver.revoke(noTx, target, patient))

const targetError = (kind: TargetError['kind'], words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof TargetError, String(error))
  assert.match(error.message, words)
  assert.equal(error.kind, kind, error.message)
  return true
}

suite('a plan refuses', () => {
  test('an email address of another domain where user names are local parts', async () => {
    const byLocalPart = quick.open({
      ...opening,
      config: { ...opening.config, user_name: 'local_part', email_domain: 'example.com' },
    })
    const principal_id = aws.addUser('ada')
    const planAs = (email: string) => {
      const input = onAccount()
      return byLocalPart.plan(noTx, { ...input, user: { ...input.user, email } }, patient)
    }
    assert.equal((await planAs('ada@Example.com')).target.principal_id, principal_id)
    await assert.rejects(
      planAs('ada@contractor.example'),
      targetError('permanent', /is not an address of `example.com`/),
    )
    await byLocalPart.close()
  })

  test('an account that is missing, unknown to the organization or not active (F7)', async () => {
    const suspended = aws.addAccount('SUSPENDED')
    const inputs = [
      { ...onAccount(), account_id: '999999999999' },
      { ...onAccount(), account_id: suspended },
      { ...onAccount(), account_id: null },
    ] as const
    await assert.rejects(planned(inputs[0]), targetError('permanent', /has no account 999999999999/))
    await assert.rejects(planned(inputs[1]), targetError('permanent', /is SUSPENDED/))
    await assert.rejects(planned(inputs[2]), targetError('permanent', /metadata.account_id/))
  })

  test('an unknown permission set, and an unknown action on a bucket', async () => {
    await assert.rejects(
      planned({ ...onAccount(), action: 'NoSuchSet' }),
      targetError('permanent', /no permission set `NoSuchSet`/),
    )
    await assert.rejects(
      planned({ ...onAccount(), action: 'not a name' }),
      targetError('permanent', /at most 32 characters/),
    )
    await assert.rejects(planned({ ...onBucket(), action: '*' }), targetError('permanent', /read, write and delete/))
  })

  test('a resource id with characters that a policy must not contain', async () => {
    const resource = { type: 'cloud_storage_bucket', id: 'logs/*' }
    await assert.rejects(
      planned({ ...onBucket(), resource }),
      targetError('permanent', /characters that a policy must not contain/),
    )
  })
})

suite('an act', () => {
  test('reports missing permissions, full quotas and internal faults with AWS’s request id (F7)', async () => {
    const cases = [
      ['AccessDeniedException', 'permanent'],
      ['ServiceQuotaExceededException', 'transient'],
      ['InternalServerException', 'transient'],
    ] as const
    for (const [error, kind] of cases) {
      const target = await planned()
      aws.next('CreateAccountAssignment', { error })
      await assert.rejects(
        give(target),
        targetError(kind, new RegExp(`^AWS answered ${error} to CreateAccountAssignment: .*\\(request [0-9a-f-]+\\)$`)),
      )
    }
  })

  test('is repeated while AWS throttles it, and is postponed at its deadline, which is no failure (F7)', async () => {
    const target = await planned()
    const end = aws.always('DeleteAccountAssignment', { error: 'ThrottlingException' })
    const calls = aws.entries('DeleteAccountAssignment').length
    await assert.rejects(driver.revoke(noTx, target, patient), (error) => {
      assert.ok(error instanceof NotNow, String(error))
      assert.match(error.why ?? '', /^AWS throttles/)
      return true
    })
    assert.ok(aws.entries('DeleteAccountAssignment').length > calls + 3)
    end()
    await take(target)
  })

  test('is postponed by a conflict, and fails after too many in a row (F7)', async () => {
    const target = await planned()
    const end = aws.always('DeleteAccountAssignment', { error: 'ConflictException' })
    for (let times = 0; times < 5; times += 1) {
      await assert.rejects(driver.revoke(noTx, target, patient), (error) => error instanceof NotNow)
    }
    await assert.rejects(driver.revoke(noTx, target, patient), targetError('transient', /ConflictException/))
    end()
    await take(target)
  })

  test('reports the reason of an operation that AWS ends as failed (F7)', async () => {
    const target = await planned()
    const end = { status: 'FAILED', reason: 'Received a 403 status error: not you' } as const
    aws.next('CreateAccountAssignment', { end })
    await assert.rejects(give(target), targetError('permanent', /AWS failed to assign it: Received a 403 .*\(request /))
  })

  test('stays in progress, with the operation’s id as reference, while the operation never ends (F7)', async () => {
    const target = await planned()
    aws.next('CreateAccountAssignment', { end: { status: 'never' } })
    const begun = await driver.grant(noTx, target, inAnHour, patient)
    assert.ok(!begun.done)
    assert.match(begun.reference, /^create:[0-9a-f-]{36}$/)
    for (let polls = 0; polls < 5; polls += 1) {
      assert.deepEqual(await driver.poll(noTx, target, begun.reference, patient), begun)
    }
    aws.behave()
    await take(target)
    assert.equal(await driver.verify(noTx, target, null, patient), 'absent')
  })
})

test('an existing assignment is not created again', async () => {
  for (const input of [onAccount(), onBucket()]) {
    const target = await planned(input)
    await give(target)
    await give(target)
    assert.equal(aws.needlessGrants(), 0)
    await take(target)
  }
})

suite('changes made by others in AWS', () => {
  test('a revocation fails in a suspended account, which it names, and succeeds in a missing one (F7)', async () => {
    const closing = aws.addAccount()
    const target = await planned({ ...onAccount(), account_id: closing })
    await give(target)
    aws.setAccountStatus(closing, 'SUSPENDED')
    await assert.rejects(take(target), targetError('transient', /403 .*\(request .*\); the account \d+ is SUSPENDED$/))
    aws.setAccountStatus(closing, 'ACTIVE')
    await take(target)
    const gone = { ...target, account_id: '999999999999' }
    await take(gone)
    assert.equal(await driver.verify(noTx, gone, null, patient), 'absent')
  })

  test('a deleted permission set takes its assignments along, and the revocation succeeds (F7)', async () => {
    const arn = aws.addPermissionSet('Short')
    const target = await planned({ ...onAccount(), action: 'Short' })
    await give(target)
    aws.deletePermissionSetByHand(arn)
    assert.equal(await driver.verify(noTx, target, inAnHour, patient), 'absent')
    await assert.rejects(give(target), targetError('permanent', /PermissionSet not found/))
    await take(target)
  })

  test('a grant creates its deleted own set again, and restores the edited policy of its set (F8)', async () => {
    const target = await planned(onBucket())
    const name = (target as { own_set: { name: string } }).own_set.name
    const setNow = () => aws.permissionSets().find((set) => set.name === name)
    await give(target)
    aws.deletePermissionSetByHand(setNow()?.arn ?? '')
    assert.equal(await driver.verify(noTx, target, inAnHour, patient), 'absent')
    await give(target)
    const policy = setNow()?.contents.inline_policy
    const changed = {
      InstanceArn: aws.instance_arn,
      PermissionSetArn: setNow()?.arn,
      InlinePolicy: '{"Version":"2012-10-17","Statement":[]}',
    }
    await clientsOf(aws).sso.send(new PutInlinePolicyToPermissionSetCommand(changed))
    assert.equal(await driver.verify(noTx, target, inAnHour, patient), 'changed')
    await give(target)
    assert.deepEqual(
      [setNow()?.contents.inline_policy, setNow()?.provisioned[account]?.inline_policy],
      [policy, policy],
    )
    await take(target)
    assert.equal(setNow(), undefined)
  })

  test('a policy that was put but not provisioned to the account does not count as held', async () => {
    const target = await planned(onBucket())
    await give(target)
    const later = new Date(inAnHour.getTime() + 3_600_000)
    aws.next('ProvisionPermissionSet', { error: 'InternalServerException' })
    await assert.rejects(
      driver.grant(noTx, target, later, patient),
      targetError('transient', /InternalServerException/),
    )
    assert.equal(await driver.verify(noTx, target, later, patient), 'changed')
    await toTheEnd(driver, target, () => driver.grant(noTx, target, later, patient))
    assert.equal(await driver.verify(noTx, target, later, patient), 'held')
    await take(target)
  })

  test('a foreign set with the name of an own set is neither changed nor granted', async () => {
    const target = await planned(onBucket())
    const name = (target as { own_set: { name: string } }).own_set.name
    const arn = aws.addPermissionSet(name)
    await assert.rejects(give(target), targetError('permanent', /that Sallyport did not make for this tenant/))
    await take(target)
    assert.ok(aws.permissionSets().some((set) => set.arn === arn))
  })

  test('a revocation leaves the assignments of other users to the same set (F8)', async () => {
    const stranger = onAccount()
    aws.assignByHand(account, sets.ReadOnly, stranger.principal_id)
    const target = await planned()
    await give(target)
    await take(target)
    assert.ok(aws.assignments().some(({ principal }) => principal === stranger.principal_id))
  })
})
