import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftStage } from '../../test/support/drift-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { seedManyGrants } from '../../test/support/many-grants.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkersWith } from '../../test/support/workers.ts'
import { type Driver, NotNow, TargetError } from '../provisioners/driver.ts'
import { spreadSeconds, sweepAgainSeconds } from './sweep.ts'

/** Sweeps that meet acts under way, lists that lag, targets that cannot list or do not answer. */
const house = await openHouse()
const account = '610000000001'

/** The list of a sandbox whose first page is read and then held back until `hold` ends. */
function heldBack(
  sandbox: Driver,
  { hold, onRead }: { hold: () => Promise<unknown>; onRead: () => void },
): Driver['discover'] {
  return async function* (tx, known, signal) {
    for await (const page of sandbox.discover?.(tx, known, signal) ?? []) {
      onRead()
      await hold()
      yield page
    }
  }
}

/** A list that shows none of the access at the target. */
const empty: Driver['discover'] = async function* () {
  yield await Promise.resolve([])
}

test('access given or revoked after a page of the list was read is no drift (R3, F8)', async () => {
  const on = await driftStage(house, 'old page')
  const gate = Promise.withResolvers<void>()
  const read = Promise.withResolvers<void>()
  const { stop } = startWorkersWith(house, (sandbox) => ({
    discover: heldBack(sandbox, { hold: () => gate.promise, onRead: read.resolve }),
  }))
  const leaving = await on.held(account)
  const staying = await on.held('610000000002')
  await on.age()
  const swept = await on.beginSweep()
  await read.promise
  await on.revoke(leaving)
  await on.grantsAre(leaving.request, 'revoked', 'deprovisioned')
  const coming = await on.held('610000000003')
  gate.resolve()
  await swept()
  await on.sweep()
  assert.deepEqual(await on.driftEvents(), [])
  for (const one of [staying, coming]) assert.equal((await on.view(one)).provisioning.step, 'held')
  assert.equal((await on.view(leaving)).provisioning.step, 'gone')
  await stop()
})

test('access that is being revoked during a sweep is revoked once, and is no drift (R3)', async () => {
  const on = await driftStage(house, 'own revoke')
  const gate = Promise.withResolvers<void>()
  const read = Promise.withResolvers<void>()
  const discover: Driver['discover'] = async function* () {
    read.resolve()
    await gate.promise
    yield []
  }
  const { stop } = startWorkersWith(house, () => ({ discover }))
  const access = await on.held(account)
  await on.age()
  const swept = await on.beginSweep()
  await read.promise
  await on.inject({ polls: 1_000 })
  await on.revoke(access)
  await until('the revoke has begun', async () => (await on.entitlement(account))?.act === 'revoke')
  await on.age()
  gate.resolve()
  await swept()
  assert.equal((await on.entitlement(account))?.suspected, false)
  await on.inject({})
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  assert.deepEqual(await on.driftEvents(), [])
  await stop()
})

test('a list that lags is no drift: the access is verified at the target, and nothing is notified', async () => {
  const on = await driftStage(house, 'lagging list', true)
  let verified = 0
  const { stop } = startWorkersWith(house, (sandbox) => ({
    discover: empty,
    verify(...call) {
      verified += 1
      return sandbox.verify(...call)
    },
  }))
  const access = await on.held(account)
  await (await on.beginSweep())()
  assert.equal(
    (await on.entitlement(account))?.suspected,
    false,
    'access that changed within the last minute is left alone',
  )
  const before = verified
  await on.sweep()
  assert.equal(verified, before + 1)
  assert.deepEqual(await on.driftEvents(), [])
  assert.equal((await on.view(access)).provisioning.step, 'held')
  await stop()
})

