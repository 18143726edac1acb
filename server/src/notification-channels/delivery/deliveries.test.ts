import assert from 'node:assert/strict'
import { afterEach, suite, test } from 'node:test'
import { openHouse } from '../../../test/support/house.ts'
import { openPostRoom, openTestCarrier } from '../../../test/support/post-room.ts'
import { until } from '../../../test/support/wait.ts'
import type { SendOutcome } from '../../kernel/send-outcome.ts'

const house = await openHouse()
const room = openPostRoom(house)
const { call, channel, happen, createDeliveries, deliveries } = room
const path = '/v1/notification-channels'

afterEach(room.clear)

const statuses = async (id: string) => (await deliveries(id)).map(({ status }) => status)
const areAll = (id: string, count: number, status: string) =>
  until(`${count} are ${status}`, async () => {
    const seen = await statuses(id)
    return seen.length === count && seen.every((one) => one === status)
  })

const tryAgain = (holds_up: 'this' | 'all'): SendOutcome => ({ kind: 'try_again', why: '451 later', holds_up })

suite('an event', () => {
  test('makes one delivery for each channel and recipient, even if it is handed over twice (F9)', async () => {
    const tenant = await house.tenant('Twice')
    const id = await channel(tenant, ['a@example.com', 'b@example.com'])
    const ids = await happen(tenant, 2)
    await createDeliveries()
    await house.asSuperuser(`update event_cursor set xid = '0', seq = 0 where subscriber = 'channels'`)
    await createDeliveries()
    assert.deepEqual(
      (await deliveries(id)).map(({ event_id, recipient }) => [event_id, recipient]),
      ids.flatMap((event_id) => ['a@example.com', 'b@example.com'].map((recipient) => [event_id, recipient])),
    )
    const carrier = openTestCarrier()
    room.send({ email: carrier })
    await areAll(id, 4, 'delivered')
    assert.equal(new Set(carrier.carried.map((one) => one.id)).size, 4)
    assert.equal(carrier.carried.length, 4)
  })

  test('goes to enabled channels that existed before it and name it or no event', async () => {
    const tenant = await house.tenant('Filters')
    const all = await channel(tenant, ['all@example.com'])
    const named = await channel(tenant, ['named@example.com'], { event_filters: ['group.created'] })
    const other = await channel(tenant, ['other@example.com'], { event_filters: ['grant.failed'] })
    const off = await channel(tenant, ['off@example.com'], { enabled: false })
    await happen(tenant, 1)
    const later = await channel(tenant, ['later@example.com'], { event_filters: ['group.created'] })
    await createDeliveries()
    const counts = await Promise.all([named, other, off, later].map(async (id) => (await deliveries(id)).length))
    assert.deepEqual(counts, [1, 0, 0, 0])
    const types = await house.asSuperuser<{ type: string }>(
      'select e.type from delivery d join event e on e.id = d.event_id where d.channel_id = $1 order by d.seq',
      [all],
    )
    const made = 'notification_channel.created'
    assert.deepEqual(
      types.map(({ type }) => type),
      [made, made, made, 'group.created', made],
      'every event but its own creation',
    )
  })

  test('that is only for the audit log goes to no channel', async () => {
    const tenant = await house.tenant('Audit')
    const id = await channel(tenant, ['a@example.com'])
    await happen(tenant, 1, 'auth.signed_in')
    await createDeliveries()
    assert.deepEqual(await statuses(id), [])
  })

  test('reaches every recipient, also when thousands of deliveries take several batches', async () => {
    const tenant = await house.tenant('Many')
    const addresses = (prefix: string) => Array.from({ length: 50 }, (_, index) => `${prefix}${index}@example.com`)
    const ids: string[] = []
    for (const prefix of ['a', 'b', 'c']) {
      ids.push(await channel(tenant, addresses(prefix), { event_filters: ['group.created'] }))
    }
    await happen(tenant, 60)
    await createDeliveries()
    for (const id of ids) assert.equal((await statuses(id)).length, 50 * 60)
  })
})

