import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'

const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
const { tenant_id, owner } = await house.tenant('Acme')

const path = '/v1/notification-channels'
const as = (method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })
const sound = { name: 'SIEM', url: 'http://127.0.0.1:9/events' }
const create = (more: object = {}) => as('POST', `${path}/webhook`, { ...sound, ...more })
const rotate = (id: unknown, body: object = {}) => as('POST', `${path}/${id}/rotate-secret`, body)
const gateway = 'Bearer a-key-of-the-gateway'

const eventsOf = (id: unknown) =>
  house.asSuperuser<{ type: string; data: object }>('select type, data from event where subject_id = $1 order by seq', [
    id,
  ])
const pointersOf = ({ body }: { body: Record<string, unknown> }) =>
  (body.details as { fields: { pointer: string }[] }).fields.map(({ pointer }) => pointer)

suite('creating a webhook channel', () => {
  test('returns the record and its secret, and emits an event without address or secret', async () => {
    const made = await create({ headers: { authorization: gateway }, event_filters: ['grant.failed'], enabled: false })
    assert.equal(made.status, 201)
    const { id, secret, created_at, updated_at, ...rest } = made.body
    assert.match(String(secret), /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.equal(updated_at, created_at)
    assert.deepEqual(rest, {
      name: 'SIEM',
      channel_type: 'webhook',
      config: { url: sound.url, headers: '[redacted]' },
      event_filters: ['grant.failed'],
      enabled: false,
      previous_secret_until: null,
    })
    const data = { channel_type: 'webhook', event_filters: ['grant.failed'], enabled: false }
    assert.deepEqual(await eventsOf(id), [{ type: 'notification_channel.created', data }])
  })

  test('stores its secrets sealed, and shows them in no later response (S3)', async () => {
    const { id, secret } = (await create({ headers: { authorization: gateway } })).body
    const next = (await rotate(id)).body.secret
    assert.notEqual(next, secret)
    const [row] = await house.asSuperuser('select * from notification_channel where id = $1', [id])
    const answers = await Promise.all([
      as('GET', `${path}/${id}`),
      as('GET', `${path}?limit=200`),
      as('PATCH', `${path}/${id}`, { name: 'Another', headers: { authorization: `${gateway} more` } }),
      as('PATCH', `${path}/${id}`, { url: 'http://127.0.0.1:10/' }),
      as('GET', '/v1/audit-events'),
    ])
    for (const text of [JSON.stringify(row), ...answers.map((answer) => answer.text)]) {
      for (const hidden of [secret, next, 'key-of-the-gateway']) assert.ok(!text.includes(String(hidden)), text)
    }
  })

  const faulty: [string, object, string][] = [
    ['without a name', { name: undefined }, '/name'],
    ['with a name of two lines (J8)', { name: 'a\r\nb' }, '/name'],
    ['without an address', { url: undefined }, '/url'],
    ['with a malformed address', { url: 'events' }, '/url'],
    ['with an address without TLS', { url: 'http://example.com/' }, '/url'],
    ['with a name and a password in it', { url: 'https://a:b@93.184.216.34/' }, '/url'],
    ['with a query, which can hold secrets', { url: 'https://93.184.216.34/?key=secret' }, '/url'],
    ['with an address of 501 characters', { url: `https://93.184.216.34/${'x'.repeat(480)}` }, '/url'],
    ['to an internal address (S1)', { url: 'https://169.254.169.254/latest' }, '/url'],
    ['to an internal address in another notation (S1)', { url: 'https://[::ffff:10.0.0.1]/' }, '/url'],
    ['with a malformed header name', { headers: { 'a b': 'c' } }, '/headers'],
    ['with a header of two lines', { headers: { a: 'b\r\nc: d' } }, '/headers'],
    ['with a header that the service sets', { headers: { 'Webhook-Id': 'x' } }, '/headers'],
    ['with 21 headers', { headers: Object.fromEntries([...Array(21).keys()].map((n) => [`h${n}`, 'x'])) }, '/headers'],
    ['with a header that is a number', { headers: { a: 1 } }, '/headers/a'],
    ['with a secret of the caller’s', { secret: 'whsec_x' }, '/secret'],
    ['with recipients', { to_addresses: ['a@example.com'] }, '/to_addresses'],
    ['with an event that is only for the audit log', { event_filters: ['auth.signed_in'] }, '/event_filters/0'],
  ]
  for (const [name, more, pointer] of faulty) {
    test(`is refused ${name}`, async () => {
      const refused = await create(more)
      assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_input'], refused.text)
      assert.equal(pointersOf(refused)[0], pointer)
    })
  }
})

suite('changing a webhook channel', () => {
  test('changes the fields that are sent, and emits their names', async () => {
    const { secret: _, ...made } = (await create()).body
    const change = { url: 'http://127.0.0.1:10/', name: 'New', headers: { a: 'b' } }
    const changed = await as('PATCH', `${path}/${made.id}`, change)
    const { updated_at, ...rest } = changed.body
    assert.ok(String(updated_at) > String(made.updated_at))
    const config = { url: change.url, headers: '[redacted]' }
    assert.deepEqual({ ...rest, updated_at: made.updated_at }, { ...made, name: 'New', config })
    assert.deepEqual((await as('GET', `${path}/${made.id}`)).body, changed.body)
    const event = (await eventsOf(made.id)).at(-1)
    assert.deepEqual(event?.data, { fields: ['name', 'url', 'headers'], event_filters: [], enabled: true })
  })

  test('that changes nothing emits no event', async () => {
    const { secret: _, ...made } = (await create()).body
    for (const change of [{}, sound, { headers: null }, { headers: {} }]) {
      assert.deepEqual((await as('PATCH', `${path}/${made.id}`, change)).body, made)
    }
    assert.equal((await eventsOf(made.id)).length, 1)
  })

  test('does not send stored headers to a new address (S2)', async () => {
    const { id } = (await create({ headers: { authorization: gateway } })).body
    const url = 'http://127.0.0.1:10/'
    const refused = await as('PATCH', `${path}/${id}`, { url })
    assert.deepEqual([refused.status, pointersOf(refused)], [400, ['/url']])
    const dropped = await as('PATCH', `${path}/${id}`, { url, headers: null })
    assert.deepEqual(dropped.body.config, { url })
    assert.equal((await as('PATCH', `${path}/${id}`, { url: sound.url })).status, 200)
  })

  test('refuses the fields of mail, as mail refuses those of a webhook; the error names each', async () => {
    const { id } = (await create()).body
    const mail = await as('POST', `${path}/email`, { name: 'Mail', to_addresses: ['a@example.com'] })
    const wrong = await as('PATCH', `${path}/${id}`, {
      name: 'x',
      subject_prefix: null,
      to_addresses: ['b@example.com'],
    })
    assert.deepEqual([wrong.status, pointersOf(wrong)], [400, ['/to_addresses', '/subject_prefix']])
    assert.match(String(wrong.body.message), /is a field of a channel of type `email`; this one is of type `webhook`/)
    const other = await as('PATCH', `${path}/${mail.body.id}`, { url: sound.url, headers: null })
    assert.deepEqual([other.status, pointersOf(other)], [400, ['/url', '/headers']])
    assert.equal((await as('PATCH', `${path}/${id}`, { channel_type: 'webhook' })).status, 200)
    assert.equal((await as('PATCH', `${path}/${mail.body.id}`, { channel_type: 'webhook' })).status, 400)
  })

  test('is refused to an internal address (S1)', async () => {
    const { id } = (await create()).body
    const refused = await as('PATCH', `${path}/${id}`, { url: 'https://[fd00::1]/' })
    assert.deepEqual([refused.status, pointersOf(refused)], [400, ['/url']])
  })

  test('loses nothing when it runs at the same time as a rotation (S7)', async () => {
    const { id } = (await create()).body
    const replies = await Promise.all([
      rotate(id),
      as('PATCH', `${path}/${id}`, { headers: { a: 'b' } }),
      as('PATCH', `${path}/${id}`, { name: 'New' }),
    ])
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200],
    )
    const { name, config, previous_secret_until } = (await as('GET', `${path}/${id}`)).body
    assert.deepEqual([name, config], ['New', { url: sound.url, headers: '[redacted]' }])
    assert.notEqual(previous_secret_until, null)
  })
})

