import assert from 'node:assert/strict'
import { afterEach, suite, test } from 'node:test'
import { openHouse, type TestTenant } from '../../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../../test/support/lock.ts'
import { openPostRoom, openTestCarrier } from '../../../test/support/post-room.ts'
import { until } from '../../../test/support/wait.ts'
import { emit } from '../../events/emit.ts'
import { releaseLeases } from '../../jobs/release-leases.ts'
import { systemActor } from '../../kernel/context.ts'
import type { SendOutcome } from '../../kernel/send-outcome.ts'
import { insertDeliveries } from './fan-out-store.ts'

const house = await openHouse()
const room = openPostRoom(house)
const { call, channel, happen, createDeliveries, deliveries, seen, becomes } = room
const path = '/v1/notification-channels'
const groups = { event_filters: ['group.created'] }

afterEach(room.clear)

const taken: SendOutcome = { kind: 'delivered', said: null }

/** A carrier that waits in its first delivery until the test releases it. */
function heldCarrier() {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const carrier = openTestCarrier(async () => {
    reach()
    await released
    return taken
  })
  return { carrier, reached, release }
}

/** A channel with one recipient. The first of so many deliveries is in flight until the test releases it. */
async function underWay(name: string, count: number, leaving?: AbortSignal) {
  const tenant = await house.tenant(name)
  const id = await channel(tenant, ['a@example.com'], groups)
  await happen(tenant, count)
  await createDeliveries()
  const { carrier, reached, release } = heldCarrier()
  const workers = room.send({ email: carrier }, leaving)
  await reached
  return { tenant, id, carrier, release, workers }
}

suite('the waiting deliveries of a channel', () => {
  const off = 'the channel is switched off'
  const endings: [string, (tenant: TestTenant, id: string) => Promise<unknown>, string][] = [
    ['that is switched off', (tenant, id) => call(tenant, 'PATCH', `${path}/${id}`, { enabled: false }), off],
    [
      'that lost the recipient',
      (tenant, id) => call(tenant, 'PATCH', `${path}/${id}`, { to_addresses: ['other@example.com'] }),
      'the channel no longer has this recipient',
    ],
  ]
  for (const [name, end, why] of endings) {
    test(`${name} fail, and nothing more is sent`, async () => {
      const { tenant, id, carrier, release } = await underWay('Ending', 3)
      await end(tenant, id)
      release()
      await becomes(id, [
        ['delivered', null],
        ['failed', why],
        ['failed', why],
      ])
      assert.equal(carrier.carried.length, 1)
    })
  }

  test('that is deleted are deleted with it, and nothing more is sent', async () => {
    const { tenant, id, carrier, release } = await underWay('Deleted', 3)
    assert.equal((await call(tenant, 'DELETE', `${path}/${id}`)).status, 204)
    assert.equal((await call(tenant, 'GET', `${path}/${id}/deliveries`)).status, 404)
    release()
    const queues = () => house.asSuperuser('select from delivery_lane where tenant_id = $1', [tenant.tenant_id])
    await createDeliveries()
    await until('no recipient queue is left', async () => (await queues()).length === 0)
    assert.deepEqual(await seen(id), [])
    assert.equal(carrier.carried.length, 1)
  })

  test('that is deleted are deleted with it, as are many finished ones before their retention ends', async () => {
    const tenant = await house.tenant('Deleted late')
    const id = await channel(tenant, ['a@example.com'], groups)
    const tx = house.database.tenant(tenant.tenant_id)
    const event = { type: 'group.created', subject_type: 'group', subject_id: id } as const
    await tx.write([
      emit(
        { tx, actor: systemActor, request_id: 'test' },
        Array.from({ length: 600 }, () => event),
      ),
    ])
    await createDeliveries()
    await house.asSuperuser(
      `update delivery set status = 'delivered', finished_at = clock_timestamp(), next_attempt_at = null
        where tenant_id = $1`,
      [tenant.tenant_id],
    )
    assert.equal((await call(tenant, 'DELETE', `${path}/${id}`)).status, 204)
    await createDeliveries()
    room.send({ email: openTestCarrier(() => taken) })
    const queues = () => house.asSuperuser('select from delivery_lane where tenant_id = $1', [tenant.tenant_id])
    await until('no recipient queue is left', async () => (await queues()).length === 0)
  })

  test('whose receiver is gone fail, and the channel is disabled with one event', async () => {
    const tenant = await house.tenant('Gone')
    const id = await channel(tenant, ['a@example.com', 'b@example.com'], groups)
    await happen(tenant, 2)
    await createDeliveries()
    room.send({ email: openTestCarrier(() => ({ kind: 'gone', why: '410 gone' })) })
    await until('all failed', async () => (await seen(id)).every(([status]) => status === 'failed'))
    assert.equal((await call(tenant, 'GET', `${path}/${id}`)).body.enabled, false)
    const events = await house.asSuperuser(
      `select from event where subject_id = $1 and type = 'notification_channel.disabled'`,
      [id],
    )
    assert.equal(events.length, 1)
  })

  test('that was changed during the attempt do not disable it when the old receiver is gone', async () => {
    const tenant = await house.tenant('Moved')
    const id = await channel(tenant, ['a@example.com'], groups)
    await happen(tenant, 1)
    await createDeliveries()
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const carrier = openTestCarrier(async () => {
      reach()
      await released
      return { kind: 'gone', why: '410 gone' }
    })
    room.send({ email: carrier })
    await reached
    await call(tenant, 'PATCH', `${path}/${id}`, { subject_prefix: '[moved]' })
    release()
    await becomes(id, [['failed', '410 gone']])
    assert.equal((await call(tenant, 'GET', `${path}/${id}`)).body.enabled, true)
  })
})

