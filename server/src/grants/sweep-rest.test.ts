import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftStage } from '../../test/support/drift-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { startWorkersWith } from '../../test/support/workers.ts'

/** The sweep of a sandbox that agrees with the ledger rests until something changes there. */
const house = await openHouse()
const account = '640000000001'
type Stage = Awaited<ReturnType<typeof driftStage>>

const sweepOf = async (on: Stage) => {
  const [row] = await house.asSuperuser<{ rests: boolean; idle: boolean; in_time: boolean }>(
    `select next_look_at is null as rests, idle, next_look_at - clock_timestamp() <= interval '240 seconds' as in_time
      from sweep where tenant_id = $1`,
    [on.tenant_id],
  )
  return row
}
const endSweep = async (on: Stage) => (await on.beginSweep())()

/** A stage whose sandbox holds access, and whose sweep rests. */
async function resting(name: string, corrects_drift?: boolean) {
  const on = await driftStage(house, name, corrects_drift)
  const access = await on.held(account)
  await on.sweep()
  assert.equal((await sweepOf(on))?.rests, false, 'one more sweep is due')
  await endSweep(on)
  assert.equal((await sweepOf(on))?.rests, true)
  return { on, access }
}

for (const corrects_drift of [undefined, false]) {
  const whose = corrects_drift === undefined ? 'the sandbox of a tenant without provisioners' : 'an own sandbox'
  test(`${whose} that agrees with the ledger is swept no more, until it is changed`, async () => {
    const { stop } = startWorkersWith(house, () => ({}))
    const { on, access } = await resting(`rests ${corrects_drift}`, corrects_drift)
    const drifts: unknown[] = []
    const changes = [
      { change: () => on.byHand.remove(account), drift: 'removed', subject_id: access.grant },
      {
        change: () => on.byHand.addAnother('stray', true),
        drift: 'added',
        subject_id: corrects_drift === undefined ? 'sandbox' : on.provisioner_id,
      },
    ]
    for (const { change, drift, subject_id } of changes) {
      await change()
      assert.deepEqual(await sweepOf(on), { rests: false, idle: false, in_time: true })
      await on.sweep()
      drifts.push({ type: `${drift === 'added' ? 'provisioner' : 'grant'}.drifted`, subject_id, drift })
      assert.deepEqual(await on.driftEvents(), drifts)
    }
    await stop()
  })
}

test('a change by hand that no statement of ours makes wakes the sweep: an update of the key', async () => {
  const { stop } = startWorkersWith(house, () => ({}))
  const { on } = await resting('another key')
  await house.asSuperuser(`update sandbox_assignment set key = 'another' where tenant_id = $1`, [on.tenant_id])
  assert.equal((await sweepOf(on))?.rests, false)
  await on.sweep()
  assert.equal((await on.driftEvents()).length, 2)
  await stop()
})

test('a change by hand while a sweep reads the list is seen by another sweep', async () => {
  const on = await driftStage(house, 'during a sweep')
  const gate = { read: Promise.withResolvers<void>(), hold: Promise.resolve() }
  const { stop } = startWorkersWith(house, (sandbox) => ({
    async *discover(...call) {
      for await (const page of sandbox.discover?.(...call) ?? []) {
        gate.read.resolve()
        await gate.hold
        yield page
      }
    },
  }))
  const access = await on.held(account)
  await on.sweep()
  assert.deepEqual(await sweepOf(on), { rests: false, idle: true, in_time: true })
  const held = Promise.withResolvers<void>()
  Object.assign(gate, { read: Promise.withResolvers<void>(), hold: held.promise })
  const swept = await on.beginSweep()
  await gate.read.promise
  await on.byHand.remove(account)
  held.resolve()
  await swept()
  assert.equal((await sweepOf(on))?.rests, false)
  await on.sweep()
  assert.deepEqual(await on.driftEvents(), [{ type: 'grant.drifted', subject_id: access.grant, drift: 'removed' }])
  await stop()
})

test('a sandbox with drift goes on being swept: once its provisioner corrects drift, the next sweep does', async () => {
  const { stop } = startWorkersWith(house, () => ({}))
  const { on, access } = await resting('drift left', false)
  await on.byHand.remove(account)
  await on.sweep()
  await endSweep(on)
  await endSweep(on)
  assert.deepEqual(await sweepOf(on), { rests: false, idle: false, in_time: true })
  const path = `/v1/provisioners/${on.provisioner_id}`
  assert.equal((await on.call(on.owner, 'PATCH', path, { corrects_drift: true })).status, 200)
  await on.sweep()
  assert.equal((await on.view(access)).provisioning.step, 'held')
  await stop()
})

test('the sweep of a target that wakes nobody goes on as long as there is something to compare', async () => {
  const on = await driftStage(house, 'wakes nobody')
  const { stop } = startWorkersWith(house, () => ({ wakesSweep: false }))
  await on.held(account)
  await on.sweep()
  await endSweep(on)
  await endSweep(on)
  assert.deepEqual(await sweepOf(on), { rests: false, idle: false, in_time: true })
  await stop()
})