suite('rotating the secret of a channel', () => {
  test('returns the new one once and the end of the overlap, and emits an event without secrets (S7)', async () => {
    const made = (await create()).body
    const { id, secret } = made
    const { status, body } = await rotate(id)
    assert.equal(status, 200)
    const { secret: next, previous_secret_until, updated_at } = body
    assert.match(String(next), /^whsec_/)
    assert.notEqual(next, secret)
    const hours = (Date.parse(String(previous_secret_until)) - Date.parse(String(updated_at))) / 3_600_000
    assert.equal(Math.round(hours), 24)
    assert.deepEqual({ ...body, secret, updated_at: made.updated_at, previous_secret_until: null }, made)
    const event = { type: 'notification_channel.secret_rotated', data: { overlap_seconds: 86_400 } }
    assert.deepEqual((await eventsOf(id)).at(-1), event)
    assert.equal((await rotate(id, { overlap_seconds: 0 })).body.previous_secret_until, null)
  })

  for (const overlap_seconds of [-1, 604_801, 1.5, '60']) {
    test(`is refused with an overlap of ${JSON.stringify(overlap_seconds)}`, async () => {
      const { id } = (await create()).body
      assert.equal((await rotate(id, { overlap_seconds })).status, 400)
    })
  }

  test('is refused for a channel that signs nothing', async () => {
    const { id } = (await as('POST', `${path}/email`, { name: 'Mail', to_addresses: ['a@example.com'] })).body
    const { status, body } = await rotate(id)
    const message = 'a channel of type `email` signs nothing and has no secret'
    assert.deepEqual([status, body.code, body.message], [422, 'unprocessable', message])
  })
})