suite('a process that lost the lease of a recipient queue', () => {
  test('sends nothing more from it, and writes nothing (F9)', async () => {
    const tenant = await house.tenant('Asleep')
    const id = await channel(tenant, ['a@example.com'], groups)
    await happen(tenant, 3)
    await createDeliveries()
    const asleep = heldCarrier()
    const sleeping = room.runQueueJob(tenant, { email: asleep.carrier })
    await asleep.reached
    // The lease ends as it would by time, and another process takes the queue.
    await releaseLeases(house.database)
    const awake = heldCarrier()
    room.send({ email: awake.carrier })
    await awake.reached
    asleep.release()
    await sleeping
    assert.equal(asleep.carrier.carried.length, 1, 'nothing more after it lost the lease')
    const [first] = await deliveries(id)
    assert.deepEqual([first?.status, first?.attempts], ['pending', 2], 'the other process writes the outcome')
    awake.release()
    await becomes(id, [
      ['delivered', null],
      ['delivered', null],
      ['delivered', null],
    ])
    assert.deepEqual(
      awake.carrier.carried.map(({ data }) => data.number),
      [1, 2, 3],
    )
  })
})

test('hanging mailboxes do not delay a webhook, however many there are (F9)', async () => {
  const tenant = await house.tenant('Types')
  const addresses = Array.from({ length: 50 }, (_, index) => `a${index}@example.com`)
  const mail = await channel(tenant, addresses, groups)
  await happen(tenant, 2)
  await createDeliveries()
  const { carrier, release } = heldCarrier()
  room.send({ email: carrier, webhook: openTestCarrier() })
  await until('the limit of mails in flight is reached', async () => carrier.carried.length === 16)
  const receiver = { name: 'a receiver', url: 'https://hooks.example.com/events', ...groups }
  const { id } = (await call(tenant, 'POST', `${path}/webhook`, receiver)).body
  await happen(tenant, 2)
  await createDeliveries()
  await becomes(String(id), [
    ['delivered', null],
    ['delivered', null],
  ])
  assert.ok((await seen(mail)).every(([status]) => status === 'pending'))
  const [shown] = (await call(tenant, 'GET', `${path}/${id}/deliveries`)).body.data as object[]
  assert.ok(shown !== undefined && !('recipient' in shown))
  release()
})

suite('a run', () => {
  test('that ends while a delivery is inserted leaves nothing waiting', async () => {
    const { tenant, id, release } = await underWay('Coming in', 1)
    const late = await happen(tenant, 1)
    await house.database.tenant(tenant.tenant_id).interactive(async (tx) => {
      await insertDeliveries(tx, late)
      release()
      await aLockIsWaitedFor(house, tx)
    })
    await becomes(id, [
      ['delivered', null],
      ['delivered', null],
    ])
  })

  test('ends when the service stops: the delivery in flight finishes, and no other begins', async () => {
    const leaving = new AbortController()
    const { id, release, workers } = await underWay('Stopping', 3, leaving.signal)
    leaving.abort()
    const stopped = workers.stop()
    release()
    await stopped
    assert.deepEqual(await seen(id), [
      ['delivered', null],
      ['pending', null],
      ['pending', null],
    ])
    assert.deepEqual(await house.asSuperuser('select from delivery_lane where lease_until is not null'), [])
  })

  test('does not wait for a carrier that never returns', async () => {
    const tenant = await house.tenant('Hanging')
    const id = await channel(tenant, ['a@example.com'], groups)
    await happen(tenant, 1)
    await createDeliveries()
    room.send({ email: { ...openTestCarrier(), maxMs: 0, carry: () => new Promise(() => undefined) } })
    await becomes(id, [['pending', 'the attempt did not end within 0 s']])
  })
})
