import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type TestTenant } from '../../test/support/house.ts'
import { newId } from '../kernel/id.ts'

const house = await openHouse()
const acme = await house.tenant('Acme')
const other = await house.tenant('Other')

const path = '/v1/notification-channels'
const as = ({ tenant_id, owner }: TestTenant, method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })
const sound = { name: 'Security', to_addresses: ['sec@example.com'] }
const create = (tenant: TestTenant, more: object = {}) => as(tenant, 'POST', `${path}/email`, { ...sound, ...more })

const eventsOf = (id: unknown) =>
  house.asSuperuser<{ type: string; actor_id: string; data: object }>(
    'select type, actor_id, data from event where subject_id = $1 order by seq',
    [id],
  )

suite('creating an email channel', () => {
  test('returns only the record, and emits an event without an address (S3)', async () => {
    const made = await create(acme, {
      subject_prefix: '[access]',
      event_filters: ['grant.failed', 'grant.failed'],
      enabled: false,
    })
    assert.equal(made.status, 201)
    const { id, created_at, updated_at, ...rest } = made.body
    assert.match(String(created_at), /Z$/)
    assert.equal(updated_at, created_at)
    assert.deepEqual(rest, {
      name: 'Security',
      channel_type: 'email',
      config: { to_addresses: ['sec@example.com'], subject_prefix: '[access]' },
      event_filters: ['grant.failed'],
      enabled: false,
    })
    const data = { channel_type: 'email', event_filters: ['grant.failed'], enabled: false }
    assert.deepEqual(await eventsOf(id), [{ type: 'notification_channel.created', actor_id: acme.owner.user_id, data }])
  })

  test('omits missing fields from the config, and is enabled for every event by default', async () => {
    const { body } = await create(acme)
    assert.deepEqual([body.config, body.event_filters, body.enabled], [{ to_addresses: ['sec@example.com'] }, [], true])
  })

  test('warns of a sender that the operator has not allowed, as a change does', async () => {
    const { tenant_id, ...tenant } = await house.tenant('sender')
    const sender = { tenant_id, ...tenant }
    const codes = ({ body }: { body: { warnings?: { code: string }[] } }) => body.warnings?.map(({ code }) => code)
    const made = await create(sender, { from_address: 'access@example.com' })
    const url = `${path}/${made.body.id}`
    assert.deepEqual([made.status, codes(made)], [201, ['sender_not_allowed']])
    assert.match(made.text, /replies go to access@example\.com/)
    const shown = await as(sender, 'GET', url)
    assert.deepEqual([codes(shown), shown.headers.etag], [undefined, made.headers.etag])
    assert.deepEqual(codes(await as(sender, 'PATCH', url, { name: 'Other' })), ['sender_not_allowed'])
    await house.asSuperuser('insert into tenant_mail_domain (tenant_id, domain) values ($1, $2)', [
      tenant_id,
      'example.com',
    ])
    assert.equal(codes(await as(sender, 'PATCH', url, { name: 'Third' })), undefined)
    assert.equal(codes(await create(sender, { from_address: 'sec@example.com' })), undefined)
    const other = await as(sender, 'PATCH', url, { from_address: 'a@other.example' })
    assert.deepEqual([other.status, codes(other)], [200, ['sender_not_allowed']])
    assert.equal(codes(await as(sender, 'PATCH', url, { from_address: null })), undefined)
  })

  const many = (count: number) => Array.from({ length: count }, (_, index) => `user${index}@example.com`)
  test('is refused beyond 500 recipients of all channels of a tenant, however they are added (I2)', async () => {
    const crowded = await house.tenant('crowd')
    const make = (count: number) => create(crowded, { to_addresses: many(count) })
    const hook = () => as(crowded, 'POST', `${path}/webhook`, { name: 'n', url: 'https://93.184.215.14/hook' })
    for (let made = 0; made < 9; made += 1) assert.equal((await make(50)).status, 201)
    const last = await make(49)
    const full = await make(2)
    assert.deepEqual([last.status, full.status, full.body.code], [201, 422, 'unprocessable'])
    assert.deepEqual([(await hook()).status, (await hook()).status], [201, 422])
    const change = (count: number) => as(crowded, 'PATCH', `${path}/${last.body.id}`, { to_addresses: many(count) })
    assert.deepEqual([(await change(50)).status, (await change(48)).status, (await change(49)).status], [422, 200, 200])
  })

  test('accepts 50 recipients', async () => {
    assert.equal((await create(acme, { to_addresses: many(50) })).status, 201)
  })

  const faulty: [string, object, string][] = [
    ['without a name', { name: undefined }, '/name'],
    ['with an empty name', { name: '' }, '/name'],
    ['with a name of 10 KB (J8)', { name: 'x'.repeat(10_240) }, '/name'],
    ['without recipients', { to_addresses: undefined }, '/to_addresses'],
    ['with an empty list of recipients', { to_addresses: [] }, '/to_addresses'],
    ['with 51 recipients (I2)', { to_addresses: many(51) }, '/to_addresses'],
    ['with 10,000 recipients (I2)', { to_addresses: many(10_000) }, '/to_addresses'],
    ['with a recipient that is no address', { to_addresses: ['nobody'] }, '/to_addresses/0'],
    ['with a recipient that is no text', { to_addresses: [{ address: 'a@example.com' }] }, '/to_addresses/0'],
    ['with a sender of two lines (J8)', { from_address: 'a@example.com\r\nBcc: b@example.com' }, '/from_address'],
    ['with a sender of 10 KB (J8)', { from_address: `${'x'.repeat(10_240)}@example.com` }, '/from_address'],
    ['with a prefix of 10 KB (J8)', { subject_prefix: 'x'.repeat(10_240) }, '/subject_prefix'],
    ['with a prefix of two lines (J8)', { subject_prefix: 'a\r\nBcc: b@example.com' }, '/subject_prefix'],
    ['with a prefix of 101 characters (J8)', { subject_prefix: 'x'.repeat(101) }, '/subject_prefix'],
    ['with an unknown event', { event_filters: ['request.created', 'request.*'] }, '/event_filters/1'],
    ['with an event that is only for the audit log', { event_filters: ['auth.signed_in'] }, '/event_filters/0'],
    ['with the name of an inherited object property as event', { event_filters: ['constructor'] }, '/event_filters/0'],
    ['with a type in the body', { channel_type: 'webhook' }, '/channel_type'],
    ['with a state that is no boolean', { enabled: 'yes' }, '/enabled'],
  ]
  for (const [name, more, pointer] of faulty) {
    test(`is refused ${name}`, async () => {
      const { status, body } = await create(acme, more)
      assert.deepEqual([status, body.code], [400, 'invalid_input'])
      const { fields } = body.details as { fields: { pointer: string }[] }
      assert.equal(fields[0]?.pointer, pointer)
    })
  }

  test('without a credential is 401', async () => {
    const reply = await house.call({ method: 'POST', url: `${path}/email`, tenant_id: acme.tenant_id, body: sound })
    assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'])
  })
})

