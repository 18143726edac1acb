import assert from 'node:assert/strict'
import { afterEach, suite, test } from 'node:test'
import { openHouse, type TestTenant } from '../../../test/support/house.ts'
import { openPostRoom, openTestCarrier } from '../../../test/support/post-room.ts'

const house = await openHouse()
const room = openPostRoom(house)
const { call, channel, happen, createDeliveries, deliveries, becomes } = room
const path = '/v1/notification-channels'
const groups = { event_filters: ['group.created'] }

afterEach(room.clear)

suite('the deliveries of a channel', () => {
  type Shown = { id: string; event_id: string; recipient: string; status: string }
  const list = async (tenant: TestTenant, url: string) => {
    const { status, body } = await call(tenant, 'GET', url)
    assert.equal(status, 200)
    return body as { data: Shown[]; next_cursor?: string; has_more: boolean }
  }

  test('are listed page by page, newest events first, each once, and filtered by status', async () => {
    const tenant = await house.tenant('Pages')
    const id = await channel(tenant, ['a@example.com', 'b@example.com'], groups)
    const other = await channel(tenant, ['c@example.com'], groups)
    const ids = await happen(tenant, 4)
    await createDeliveries()
    const all: Shown[] = []
    let next: string | undefined
    do {
      const page = await list(tenant, `${path}/${id}/deliveries?limit=3${next ? `&cursor=${next}` : ''}`)
      all.push(...page.data)
      next = page.next_cursor
    } while (next !== undefined)
    assert.deepEqual(
      all.map(({ event_id }) => event_id),
      ids.toReversed().flatMap((event_id) => [event_id, event_id]),
    )
    assert.equal(new Set(all.map((one) => one.id)).size, 8)
    assert.equal((await list(tenant, `${path}/${other}/deliveries`)).data.length, 4)
    assert.equal((await list(tenant, `${path}/${id}/deliveries?status=pending`)).data.length, 8)
    assert.equal((await list(tenant, `${path}/${id}/deliveries?status=failed`)).data.length, 0)
  })

  test('cannot be resent while pending, to a removed recipient, or by a disabled channel', async () => {
    const tenant = await house.tenant('Resend')
    const id = await channel(tenant, ['a@example.com', 'b@example.com'], groups)
    await happen(tenant, 1)
    await createDeliveries()
    const [first] = (await list(tenant, `${path}/${id}/deliveries`)).data
    const resend = async (delivery_id = first?.id) => {
      const { status, body } = await call(tenant, 'POST', `${path}/${id}/deliveries/${delivery_id}/resend`)
      return [status, body.code]
    }
    assert.deepEqual(await resend(), [409, 'delivery_pending'])
    assert.deepEqual(await resend(id), [404, 'not_found'])
    room.send({ email: openTestCarrier() })
    await becomes(id, [
      ['delivered', null],
      ['delivered', null],
    ])
    const rest = ['a@example.com', 'b@example.com'].filter((address) => address !== first?.recipient)
    await call(tenant, 'PATCH', `${path}/${id}`, { to_addresses: rest })
    assert.deepEqual(await resend(), [422, 'unprocessable'])
    await call(tenant, 'PATCH', `${path}/${id}`, { enabled: false })
    assert.deepEqual(await resend(), [409, 'channel_disabled'])
  })

  test('are resent only once by many concurrent requests', async () => {
    const tenant = await house.tenant('Resend at once')
    const id = await channel(tenant, ['a@example.com'], groups)
    await happen(tenant, 1)
    await createDeliveries()
    const workers = room.send({ email: openTestCarrier() })
    await becomes(id, [['delivered', null]])
    await workers.stop()
    const [delivery] = await deliveries(id)
    const url = `${path}/${id}/deliveries/${delivery?.id}/resend`
    const replies = await Promise.all([1, 2, 3, 4].map(() => call(tenant, 'POST', url)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [202, 409, 409, 409])
  })
})

suite('testing a channel', () => {
  const tryIt = (tenant: TestTenant, id: string) => call(tenant, 'POST', `${path}/${id}/test`)

  test('sends to each of its recipients, whatever events it names, and to no other channel', async () => {
    const tenant = await house.tenant('Trial')
    const id = await channel(tenant, ['a@example.com', 'b@example.com'], { event_filters: ['grant.failed'] })
    const other = await channel(tenant, ['c@example.com'])
    const tried = await tryIt(tenant, id)
    assert.equal(tried.status, 202)
    const made = tried.body.deliveries as { event_type: string; recipient: string; status: string }[]
    assert.deepEqual(
      made.map(({ event_type, recipient, status }) => [event_type, recipient, status]).sort(),
      ['a@example.com', 'b@example.com'].map((to) => ['notification_channel.tested', to, 'pending']),
    )
    await createDeliveries()
    room.send({ email: openTestCarrier() })
    await becomes(id, [
      ['delivered', null],
      ['delivered', null],
    ])
    const types = await house.asSuperuser<{ type: string }>(
      'select distinct e.type from delivery d join event e on e.id = d.event_id where d.channel_id = $1',
      [other],
    )
    assert.ok(!types.some(({ type }) => type === 'notification_channel.tested'))
  })

  test('is refused while another test is pending', async () => {
    const tenant = await house.tenant('Trials')
    const id = await channel(tenant, ['a@example.com'], groups)
    const replies = await Promise.all([1, 2, 3].map(() => tryIt(tenant, id)))
    assert.deepEqual(replies.map(({ status, body }) => [status, body.code]).sort(), [
      [202, undefined],
      [409, 'delivery_pending'],
      [409, 'delivery_pending'],
    ])
    room.send({ email: openTestCarrier() })
    await becomes(id, [['delivered', null]])
    assert.equal((await tryIt(tenant, id)).status, 202)
  })

  test('also retries at once what already waits, because the channel may be fixed', async () => {
    const tenant = await house.tenant('Mended')
    const id = await channel(tenant, ['a@example.com'], groups)
    await happen(tenant, 1)
    await createDeliveries()
    await house.asSuperuser(
      `update delivery_lane set failures = 9, next_look_at = clock_timestamp() + interval '1 hour'`,
    )
    room.send({ email: openTestCarrier() })
    assert.equal((await tryIt(tenant, id)).status, 202)
    await becomes(id, [
      ['delivered', null],
      ['delivered', null],
    ])
  })

  test('is refused for a disabled channel', async () => {
    const tenant = await house.tenant('Trial off')
    const id = await channel(tenant, ['a@example.com'], { enabled: false })
    const { status, body } = await tryIt(tenant, id)
    assert.deepEqual([status, body.code], [409, 'channel_disabled'])
  })
})

test('a tenant has at most a hundred channels (I2)', async () => {
  const tenant = await house.tenant('Channels')
  await house.asSuperuser(
    `insert into notification_channel (tenant_id, id, name, channel_type, config)
      select $1, gen_random_uuid(), 'c', 'email', '{"to_addresses":["a@example.com"]}' from generate_series(1, 99)`,
    [tenant.tenant_id],
  )
  await channel(tenant, ['last@example.com'])
  const more = await call(tenant, 'POST', `${path}/email`, { name: 'one more', to_addresses: ['a@example.com'] })
  assert.deepEqual([more.status, more.body.code], [422, 'unprocessable'])
})
