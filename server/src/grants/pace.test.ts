import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftStage } from '../../test/support/drift-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkersWith } from '../../test/support/workers.ts'
import { type Driver, type Held, NotNow, type Target, TargetError } from '../provisioners/driver.ts'
import { stuckRevokes } from './stuck-revoke-store.ts'

/** Targets that have no capacity now, are slow, or end access by themselves. */
const house = await openHouse()
const account = '620000000001'

/** A call that throws `NotNow` so many times, and then goes through. */
function fullFirst<Args extends unknown[], Answer>(
  times: number,
  after_ms: number,
  call: (...args: Args) => Promise<Answer>,
) {
  let left = times
  return (...args: Args): Promise<Answer> => {
    if (left === 0) return call(...args)
    left -= 1
    return Promise.reject(new NotNow(after_ms))
  }
}

const alwaysFull = (after_ms: number) => () => Promise.reject(new NotNow(after_ms))

test('a target without capacity is called again later: no failure is counted or notified', async () => {
  const on = await driftStage(house, 'no room')
  const { stop } = startWorkersWith(house, (sandbox) => ({
    plan: fullFirst(2, 1, sandbox.plan),
    grant: fullFirst(2, 1, sandbox.grant),
    revoke: fullFirst(2, 1, sandbox.revoke),
    poll: fullFirst(2, 1, sandbox.poll),
    verify: fullFirst(2, 1, sandbox.verify),
  }))
  const access = await on.held(account)
  await on.revoke(access)
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  const eventTypes = (await on.eventsOf(access.grant)).map(({ type }) => type)
  assert.deepEqual(eventTypes, ['grant.activated', 'grant.revoked'])
  assert.equal((await on.entitlement(account))?.failures, 0)
  await stop()
})

test('a target that requests a wait of a day is called again within a minute', async () => {
  const on = await driftStage(house, 'a day of quiet')
  const { stop } = startWorkersWith(house, () => ({ grant: alwaysFull(86_400_000) }))
  const request = await on.ask(on.account(account))
  await on.grantsAre(request, 'pending', 'attempting')
  await until('it waits', async () => {
    const waits = await house.asSuperuser(
      `select from entitlement where tenant_id = $1 and lease_until is null and failures = 0
        and next_look_at between clock_timestamp() and clock_timestamp() + interval '1 minute'`,
      [on.tenant_id],
    )
    return waits.length > 0
  })
  // The act was never begun: access that is found there meanwhile is foreign.
  assert.equal((await on.entitlement(account))?.act, null)
  const { provisioning } = await on.view({ grant: (await on.grantsOf(request))[0]?.id ?? '' })
  assert.deepEqual([provisioning.step, provisioning.failures, provisioning.last_error], ['giving', 0, null])
  await stop()
})

test('a target without capacity for new grants still revokes', async () => {
  const on = await driftStage(house, 'no room for new ones')
  let full = false
  const { stop } = startWorkersWith(house, (sandbox) => ({
    grant: (...call) => (full ? Promise.reject(new NotNow(1)) : sandbox.grant(...call)),
  }))
  const access = await on.held(account)
  full = true
  const waiting = await Promise.all(
    Array.from({ length: 40 }, (_, index) => on.ask(on.account(String(620_000_000_100 + index)))),
  )
  await on.revoke(access)
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  full = false
  for (const request of waiting) await on.grantsAre(request, 'active', 'successful')
  await stop()
})

const stuck: Record<string, (sandbox: Driver) => Partial<Driver>> = {
  'never finishes the revoke': (sandbox) => ({
    poll: (...call) => (isStuck ? Promise.resolve({ done: false, reference: call[2] }) : sandbox.poll(...call)),
    pollAfterMs: () => 20,
  }),
  'never has capacity': (sandbox) => ({
    revoke: (...call) => (isStuck ? Promise.reject(new NotNow(20)) : sandbox.revoke(...call)),
  }),
}
let isStuck = false

