import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftStage } from '../../test/support/drift-stage.ts'
import { driversWith } from '../../test/support/drivers.ts'
import { openHouse } from '../../test/support/house.ts'
import { noEgress } from '../../test/support/no-egress.ts'
import { until } from '../../test/support/wait.ts'
import { noPost, startWorkers, startWorkersWith } from '../../test/support/workers.ts'
import { dueWork } from '../app.ts'

/** Tenants whose targets hang, and provisioners that share a target. */
const house = await openHouse()
const account = '650000000001'

/** Gives a tenant so many targets with access, whose sweeps have been due for an hour. */
const dueTargets = (tenant_id: string, count: number) =>
  house.asSuperuser(
    `with made as (
        insert into provisioner (tenant_id, id, name, provisioner_type)
        select $1, gen_random_uuid(), 'target ' || n, 'sandbox' from generate_series(1, $2) n returning tenant_id, id),
      ledger as (
        insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, held_before, observed)
        select tenant_id, gen_random_uuid(), 'sandbox', id, id::text, '{}', false, 'present' from made)
      insert into sweep (tenant_id, id, provisioner, provisioner_id, next_look_at)
      select tenant_id, gen_random_uuid(), 'sandbox', id, clock_timestamp() - interval '1 hour' from made`,
    [tenant_id, count],
  )

test('a tenant with very many provisioners whose targets hang delays no other tenant’s sweeps', async () => {
  const [many, other] = [await driftStage(house, 'many'), await driftStage(house, 'other')]
  const gate = Promise.withResolvers<void>()
  let hanging = 0
  let most = 0
  const { stop } = startWorkersWith(house, (sandbox) => ({
    async *discover(tx, known, signal) {
      if (tx.tenant_id === many.tenant_id) {
        hanging += 1
        most = Math.max(most, hanging)
        const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
        await Promise.race([gate.promise, aborted])
        hanging -= 1
      }
      yield* sandbox.discover?.(tx, known, signal) ?? []
    },
  }))
  await many.held(account)
  const access = await other.held(account)
  await dueTargets(many.tenant_id, 200)
  await until('the first hang', () => Promise.resolve(most >= 4))
  await other.byHand.remove(account)
  await other.sweep()
  assert.deepEqual(await other.driftEvents(), [{ type: 'grant.drifted', subject_id: access.grant, drift: 'removed' }])
  assert.equal(most, 4, 'at once, of one tenant')
  await house.asSuperuser('update sweep set next_look_at = null where tenant_id = $1', [many.tenant_id])
  gate.resolve()
  await stop()
})

test('tenants with very many targets that list without an end hold no place for good', async () => {
  const other = await driftStage(house, 'waits')
  const stages = await Promise.all(Array.from({ length: 8 }, (_, index) => driftStage(house, `endless ${index}`)))
  const endless = stages.map(({ tenant_id }) => tenant_id)
  const gate = Promise.withResolvers<void>()
  const begun = { endless: 0, beforeOther: 0 }
  const drivers = driversWith((sandbox) => ({
    async *discover(tx, known, signal) {
      if (endless.includes(tx.tenant_id)) {
        begun.endless += 1
        const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
        await Promise.race([gate.promise, aborted])
      } else begun.beforeOther = begun.endless
      yield* sandbox.discover?.(tx, known, signal) ?? []
    },
  }))
  // Longer than what counts as slow.
  const long = { afterMs: 1_500, goOn: 8, untilMs: 60_000 }
  const works = dueWork(drivers, noPost, noEgress).map((work) =>
    work.bounds?.long === undefined ? work : { ...work, bounds: { ...work.bounds, long } },
  )
  const { stop } = startWorkers(house, works)
  const access = await other.held(account)
  for (const tenant_id of endless) await dueTargets(tenant_id, 100)
  await until('all places are taken', () => Promise.resolve(begun.endless >= 32))
  await other.byHand.remove(account)
  await other.age()
  const ended = await other.beginSweep()
  const before = begun.endless
  await ended()
  await until('the change is found', async () => (await other.driftEvents()).length > 0)
  assert.deepEqual(await other.driftEvents(), [{ type: 'grant.drifted', subject_id: access.grant, drift: 'removed' }])
  // Nearly all of the 800 were due before it.
  assert.ok(begun.beforeOther - before < 100, `${begun.beforeOther - before} went first`)
  const [failed] = await house.asSuperuser<{ last_error: string }>(
    'select distinct last_error from sweep where tenant_id = any($1) and failures > 0',
    [endless],
  )
  assert.match(String(failed?.last_error), /lists too slowly/)
  await house.asSuperuser('update sweep set next_look_at = null where tenant_id = any($1)', [endless])
  gate.resolve()
  await stop()
})

test('two provisioners of one target: neither takes the other’s access for drift, and each change is reported once', async () => {
  const on = await driftStage(house, 'one target', true)
  const { stop } = startWorkersWith(house, () => ({}))
  const access = await on.held(account)
  const second = await on.created(on.owner, '/v1/provisioners', { name: 'second', provisioner_type: 'sandbox' })
  await house.asSuperuser('update served_resource set provisioner_id = $2 where tenant_id = $1', [
    on.tenant_id,
    second.id,
  ])
  const other = await on.held('650000000002')
  const sweeps = await house.asSuperuser('select from sweep where tenant_id = $1', [on.tenant_id])
  assert.equal(sweeps.length, 2)
  await on.sweep()
  await on.sweep()
  assert.deepEqual(await on.driftEvents(), [])
  for (const one of [access, other]) assert.equal((await on.view(one)).provisioning.step, 'held')
  await on.byHand.remove('650000000002')
  await on.sweep()
  await on.sweep()
  assert.deepEqual(await on.driftEvents(), [{ type: 'grant.drifted', subject_id: other.grant, drift: 'removed' }])
  assert.equal((await on.view(access)).provisioning.step, 'held')
  await stop()
})
