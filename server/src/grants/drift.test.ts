import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftStage } from '../../test/support/drift-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** A target that somebody edits by hand: seen, told once, and put right only where the tenant says so. */
const house = await openHouse()
startWorkers(house)
const account = '600000000001'

for (const corrects_drift of [undefined, false]) {
  const where = corrects_drift === undefined ? 'a tenant without provisioners' : 'a provisioner that corrects nothing'

  test(`access that somebody removes by hand is told once and stays removed: ${where} (F8)`, async () => {
    const on = await driftStage(house, `removed, ${where}`, corrects_drift)
    const access = await on.held(account)
    await on.sweep()
    assert.deepEqual(await on.told(), [], 'a sweep that finds all as it should be tells nothing')

    await on.byHand.remove(account)
    await on.sweep()
    const said = { type: 'grant.drifted', subject_id: access.grant, drift: 'removed' }
    assert.deepEqual(await on.told(), [said])
    const { status, provisioning } = await on.view(access)
    const { step, drift, failures, last_error } = provisioning
    assert.deepEqual(
      { status, step, failures, last_error },
      { status: 'active', step: 'drifted', failures: 0, last_error: null },
    )
    assert.equal((drift as { kind: string }).kind, 'removed')

    await on.sweep()
    await on.sweep()
    assert.deepEqual(await on.told(), [said], 'told once')
    assert.equal(await on.heldAt(account), 0, 'not put right')
  })
}

test('what was removed by hand and comes back by hand is held again, and told anew when it is removed again (F8)', async () => {
  const on = await driftStage(house, 'comes back')
  const access = await on.held(account)
  await on.byHand.remove(account)
  await on.sweep()
  await on.byHand.add(account)
  await on.sweep()
  const { provisioning } = await on.view(access)
  assert.deepEqual([provisioning.step, provisioning.drift], ['held', null])
  await on.byHand.remove(account)
  await on.sweep()
  assert.equal((await on.told()).length, 2)
})

test('access that was removed by hand still ends: revoked at its target, and gone (F8)', async () => {
  const on = await driftStage(house, 'removed, then ends')
  const access = await on.held(account)
  await on.byHand.remove(account)
  await on.sweep()
  await on.revoke(access)
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  const deleted = await house.asSuperuser(`select from sandbox_operation where tenant_id = $1 and kind = 'delete'`, [
    on.tenant_id,
  ])
  assert.equal(deleted.length, 1)
  const { observed, drift, looks_again } = (await on.entitlement(account)) ?? {}
  assert.deepEqual({ observed, drift, looks_again }, { observed: 'absent', drift: null, looks_again: false })
})

test('access that was removed by hand is given again to whoever asks again', async () => {
  const on = await driftStage(house, 'removed, then asked for')
  await on.held(account)
  await on.byHand.remove(account)
  await on.sweep()
  const again = await on.held(account)
  assert.equal(await on.heldAt(account), 1)
  assert.equal((await on.entitlement(account))?.drift, null)
  assert.equal((await on.view(again)).provisioning.step, 'held')
})

test('where the tenant says so, what was removed by hand is told and put right (F8)', async () => {
  const on = await driftStage(house, 'corrects', true)
  const access = await on.held(account)
  await on.byHand.remove(account)
  await on.sweep()
  assert.deepEqual(await on.told(), [{ type: 'grant.drifted', subject_id: access.grant, drift: 'removed' }])
  assert.equal(await on.heldAt(account), 1)
  const { step, drift } = (await on.view(access)).provisioning
  assert.deepEqual([step, drift], ['held', null])
  assert.equal((await on.eventsOf(access.grant)).filter(({ type }) => type === 'grant.activated').length, 1)
})