for (const [what, change] of Object.entries(stuck)) {
  test(`access still there five minutes after its end is notified once, shown and counted: its target ${what} (F7)`, async () => {
    const on = await driftStage(house, what)
    const { stop } = startWorkersWith(house, change)
    const access = await on.held(account)
    isStuck = true
    await on.revoke(access)
    await until('the revocation has begun', async () => (await on.entitlement(account))?.act === 'revoke')
    assert.deepEqual((await house.database.work.write([stuckRevokes()]))[0][0]?.stuck, 0)
    await house.asSuperuser(`update access_grant set ended_at = ended_at - interval '5 minutes' where id = $1`, [
      access.grant,
    ])
    await on.grantsAre(access.request, 'revoked', 'deprovisioning_failed')
    const failed = async () => (await on.eventsOf(access.grant)).filter(({ type }) => type === 'grant.failed').length
    const { provisioning } = await on.view(access)
    assert.deepEqual([provisioning.step, provisioning.failures], ['taking_away', 0])
    assert.equal(provisioning.last_error, 'the target has not taken it away yet')
    assert.deepEqual((await house.database.work.write([stuckRevokes()]))[0][0]?.stuck, 1)
    isStuck = false
    await on.grantsAre(access.request, 'revoked', 'deprovisioned')
    assert.equal(await failed(), 1)
    assert.equal(await on.heldAt(account), 0)
    await stop()
  })
}

/** A sandbox that ends access by itself, at the end that the call named. */
function endingSandbox() {
  const ends = new Map<unknown, number>()
  const requestedEnds: number[] = []
  const change = (sandbox: Driver): Partial<Driver> => ({
    grant(tx, target, at, signal) {
      requestedEnds.push(at.getTime())
      ends.set(target.key, at.getTime())
      return sandbox.grant(tx, target, at, signal)
    },
    async verify(tx, target: Target, at, signal): Promise<Held> {
      const held = await sandbox.verify(tx, target, at, signal)
      const isEarly = at !== null && (ends.get(target.key) ?? 0) < at.getTime()
      return held === 'held' && isEarly ? 'ends_early' : held
    },
  })
  return { ends, requestedEnds, change }
}

test('access that its target would end before a longer grant is given again, until that grant ends (R4)', async () => {
  const on = await driftStage(house, 'extended')
  const { requestedEnds, change } = endingSandbox()
  const { stop } = startWorkersWith(house, change)
  const first = await on.held(account, { duration_seconds: 600 })
  await on.sweep()
  assert.equal(requestedEnds.length, 1)
  await on.held(account, { duration_seconds: 7_200 })
  assert.equal(requestedEnds.length, 2)
  assert.ok((requestedEnds[1] ?? 0) - (requestedEnds[0] ?? 0) > 6_000_000)
  await on.revoke(first)
  await on.grantsAre(first.request, 'revoked', 'deprovisioned')
  assert.deepEqual([await on.heldAt(account), requestedEnds.length], [1, 2])
  await stop()
})

