import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftStage } from '../../test/support/drift-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { startWorkersWith } from '../../test/support/workers.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Sighting } from '../provisioners/driver.ts'
import { beginRun, rest } from './convergence.ts'
import { openEntitlements } from './open-entitlement-store.ts'
import type { Sweep } from './sweep.ts'
import { closeSweep, putOffSweep, saveStrays, suspect } from './sweep-store.ts'
import { settle } from './take-store.ts'

/** When a provisioner is swept, and when its sweeps stop. */
const house = await openHouse()
const account = '630000000001'

test('the sweeps of a tenant with nothing left stop, and start again when access is given', async () => {
  const on = await driftStage(house, 'idle')
  const { stop } = startWorkersWith(house, () => ({ wakesSweep: false }))
  const access = await on.held(account)
  await on.revoke(access)
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  await on.sweep()
  /** As if all access had ended long ago. */
  const forget = () =>
    house.asSuperuser(`update entitlement set updated_at = updated_at - interval '31 days' where tenant_id = $1`, [
      on.tenant_id,
    ])
  await forget()
  const rests = () =>
    house.asSuperuser('select from sweep where tenant_id = $1 and next_look_at is null', [on.tenant_id])
  await (await on.beginSweep())()
  assert.equal((await rests()).length, 0, 'one more sweep is due')
  const between = await on.held('610000000009')
  const [woken] = await house.asSuperuser('select idle from sweep where tenant_id = $1', [on.tenant_id])
  assert.deepEqual(woken, { idle: false }, 'access given meanwhile counts')
  await on.revoke(between)
  await on.grantsAre(between.request, 'revoked', 'deprovisioned')
  await on.sweep()
  await forget()
  await (await on.beginSweep())()
  await (await on.beginSweep())()
  assert.equal((await rests()).length, 1)
  const again = await on.held(account)
  assert.equal((await rests()).length, 0)
  await on.byHand.remove(account)
  await on.sweep()
  assert.deepEqual(await on.driftEvents(), [{ type: 'grant.drifted', subject_id: again.grant, drift: 'removed' }])
  await stop()
})

test('access that is still being given keeps its sweep', async () => {
  const on = await driftStage(house, 'on its way')
  const { stop } = startWorkersWith(house, () => ({}))
  await on.inject({ polls: 1_000 })
  const request = await on.ask(on.account(account))
  await on.grantsAre(request, 'pending', 'attempting')
  await (await on.beginSweep())()
  await (await on.beginSweep())()
  const sweeps = await house.asSuperuser(
    'select idle, next_look_at is not null as goes_on from sweep where tenant_id = $1',
    [on.tenant_id],
  )
  assert.deepEqual(sweeps, [{ idle: false, goes_on: true }])
  await on.inject({})
  await on.grantsAre(request, 'active', 'successful')
  await stop()
})

test('a sweep that lost its lease writes nothing (F2)', async () => {
  const on = await driftStage(house, 'stale sweep')
  const { stop } = startWorkersWith(house, () => ({}))
  await on.held(account)
  await on.age()
  await stop()
  const kept = () =>
    house.asSuperuser(
      `select to_jsonb(s) as sweep, (select jsonb_agg(to_jsonb(e)) from entitlement e
        where e.tenant_id = s.tenant_id) as ledger
        from sweep s where tenant_id = $1`,
      [on.tenant_id],
    )
  const [row] = await house.asSuperuser<{ id: string; entitlement: string }>(
    'select s.id, e.id as entitlement from sweep s join entitlement e using (tenant_id) where tenant_id = $1',
    [on.tenant_id],
  )
  assert.ok(row)
  const before = await kept()
  const tx = house.database.tenant(on.tenant_id)
  const ctx = {
    tx,
    actor: { kind: 'system', user_id: null, api_key_id: null, scopes: new Set<string>() },
    request_id: 'test',
  } as const
  const stale = { tenant_id: on.tenant_id, id: row.id, generation: '999' }
  const stray: Sighting = { key: 'a stray', target: {} }
  await suspect(tx, stale, [row.entitlement], 0)
  const sweep: Sweep = {
    ...{ provisioner: 'sandbox', provisioner_id: null, provisioner_version: null },
    ...{ failures: 0, began_at: '2026-01-01Z', epoch: 0, is_whole: false, is_adopted: false, has_orphans: true },
  }
  await saveStrays(ctx, stale, sweep, [stray])
  await closeSweep(tx, stale, '2026-01-01Z', { isNeeded: true, wakesSweep: false, epoch: 9 })
  await putOffSweep(tx, stale, 0, 'no')
  assert.deepEqual(await kept(), before)
  assert.deepEqual(await on.driftEvents(), [])
})

test('access that a sweep suspects while a run of it is about to end is checked after that run', async () => {
  const on = await driftStage(house, 'suspected meanwhile')
  const { stop } = startWorkersWith(house, () => ({}))
  await on.held(account)
  await stop()
  await on.age()
  const [sweep] = await house.asSuperuser<WorkItem>(
    'select tenant_id, id, generation::text from sweep where tenant_id = $1',
    [on.tenant_id],
  )
  const [item] = await house.asSuperuser<WorkItem>(
    `update entitlement set generation = generation + 1, next_look_at = clock_timestamp(),
      lease_until = clock_timestamp() + interval '20 seconds' where tenant_id = $1
      returning tenant_id, id, generation::text`,
    [on.tenant_id],
  )
  assert.ok(sweep && item)
  const tx = house.database.tenant(on.tenant_id)
  const [row] = await openEntitlements(tx, [item])
  assert.ok(row)
  await suspect(tx, sweep, [item.id], 0)
  await settle(tx, [{ item, due_at: row.due_at, ...rest(beginRun(row)) }])
  const [kept] = await house.asSuperuser(
    'select suspected, next_look_at <= clock_timestamp() as is_due from entitlement where id = $1',
    [item.id],
  )
  assert.deepEqual(kept, { suspected: true, is_due: true })
})

test('a list that does not end adds at most 12,000 strays', async () => {
  const on = await driftStage(house, 'endless', false)
  const { stop } = startWorkersWith(house, () => ({
    async *discover(_tx, known) {
      yield await Promise.resolve(known)
      for (const page of ['a', 'b', 'c']) {
        yield Array.from({ length: 6_000 }, (_, index) => ({ key: `stray ${page} ${index}`, target: {} }))
      }
    },
  }))
  await on.held(account)
  await on.sweep()
  const [kept] = await house.asSuperuser(
    `select count(*)::int as strays from entitlement where tenant_id = $1 and held_before`,
    [on.tenant_id],
  )
  assert.deepEqual(kept, { strays: 12_000 })
  await stop()
})
