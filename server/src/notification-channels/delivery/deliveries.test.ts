import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../../test/support/house.ts'
import { openPostRoom, openTestCarrier } from '../../../test/support/post-room.ts'
import { until } from '../../../test/support/wait.ts'

const house = await openHouse()
const room = openPostRoom(house)
const { channel, happen, tell, deliveries } = room

const isDone = (channel_id: string, count: number) =>
  until('all is delivered or failed', async () => {
    const rows = await deliveries(channel_id)
    return rows.length === count && rows.every(({ status }) => status !== 'pending') && rows
  })

suite('the deliveries of an event', () => {
  test('are one for each recipient, although the event is handed over twice', async () => {
    const tenant = await house.tenant('Twice')
    const id = await channel(tenant, ['a@example.com', 'b@example.com'])
    const ids = await happen(tenant, 2)
    await tell()
    await house.asSuperuser(`update event_cursor set xid = '0', seq = 0 where subscriber = 'channels'`)
    await tell()
    const rows = await deliveries(id)
    assert.deepEqual(
      rows.map(({ event_id, recipient }) => [event_id, recipient]),
      ids.flatMap((event_id) => ['a@example.com', 'b@example.com'].map((recipient) => [event_id, recipient])),
    )
    const carrier = openTestCarrier()
    room.send({ email: carrier })
    await isDone(id, 4)
    assert.equal(new Set(carrier.carried.map((one) => one.id)).size, 4)
    assert.equal(carrier.carried.length, 4)
  })
})