suite('a recipient', () => {
  test('gets the events in order, also from two processes', async () => {
    const tenant = await house.tenant('Order')
    const id = await channel(tenant, ['a@example.com', 'b@example.com'], { event_filters: ['group.created'] })
    const carriers = [openTestCarrier(), openTestCarrier()]
    const carried: [string, unknown][] = []
    for (const carrier of carriers) {
      carrier.behave = ({ event, recipient }) => {
        carried.push([recipient, event.data.number])
        return { kind: 'delivered', said: null }
      }
    }
    const ids = await happen(tenant, 45)
    await createDeliveries()
    for (const email of carriers) room.send({ email })
    await areAll(id, 90, 'delivered')
    for (const recipient of ['a@example.com', 'b@example.com']) {
      const numbers = carried.flatMap(([to, number]) => (to === recipient ? [number] : []))
      assert.deepEqual(
        numbers,
        ids.map((_, index) => index + 1),
      )
    }
  })

  test('that is slow does not delay another (F9)', async () => {
    const tenant = await house.tenant('Slow')
    const id = await channel(tenant, ['slow@example.com', 'quick@example.com'], { event_filters: ['group.created'] })
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    const carrier = openTestCarrier(async ({ recipient }) => {
      if (recipient === 'slow@example.com') await opened
      return { kind: 'delivered', said: null }
    })
    await happen(tenant, 30)
    await createDeliveries()
    room.send({ email: carrier })
    const rowsOf = async (recipient: string) => (await deliveries(id)).filter((row) => row.recipient === recipient)
    await until('the quick one has all', async () =>
      (await rowsOf('quick@example.com')).every(({ status }) => status === 'delivered'),
    )
    assert.ok((await rowsOf('slow@example.com')).every(({ status }) => status === 'pending'))
    open()
    await areAll(id, 60, 'delivered')
  })

  test('that cannot be reached gets all events in order later; only the first is tried until then (F9)', async () => {
    const tenant = await house.tenant('Closed')
    const id = await channel(tenant, ['a@example.com'], { event_filters: ['group.created'] })
    let isOpen = false
    const carrier = openTestCarrier(() => (isOpen ? { kind: 'delivered', said: '250 taken' } : tryAgain('all')))
    const ids = await happen(tenant, 3)
    await createDeliveries()
    room.send({ email: carrier })
    const [first] = await until('the first was tried', async () => {
      const rows = await deliveries(id)
      return rows[0]?.last_error === '451 later' && rows[0].failures === 1 && rows
    })
    assert.deepEqual(
      carrier.carried.map(({ data }) => data.number),
      [1],
      'the others wait behind it',
    )
    ids.push(...(await happen(tenant, 1)))
    await createDeliveries()
    isOpen = true
    await house.asSuperuser('update delivery_lane set next_look_at = clock_timestamp() where id = $1', [first?.lane_id])
    await areAll(id, 4, 'delivered')
    assert.deepEqual(
      carrier.carried.map(({ event_id }) => event_id),
      [ids[0], ...ids],
    )
    const rows = await deliveries(id)
    assert.deepEqual(
      [rows[0]?.attempts, rows[0]?.last_error, rows[0]?.last_response, rows[0]?.failures],
      [2, null, '250 taken', 0],
    )
  })

  test('that postpones one message gets the others', async () => {
    const tenant = await house.tenant('Greylist')
    const id = await channel(tenant, ['a@example.com'], { event_filters: ['group.created'] })
    const carrier = openTestCarrier(({ event }) =>
      event.data.number === 1 ? tryAgain('this') : { kind: 'delivered', said: null },
    )
    await happen(tenant, 3)
    await createDeliveries()
    room.send({ email: carrier })
    await until('the others are delivered', async () => {
      const seen = await statuses(id)
      return seen.join() === 'pending,delivered,delivered'
    })
    const shown = (await call(tenant, 'GET', `${path}/${id}/deliveries?status=pending`)).body.data as Shown[]
    assert.equal(shown.length, 1)
    assert.equal(shown[0]?.last_error, '451 later')
    assert.ok(String(shown[0]?.next_attempt_at) > String(shown[0]?.attempted_at), 'it waits')
  })
})

type Shown = Record<string, unknown> & { id: string }