suite('changing a channel', () => {
  test('changes the fields that are sent, and emits their names without an address', async () => {
    const { body: made } = await create(acme, { from_address: 'access@example.com' })
    const url = `${path}/${made.id}`
    const changed = await as(acme, 'PATCH', url, { to_addresses: ['new@example.com'], from_address: null, name: 'New' })
    assert.equal(changed.status, 200)
    const { updated_at, ...rest } = changed.body
    assert.deepEqual(rest, {
      id: made.id,
      name: 'New',
      channel_type: 'email',
      config: { to_addresses: ['new@example.com'] },
      event_filters: [],
      enabled: true,
      created_at: made.created_at,
    })
    assert.ok(String(updated_at) > String(made.updated_at))
    assert.deepEqual((await as(acme, 'GET', url)).body, changed.body)
    const event = (await eventsOf(made.id)).at(-1)
    assert.deepEqual(event?.data, {
      fields: ['name', 'to_addresses', 'from_address'],
      event_filters: [],
      enabled: true,
    })
  })

  test('that changes nothing emits no event', async () => {
    const { body: made } = await create(acme)
    for (const change of [{}, sound, { enabled: true }]) {
      assert.deepEqual((await as(acme, 'PATCH', `${path}/${made.id}`, change)).body, made)
    }
    assert.equal((await eventsOf(made.id)).length, 1)
  })

  test('loses none of several concurrent changes', async () => {
    const { body: made } = await create(acme)
    const changes = [{ name: 'New' }, { enabled: false }, { subject_prefix: '[new]' }]
    await Promise.all(changes.map((change) => as(acme, 'PATCH', `${path}/${made.id}`, change)))
    const { name, enabled, config } = (await as(acme, 'GET', `${path}/${made.id}`)).body
    assert.deepEqual([name, enabled], ['New', false])
    assert.deepEqual(config, { to_addresses: sound.to_addresses, subject_prefix: '[new]' })
  })

  for (const change of [
    { channel_type: 'webhook' },
    { config: {} },
    { to_addresses: [] },
    { name: null },
    { event_filters: ['x'] },
  ]) {
    test(`refuses ${JSON.stringify(change)}`, async () => {
      const { body: made } = await create(acme)
      assert.equal((await as(acme, 'PATCH', `${path}/${made.id}`, change)).status, 400)
    })
  }
})

suite('the channels of a tenant', () => {
  test('are listed page by page in the order of their creation, without those of another tenant', async () => {
    const tenant = await house.tenant('Pages')
    for (const name of ['one', 'two', 'three']) await create(tenant, { name })
    const first = await as(tenant, 'GET', `${path}?limit=2`)
    const second = await as(tenant, 'GET', `${path}?limit=2&cursor=${first.body.next_cursor}`)
    const names = [first, second].flatMap(({ body }) => (body.data as { name: string }[]).map(({ name }) => name))
    assert.deepEqual(names, ['one', 'two', 'three'])
    assert.deepEqual([first.body.has_more, second.body.has_more], [true, false])
  })

  test('are gone after their deletion, which emits one event', async () => {
    const { id } = (await create(acme)).body
    const replies = await Promise.all([1, 2].map(() => as(acme, 'DELETE', `${path}/${id}`)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [204, 404])
    assert.equal((await as(acme, 'GET', `${path}/${id}`)).status, 404)
    assert.deepEqual(
      (await eventsOf(id)).map(({ type }) => type),
      ['notification_channel.created', 'notification_channel.deleted'],
    )
  })

  for (const [method, body] of [['GET'], ['PATCH', { name: 'taken' }], ['DELETE']] as const) {
    test(`of another tenant answer ${method} like an id that does not exist (T2)`, async () => {
      const { id } = (await create(other)).body
      const [foreign, never] = await Promise.all([id, newId()].map((one) => as(acme, method, `${path}/${one}`, body)))
      assert.deepEqual([foreign?.status, foreign?.text], [404, never?.text])
      assert.equal((await as(other, 'GET', `${path}/${id}`)).body.name, 'Security')
    })
  }
})