test('access that took long to give, and would end too early, is given again until its grant ends', async () => {
  const on = await driftStage(house, 'slow to give')
  const { ends, requestedEnds, change } = endingSandbox()
  const { stop } = startWorkersWith(house, change)
  await on.inject({ polls: 1_000 })
  const request = await on.ask(on.account(account))
  await until(
    'the target has begun',
    async () => (await on.entitlement(account))?.act === 'grant' && requestedEnds.length === 1,
  )
  // As if the act had begun two minutes ago.
  for (const [key, at] of ends) ends.set(key, at - 120_000)
  await house.asSuperuser(
    `update entitlement set given_until = given_until - interval '2 minutes' where tenant_id = $1`,
    [on.tenant_id],
  )
  await on.inject({})
  await on.grantsAre(request, 'active', 'successful')
  await until('it was given once more', () => Promise.resolve(requestedEnds.length === 2))
  await until('no check is left', async () => {
    const { act, suspected, observed } = (await on.entitlement(account)) ?? {}
    return act === null && suspected === false && observed === 'present'
  })
  const [grant] = await on.grantsOf(request)
  const before = await house.asSuperuser(
    `select from sandbox_operation o join access_grant g using (tenant_id)
      where tenant_id = $1 and o.kind = 'create' and o.created_at < g.activated_at`,
    [on.tenant_id],
  )
  assert.equal(before.length, 1, 'it was active before it was given once more')
  assert.ok(Math.abs((requestedEnds[1] ?? 0) - Date.parse(grant?.expires_at ?? '')) < 1_000, 'until the grant ends')
  assert.deepEqual([(await on.entitlement(account))?.failures, requestedEnds.length], [0, 2])
  const eventTypes = (await on.eventsOf(grant?.id ?? '')).map(({ type }) => type)
  assert.deepEqual(eventTypes, ['grant.activated'])
  await stop()
})

test('a disabled provisioner gives nothing to a grant that already waits for its target', async () => {
  const on = await driftStage(house, 'disabled meanwhile', false)
  let isDown = true
  const { stop } = startWorkersWith(house, (sandbox) => ({
    grant: (...args) => (isDown ? Promise.reject(new TargetError('transient', 'it is down')) : sandbox.grant(...args)),
  }))
  const request = await on.ask(on.account(account))
  const [waiting] = await on.grantsAre(request, 'pending', 'attempting')
  const enable = (enabled: boolean) =>
    house.asSuperuser('update provisioner set enabled = $2, version = version + 1 where tenant_id = $1', [
      on.tenant_id,
      enabled,
    ])
  await enable(false)
  isDown = false
  await until('it says why it waits', async () => {
    const { last_error } = (await on.view({ grant: waiting?.id ?? '' })).provisioning
    return /disabled/.test(String(last_error))
  })
  assert.equal(await on.heldAt(account), 0)
  await enable(true)
  await on.grantsAre(request, 'active', 'successful')
  await stop()
})

test('characters that PostgreSQL cannot store are replaced or removed in a target’s error', async () => {
  const on = await driftStage(house, 'unkeepable', false)
  let isDown = true
  const { stop } = startWorkersWith(house, (sandbox) => ({
    grant: (...args) =>
      isDown ? Promise.reject(new TargetError('transient', 'half \ud83d, \0none')) : sandbox.grant(...args),
  }))
  const request = await on.ask(on.account(account))
  const [waiting] = await on.grantsAre(request, 'pending', 'attempting')
  await until('it says what failed', async () => {
    const { last_error } = (await on.view({ grant: waiting?.id ?? '' })).provisioning
    return last_error === 'half \ufffd, none'
  })
  isDown = false
  await on.grantsAre(request, 'active', 'successful')
  await stop()
})

test('a disabled provisioner gives nothing new, and still revokes what it gave', async () => {
  const on = await driftStage(house, 'disabled', false)
  const { stop } = startWorkersWith(house, () => ({}))
  const access = await on.held(account)
  await house.asSuperuser('update provisioner set enabled = false, version = version + 1 where tenant_id = $1', [
    on.tenant_id,
  ])
  const request = await on.ask(on.account('620000000002'))
  const [waiting] = await on.grantsOf(request)
  await until('it says why it waits', async () => {
    const { step, last_error } = (await on.view({ grant: waiting?.id ?? '' })).provisioning
    return step === 'planning' && /disabled/.test(String(last_error))
  })
  await on.revoke(access)
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  assert.equal(await on.heldAt(account), 0)
  await house.asSuperuser('update provisioner set enabled = true, version = version + 1 where tenant_id = $1', [
    on.tenant_id,
  ])
  await on.grantsAre(request, 'active', 'successful')
  await stop()
})
