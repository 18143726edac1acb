import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { noTx, patient, quick, toTheEnd } from '../../../test/support/aws-stage.ts'
import { openCutStage, policyOf, theirs } from '../../../test/support/cut-stage.ts'
import { awsIdentityCenterAt } from './aws-identity-center.ts'

const stage = await openCutStage()
const { aws, opening, accounts, set, bystander, driver, onAccount, give, take, holder, laterSession } = stage
const { statementsNow, cutsNow, policyNow, moreAccounts } = stage
const elsewhere = accounts[1]
const untouched = accounts.map((one) => aws.signIn(one, set, bystander))

suite('at the end of a grant with `cut_sessions`', () => {
  test('its sessions are denied, those of others are not, and a new grant works at once', async () => {
    const ada = await holder()
    assert.equal(ada.session_seconds, 0)
    assert.ok(aws.accepts(ada.session))
    const answer = await take(ada.target)
    assert.deepEqual(answer.sessions, { seconds: 0, note: null })
    assert.match(answer.reference ?? '', /^provision:[0-9a-f-]{36}$/)
    assert.ok(!aws.accepts(ada.session), 'the old session is denied')
    assert.ok(untouched.every((one) => aws.accepts(one)))
    assert.deepEqual(statementsNow().slice(0, 2), theirs)
    assert.equal(await driver.verify(noTx, ada.target, null, patient), 'absent')
    await give(ada.target)
    const again = await laterSession(ada.signIn)
    assert.ok(aws.accepts(again), 'the new session works')
    assert.ok(!aws.accepts(ada.session), 'the old one does not')
    await take(ada.target)
    assert.ok(!aws.accepts(again))
    assert.equal(cutsNow().length, 1, 'one statement for a person')
  })

  test('the revoke is not done before the account has the new policy', async () => {
    const ada = await holder()
    aws.settings.acts.checks = 3
    const steps = new Set<string>()
    await take(ada.target, driver, (reference) => {
      steps.add(reference.split(':')[0] ?? '')
      if (reference.startsWith('kept:')) assert.ok(!aws.accepts(ada.session))
    })
    aws.settings.acts.checks = 0
    assert.deepEqual([...steps], ['delete', 'cut', 'kept'])
    assert.ok(!aws.accepts(ada.session))
  })

  test('a role that AWS removed with the last assignment leaves nothing to cut', async () => {
    const alone = aws.addAccount()
    const ada = await holder(onAccount(alone))
    const before = statementsNow()
    assert.deepEqual((await take(ada.target)).sessions, { seconds: 0, note: null })
    assert.deepEqual(statementsNow(), before)
    assert.ok(!aws.accepts(ada.session))
    await give(ada.target)
    assert.ok(aws.accepts(ada.signIn()))
    assert.ok(!aws.accepts(ada.session), 'the new role is another one')
    await take(ada.target)
  })

  test('a role that goes while it is being provisioned leaves nothing to cut', async () => {
    const [alone = ''] = moreAccounts(1)
    const ada = await holder(onAccount(alone))
    aws.next('ProvisionPermissionSet', { end: { status: 'FAILED', reason: 'Received a 404 status error' } })
    const answer = await take(ada.target, driver, (reference) => {
      if (reference.startsWith('cut')) aws.unassignByHand(alone, set, bystander)
    })
    assert.deepEqual(answer.sessions, { seconds: 0, note: null })
    assert.ok(!aws.accepts(ada.session))
  })

  test('access to the same set in another account goes on after a new sign-in', async () => {
    const input = onAccount()
    const ada = await holder(input)
    const there = await holder({ ...input, resource: { type: 'cloud_account', id: elsewhere } })
    await take(ada.target)
    assert.ok(!aws.accepts(ada.session))
    // Some other end provisions the set there as well.
    await take((await holder(onAccount(elsewhere))).target)
    assert.ok(!aws.accepts(there.session))
    assert.ok(aws.accepts(await laterSession(there.signIn)))
    await take(there.target)
  })

  test('a late poll of an earlier revoke cuts no session of a new grant', async () => {
    const ada = await holder()
    const references: string[] = []
    await take(ada.target, driver, (reference) => references.push(reference))
    await give(ada.target)
    const session = await laterSession(ada.signIn)
    // So that the polls write it again.
    aws.setPolicyByHand(set, policyOf(...theirs))
    for (const reference of references) await driver.poll(noTx, ada.target, reference, patient).catch(() => undefined)
    assert.equal(cutsNow().length, 1)
    assert.ok(aws.accepts(session))
    await take(ada.target)
  })

  test('a config that no longer cuts says how long sessions live', async () => {
    const ada = await holder()
    const plain = quick.open({ ...opening, config: { ...opening.config, cut_sessions: false } })
    const answer = await take(ada.target, plain)
    assert.deepEqual(answer.sessions, { seconds: 3_600, note: null })
    assert.ok(aws.accepts(ada.session))
    await plain.close()
  })
})

suite('a cut that another write replaced', () => {
  for (const step of ['cut', 'kept']) {
    test(`is written again when the revoke finds it missing, at its step \`${step}\``, async () => {
      const ada = await holder()
      let replaced = false
      await take(ada.target, driver, (reference) => {
        if (replaced || !reference.startsWith(step)) return
        replaced = true
        aws.setPolicyByHand(set, policyOf(...theirs))
        assert.ok(aws.accepts(ada.session), 'without the statement it works again')
      })
      assert.ok(replaced)
      assert.ok(!aws.accepts(ada.session))
      assert.equal(cutsNow().length, 1)
    })
  }

  test('is provisioned again when the account got a policy from before', async () => {
    const ada = await holder()
    let behind = false
    await take(ada.target, driver, (reference) => {
      if (behind || !reference.startsWith('cut')) return
      behind = true
      // The provisioning ends in a moment when the policy lacks the cut, which is back before it is read.
      const policy = policyNow()
      aws.inProgress()
      aws.setPolicyByHand(set, policyOf(...theirs))
      aws.setPolicyByHand(set, policy, { provisioned: false })
      assert.ok(aws.accepts(ada.session))
    })
    assert.ok(behind)
    assert.ok(!aws.accepts(ada.session))
  })

  test('is not needed for the ends of one process: none of its writes replaces another', async () => {
    const people = await Promise.all(moreAccounts(8).map((id) => holder(onAccount(id))))
    const before = aws.entries('PutInlinePolicyToPermissionSet').length
    await Promise.all(people.map(({ target }) => toTheEnd(driver, target, () => driver.revoke(noTx, target, patient))))
    assert.equal(aws.entries('PutInlinePolicyToPermissionSet').length, before + people.length)
    assert.ok(people.every(({ session }) => !aws.accepts(session)))
  })

  test('none is lost when many grants end at once in several processes', async () => {
    const people = await Promise.all(moreAccounts(12).map((id) => holder(onAccount(id))))
    const limits = { callsASecond: 5_000, operations: 500 }
    // A write of the other process is under way for less than this.
    const processes = [1, 2, 3].map(() => awsIdentityCenterAt(limits, 3).open(opening))
    aws.next('PutInlinePolicyToPermissionSet', { delay_ms: 300 }, 4)
    await Promise.all(
      people.map(({ target }, place) => {
        const one = processes[place % 3] ?? driver
        return toTheEnd(one, target, () => one.revoke(noTx, target, patient))
      }),
    )
    assert.deepEqual(
      people.filter(({ session }) => aws.accepts(session)),
      [],
    )
    for (const one of processes) await one.close()
  })
})
