import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { noTx, patient, toTheEnd } from '../../../test/support/aws-stage.ts'
import { openCutStage, policyOf, theirs } from '../../../test/support/cut-stage.ts'

const { aws, sets, set, driver, onAccount, take, holder, policyNow, statementsNow } = await openCutStage()

suite('a cut that is not possible', () => {
  const cases: Readonly<Record<string, [string, RegExp]>> = {
    'in a policy that cannot be rewritten': [
      '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Effect":"Allow","Action":"s3:*","Resource":"*"}]}',
      /^sessions were not cut: the inline policy .* cannot be rewritten/,
    ],
    'in a full policy': [
      policyOf({ Effect: 'Allow', Action: 's3:*', Resource: `arn:aws:s3:::${'l'.repeat(9_980)}/*` }, ...theirs),
      /^sessions were not cut: the inline policy .* no room/,
    ],
  }
  for (const [what, [policy, note]] of Object.entries(cases)) {
    test(`${what} leaves it, and the answer says how long sessions live`, async () => {
      aws.setPolicyByHand(set, policy)
      const ada = await holder()
      const { sessions, done } = await take(ada.target)
      assert.ok(done)
      assert.equal(sessions?.seconds, 3_600)
      assert.match(sessions?.note ?? '', note)
      assert.equal(policyNow(), policy)
      aws.setPolicyByHand(set, policyOf(...theirs))
    })
  }

  test('because AWS refuses the policy, says so', async () => {
    const ada = await holder()
    aws.next('PutInlinePolicyToPermissionSet', { error: 'ServiceQuotaExceededException' })
    assert.match((await take(ada.target)).sessions?.note ?? '', /AWS refused/)
  })

  test('for lack of a right fails, and the revoke is not done', async () => {
    const ada = await holder()
    const end = aws.always('PutInlinePolicyToPermissionSet', { error: 'AccessDeniedException' })
    await assert.rejects(take(ada.target), /AccessDeniedException to PutInlinePolicyToPermissionSet/)
    end()
    await take(ada.target)
    assert.ok(!aws.accepts(ada.session))
  })

  test('because AWS fails to provision the set fails, and the revoke is not done', async () => {
    const ada = await holder()
    aws.next('ProvisionPermissionSet', { end: { status: 'FAILED', reason: 'Received a 400 status error' } })
    await assert.rejects(take(ada.target), /AWS failed to provision the permission set in the account/)
    await take(ada.target)
    assert.ok(!aws.accepts(ada.session))
  })

  test('in an account that has left the organization says so', async () => {
    const account = aws.addAccount()
    const ada = await holder(onAccount(account))
    aws.removeAccount(account)
    const { sessions } = await take(ada.target)
    assert.equal(sessions?.seconds, 3_600)
    assert.match(sessions?.note ?? '', /left the organization/)
  })

  test('while AWS is busy or throttles is tried again', async () => {
    const ada = await holder()
    aws.next('PutInlinePolicyToPermissionSet', { error: 'ConflictException' }, 2)
    aws.next('ProvisionPermissionSet', { error: 'ConflictException' })
    aws.next('GetInlinePolicyForPermissionSet', { error: 'ThrottlingException' }, 2)
    await toTheEnd(driver, ada.target, () => driver.revoke(noTx, ada.target, patient))
    assert.ok(!aws.accepts(ada.session))
  })
})

test('a reading that took long is not written from: the policy is read again', async () => {
  const ada = await holder()
  aws.next('GetInlinePolicyForPermissionSet', { delay_ms: 2_100 })
  const from = aws.entries().length
  await take(ada.target)
  const calls = aws
    .entries()
    .slice(from)
    .map(({ operation }) => operation)
  const before = calls.slice(0, calls.indexOf('PutInlinePolicyToPermissionSet'))
  assert.ok(before.filter((one) => one === 'GetInlinePolicyForPermissionSet').length >= 2)
  assert.ok(!aws.accepts(ada.session))
})

suite('a sweep', () => {
  const old = (person: string) => ({
    Sid: `SallyportCut${person.replaceAll('-', '')}`,
    Effect: 'Deny',
    Action: '*',
    Resource: '*',
    Condition: {
      StringEquals: { 'identitystore:UserId': person },
      DateLessThan: { 'aws:TokenIssueTime': '2020-01-01T00:00:00Z' },
    },
  })
  const sweep = async (known: Parameters<NonNullable<typeof driver.discover>>[1]) => {
    for await (const page of driver.discover?.(noTx, known, patient) ?? []) void page
  }

  test('removes cuts of sessions that are over, and the policy if nothing else is in it', async () => {
    const ada = onAccount()
    const { key, target } = await driver.plan(noTx, ada, patient)
    aws.setPolicyByHand(set, policyOf(...theirs, old(ada.principal_id)))
    await sweep([{ key, target }])
    assert.deepEqual(statementsNow(), theirs)
    aws.setPolicyByHand(set, policyOf(old(ada.principal_id)))
    await sweep([{ key, target }])
    assert.equal(policyNow(), '')
    aws.setPolicyByHand(set, policyOf(...theirs))
  })

  test('is not stopped by a policy that it may not write', async () => {
    const ada = await holder()
    aws.setPolicyByHand(set, policyOf(...theirs, old(ada.input.principal_id)))
    const end = aws.always('PutInlinePolicyToPermissionSet', { error: 'AccessDeniedException' })
    const { key, target } = await driver.plan(noTx, ada.input, patient)
    const keys: string[] = []
    for await (const page of driver.discover?.(noTx, [{ key, target }], patient) ?? [])
      keys.push(...page.map((one) => one.key))
    assert.deepEqual(keys, [key])
    end()
  })
})

test('a test of the provisioner reads the policies of the sets that the config names', async () => {
  const checked = async () =>
    (await driver.health(noTx, patient)).filter(({ what }) => what.startsWith('cutting sessions'))
  assert.deepEqual(await checked(), [{ what: 'cutting sessions of `Administrator`', ok: true, message: null }])
  aws.setPolicyByHand(sets.Administrator, '{"Version":"2012-10-17","Version":"2012-10-17","Statement":[]}')
  const [bad] = await checked()
  assert.match(`${bad?.message}`, /cannot be rewritten/)
  assert.equal(bad?.ok, false)
  aws.setPolicyByHand(sets.Administrator, '')
})