suite('a delivery', () => {
  const failing: [string, SendOutcome | Error, RegExp][] = [
    ['that is refused fails at once', { kind: 'refused', why: '550 nobody here' }, /^550 nobody here$/],
  ]
  for (const [name, outcome, why] of failing) {
    test(name, async () => {
      const tenant = await house.tenant('Failing')
      const id = await channel(tenant, ['a@example.com'], { event_filters: ['group.created'] })
      await happen(tenant, 1)
      await createDeliveries()
      room.send({ email: openTestCarrier(() => outcome as SendOutcome) })
      await areAll(id, 1, 'failed')
      assert.match(String((await deliveries(id))[0]?.last_error), why)
    })
  }

  test('fails when its time is over, is listed as failed, and can be resent (F9)', async () => {
    const tenant = await house.tenant('Given up')
    const id = await channel(tenant, ['a@example.com'], { event_filters: ['group.created'] })
    const carrier = openTestCarrier(() => tryAgain('this'))
    const [event_id] = await happen(tenant, 1)
    await createDeliveries()
    room.send({ email: carrier })
    await until('it was tried', async () => (await deliveries(id))[0]?.last_error === '451 later')
    await soon(id)
    await house.asSuperuser('update delivery set give_up_at = clock_timestamp() where channel_id = $1', [id])
    await areAll(id, 1, 'failed')
    const [failed] = (await call(tenant, 'GET', `${path}/${id}/deliveries?status=failed`)).body.data as Shown[]
    assert.deepEqual(
      [
        failed?.event_id,
        failed?.event_type,
        failed?.recipient,
        failed?.status,
        failed?.last_error,
        failed?.delivered_at,
      ],
      [event_id, 'group.created', 'a@example.com', 'failed', 'its time was over; the last attempt: 451 later', null],
    )
    carrier.behave = () => ({ kind: 'delivered', said: '250 taken' })
    const resent = await call(tenant, 'POST', `${path}/${id}/deliveries/${failed?.id}/resend`)
    assert.deepEqual([resent.status, resent.body.status, resent.body.resends], [202, 'pending', 1])
    await areAll(id, 1, 'delivered')
    assert.equal(new Set(carrier.carried.map((one) => one.id)).size, 1, 'under the same id')
    const events = await house.asSuperuser<{ data: object }>(
      `select data from event where subject_id = $1 and type = 'notification_channel.resent'`,
      [id],
    )
    assert.deepEqual(events, [{ data: { delivery_id: failed?.id } }])
  })

  test('whose carrier throws stays pending, and the run reports the error', async () => {
    const tenant = await house.tenant('Broken')
    const id = await channel(tenant, ['a@example.com'], { event_filters: ['group.created'] })
    await happen(tenant, 1)
    await createDeliveries()
    const carrier = openTestCarrier(() => Promise.reject(new Error('a fault of ours')))
    await assert.rejects(room.runQueueJob(tenant, { email: carrier }), /a fault of ours/)
    assert.match(String((await deliveries(id))[0]?.last_error), /^the service failed to send it/)
    assert.deepEqual(await statuses(id), ['pending'])
  })

  test('is deleted after its retention, with its empty recipient queue', async () => {
    const tenant = await house.tenant('Old')
    const id = await channel(tenant, ['a@example.com'], { event_filters: ['group.created'] })
    await happen(tenant, 2)
    await createDeliveries()
    room.send({ email: openTestCarrier() })
    await areAll(id, 2, 'delivered')
    await house.asSuperuser(
      `update delivery set finished_at = finished_at - interval '31 days' where channel_id = $1`,
      [id],
    )
    await soon(id)
    const left = () => house.asSuperuser('select from delivery_lane where channel_id = $1', [id])
    await until('no recipient queue is left', async () => (await left()).length === 0)
    assert.deepEqual(await deliveries(id), [])
  })
})

/** Makes the recipient queues of a channel, and the deliveries that wait in them, due now. */
async function soon(id: string): Promise<void> {
  await house.asSuperuser(
    `with due as (update delivery set next_attempt_at = clock_timestamp() where channel_id = $1 and finished_at is null)
      update delivery_lane set next_look_at = clock_timestamp() where channel_id = $1`,
    [id],
  )
}