test('each entitlement at a target that cannot list is verified by itself', async () => {
  const on = await driftStage(house, 'no list')
  const { stop } = startWorkersWith(house, () => ({ discover: null }))
  const [one, other] = [await on.held(account), await on.held('610000000002')]
  const ended = await on.held('610000000003')
  await on.revoke(ended)
  await on.grantsAre(ended.request, 'revoked', 'deprovisioned')
  await on.byHand.remove(account)
  await on.byHand.add('610000000003')
  await on.sweep()
  const drifts = (await on.driftEvents()).map(({ subject_id, drift }) => [subject_id, drift]).sort()
  assert.deepEqual(
    drifts,
    [
      [one.grant, 'removed'],
      [ended.grant, 'added'],
    ].sort(),
  )
  assert.equal((await on.view(other)).provisioning.step, 'held')
  await stop()
})

test('a list that breaks off proves nothing; it is tried again, and its error is shown', async () => {
  const on = await driftStage(house, 'broken list')
  let broken = true
  const { stop } = startWorkersWith(house, (sandbox) => ({
    async *discover(...call) {
      yield []
      if (broken) throw new TargetError('transient', 'the list broke off')
      yield* sandbox.discover?.(...call) ?? []
    },
  }))
  await on.held(account)
  await on.age()
  await on.beginSweep()
  const [row] = await until('it was put off', async () => {
    const rows = await house.asSuperuser<{ last_error: string; waits: boolean }>(
      `select last_error, next_look_at > clock_timestamp() as waits from sweep where tenant_id = $1 and failures > 0`,
      [on.tenant_id],
    )
    return rows.length > 0 && rows
  })
  assert.deepEqual(row, { last_error: 'the list broke off', waits: true })
  assert.equal((await on.entitlement(account))?.suspected, false)
  broken = false
  await on.sweep()
  const [after] = await house.asSuperuser('select failures, last_error from sweep where tenant_id = $1', [on.tenant_id])
  assert.deepEqual(after, { failures: 0, last_error: null })
  await stop()
})

test('a target without capacity for the list is called later, and no failure is counted', async () => {
  const on = await driftStage(house, 'no room to list')
  let refusals = 1
  const { stop } = startWorkersWith(house, (sandbox) => ({
    async *discover(...call) {
      if (refusals > 0) {
        refusals -= 1
        throw new NotNow(1)
      }
      yield* sandbox.discover?.(...call) ?? []
    },
  }))
  const access = await on.held(account)
  await on.byHand.remove(account)
  await on.age()
  await on.beginSweep()
  await until('it was refused', () => Promise.resolve(refusals === 0))
  await on.sweep()
  assert.deepEqual(await on.driftEvents(), [{ type: 'grant.drifted', subject_id: access.grant, drift: 'removed' }])
  const [row] = await house.asSuperuser('select failures from sweep where tenant_id = $1', [on.tenant_id])
  assert.deepEqual(row, { failures: 0 })
  await stop()
})

test('a ledger of thousands of entitlements is compared completely, in portions', async () => {
  const { stop } = startWorkersWith(house, () => ({}))
  const [tenant_id] = await seedManyGrants(house.asSuperuser, 4_100, 1, '2100-01-01')
  await house.asSuperuser(
    `update entitlement set updated_at = updated_at - interval '2 minutes' where tenant_id = $1`,
    [tenant_id],
  )
  const edges = ['000000000001', '000000002000', '000000004100']
  await house.asSuperuser(
    `delete from sandbox_assignment where tenant_id = $1 and (key::jsonb ->> 3) = any($2::text[])`,
    [tenant_id, edges],
  )
  await house.asSuperuser('update sweep set next_look_at = clock_timestamp() where tenant_id = $1', [tenant_id])
  const drifted = await until('all three were found', async () => {
    const rows = await house.asSuperuser<{ account: string }>(
      `select target_key::jsonb ->> 3 as account from entitlement where tenant_id = $1 and drift = 'removed'
        order by 1`,
      [tenant_id],
    )
    return rows.length >= edges.length && rows
  })
  assert.deepEqual(
    drifted.map((row) => row.account),
    edges,
  )
  await stop()
})

test('checks are spread at fifty a second over four minutes at most, and failed sweeps are retried within two', () => {
  assert.deepEqual([spreadSeconds(1), spreadSeconds(1_000), spreadSeconds(1_000_000)], [0.02, 20, 240])
  assert.deepEqual([sweepAgainSeconds(0), sweepAgainSeconds(40)], [5, 120])
})