test('a tenant that begins to have drift put right has what was told before put right too', async () => {
  const on = await driftStage(house, 'begins to correct', false)
  const gone = await on.held(account)
  const back = await on.held('600000000002')
  await on.revoke(back)
  await on.grantsAre(back.request, 'revoked', 'deprovisioned')
  await on.byHand.remove(account)
  await on.byHand.add('600000000002')
  await on.sweep()
  assert.deepEqual([await on.heldAt(account), await on.heldAt('600000000002')], [0, 1])
  await house.asSuperuser('update provisioner set corrects_drift = true where tenant_id = $1', [on.tenant_id])
  await on.sweep()
  assert.deepEqual([await on.heldAt(account), await on.heldAt('600000000002')], [1, 0])
  assert.equal((await on.told()).length, 2, 'told once each')
  assert.equal((await on.view(gone)).provisioning.step, 'held')
  assert.equal((await on.view(back)).provisioning.step, 'gone')
})

test('access that somebody adds again after its end is told on its grant, and left (F8)', async () => {
  const on = await driftStage(house, 'added again', false)
  const access = await on.held(account)
  await on.revoke(access)
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  await on.byHand.add(account)
  await on.sweep()
  await on.sweep()
  assert.deepEqual(await on.told(), [{ type: 'grant.drifted', subject_id: access.grant, drift: 'added' }])
  assert.equal(await on.heldAt(account), 1)
  assert.equal((await on.view(access)).provisioning.step, 'drifted')
  await on.byHand.remove(account)
  await on.sweep()
  assert.equal((await on.view(access)).provisioning.step, 'gone')
})

test('what somebody has added again is not ours: a grant joins it and leaves it there (F8)', async () => {
  const on = await driftStage(house, 'added, then asked for', false)
  const access = await on.held(account)
  await on.revoke(access)
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  await on.byHand.add(account)
  await on.sweep()
  const request = await on.ask(on.account(account))
  const [grant] = await on.grantsAre(request, 'active', 'not_attempted')
  await on.revoke({ grant: grant?.id ?? '' })
  await on.grantsAre(request, 'revoked', 'not_attempted')
  await on.sweep()
  assert.equal(await on.heldAt(account), 1)
  assert.equal((await on.view({ grant: grant?.id ?? '' })).provisioning.step, 'left')
})

test('where the tenant says so, what was added again after its end is told and taken away (F8)', async () => {
  const on = await driftStage(house, 'added again, corrects', true)
  const access = await on.held(account)
  await on.revoke(access)
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  await on.byHand.add(account)
  await on.sweep()
  assert.deepEqual(await on.told(), [{ type: 'grant.drifted', subject_id: access.grant, drift: 'added' }])
  assert.equal(await on.heldAt(account), 0)
})

test('what bears our mark and is not in the ledger is told once, and never touched', async () => {
  const on = await driftStage(house, 'stray', true)
  await on.held(account)
  await on.byHand.addAnother('a stray', true)
  await on.byHand.addAnother('somebody else’s', false)
  await on.sweep()
  await on.sweep()
  const said = { type: 'provisioner.drifted', subject_id: on.provisioner_id, drift: 'added' }
  assert.deepEqual(await on.told(), [said])
  assert.deepEqual([await on.heldAt('a stray'), await on.heldAt('somebody else’s')], [1, 1])

  await on.byHand.remove('a stray')
  await on.sweep()
  assert.equal((await on.entitlement('a stray'))?.drift, null)
  await on.byHand.addAnother('a stray', true)
  await on.sweep()
  assert.deepEqual(await on.told(), [said, said])
  assert.equal(await on.heldAt('a stray'), 1)
})

test('what was there before us is told when somebody removes it under a grant, and never given by us', async () => {
  const on = await driftStage(house, 'foreign', true)
  const key = JSON.stringify([on.people.user.user_id, account, 'cloud_account', account, 'ReadOnly'])
  await on.byHand.addAnother(key, false)
  const request = await on.ask(on.account(account))
  const [grant] = await on.grantsAre(request, 'active', 'not_attempted')
  assert.equal((await on.view({ grant: grant?.id ?? '' })).provisioning.step, 'held')
  await on.byHand.remove(account)
  await on.sweep()
  assert.deepEqual(await on.told(), [{ type: 'grant.drifted', subject_id: grant?.id, drift: 'removed' }])
  assert.equal(await on.heldAt(account), 0)
})
