import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type TestTenant } from '../../test/support/house.ts'
import { newId } from '../kernel/id.ts'

const house = await openHouse()
const other = await house.tenant('Other')

const path = '/v1/provisioners'
const as = ({ tenant_id, owner }: TestTenant, method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })
const sound = { name: 'Rehearsal', provisioner_type: 'sandbox' }
const create = (tenant: TestTenant, more: object = {}) => as(tenant, 'POST', path, { ...sound, ...more })

const accounts = { resource_type: 'cloud_account' }
const buckets = (...account_ids: string[]) => ({ resource_type: 'cloud_storage_bucket', account_ids })

const named = (...resource_ids: string[]) => ({ resource_type: 'cloud_storage_bucket', resource_ids })

const eventsOf = (id: unknown) =>
  house.asSuperuser<{ type: string; data: object }>('select type, data from event where subject_id = $1 order by seq', [
    id,
  ])

suite('creating a provisioner', () => {
  test('stores and returns the record, and emits an event', async () => {
    const tenant = await house.tenant('Setting up')
    const serves = [named('logs-*', 'a-bucket'), buckets('222222222222', '111111111111'), accounts]
    const made = await create(tenant, { serves, corrects_drift: true })
    assert.equal(made.status, 201, made.text)
    const { id, created_at, updated_at, shown_once, ...rest } = made.body
    assert.equal(updated_at, created_at)
    assert.deepEqual(shown_once, {})
    const ordered = [accounts, buckets('111111111111', '222222222222'), named('a-bucket', 'logs-*')]
    assert.deepEqual(rest, {
      name: 'Rehearsal',
      provisioner_type: 'sandbox',
      mode: 'rehearsal',
      config: {},
      serves: ordered,
      enabled: true,
      corrects_drift: true,
      version: 1,
      previous_secrets_until: null,
      health: null,
    })
    assert.deepEqual((await as(tenant, 'GET', `${path}/${id}`)).body, { id, created_at, updated_at, ...rest })
    const data = { provisioner_type: 'sandbox', serves: ordered, enabled: true, corrects_drift: true }
    assert.deepEqual(await eventsOf(id), [{ type: 'provisioner.created', data }])
  })

  test('warns of one that serves nothing, until it serves something', async () => {
    const tenant = await house.tenant('Serving nothing')
    const made = await create(tenant)
    const url = `${path}/${made.body.id}`
    const codes = (warnings: unknown) => (warnings as { code: string }[] | undefined)?.map(({ code }) => code)
    assert.deepEqual(codes(made.body.warnings), ['serves_nothing'])
    const read = await as(tenant, 'GET', url)
    assert.deepEqual(codes(read.body.warnings), ['serves_nothing'])
    // As it was read, with what it serves: the warning is sent back too.
    const changed = await as(tenant, 'PATCH', url, { ...read.body, serves: [accounts] })
    assert.deepEqual([changed.status, 'warnings' in changed.body], [200, false], changed.text)
  })

  const faulty: [string, object, string][] = [
    ['without a name', { name: undefined }, '/name'],
    ['with an unknown type', { provisioner_type: 'mainframe' }, '/provisioner_type'],
    ['with a config that its type does not take', { config: { token: 'x' } }, '/config/token'],
    ['with a placeholder for a secret', { config: { token: '[redacted]' } }, '/config/token'],
    [
      'for a resource type that is granted on accounts',
      { serves: [{ resource_type: 'cloud_permission_set' }] },
      '/serves/0/resource_type',
    ],
    ['for an unknown resource type', { serves: [{ resource_type: 'mainframe' }] }, '/serves/0/resource_type'],
    ['for a malformed account id', { serves: [buckets('12')] }, '/serves/0/account_ids/0'],
    ['for an empty list of accounts', { serves: [buckets()] }, '/serves/0/account_ids'],
    ['for one resource type twice', { serves: [accounts, accounts] }, '/serves/1'],
    ['for one id twice', { serves: [named('logs-*', 'logs-*')] }, '/serves/0/resource_ids/1'],
    ['for an id that is none of its type', { serves: [named('logs', 'Logs_1')] }, '/serves/0/resource_ids/1'],
    ['for every id', { serves: [named('*')] }, '/serves/0/resource_ids/0'],
    ['for a pattern with too many stars', { serves: [named('a*b*c*d*')] }, '/serves/0/resource_ids/0'],
    ['for ids and accounts in one entry', { serves: [{ ...named('logs'), ...buckets('111111111111') }] }, '/serves/0'],
    ['for one account twice', { serves: [buckets('111111111111', '111111111111')] }, '/serves/0/account_ids/1'],
    ['with a version', { version: 7 }, '/version'],
    ['with generated secrets', { shown_once: {} }, '/shown_once'],
  ]
  for (const [name, more, pointer] of faulty) {
    test(`is refused ${name}`, async () => {
      const reply = await create(other, more)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], reply.text)
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.equal(fields[0]?.pointer, pointer)
    })
  }
})

suite('what a provisioner serves', () => {
  test('cannot be served by another: the refusal names the first', async () => {
    const tenant = await house.tenant('Serving')
    const first = (await create(tenant, { name: 'First', serves: [buckets('111111111111', '222222222222')] })).body
    const reply = await create(tenant, { serves: [accounts, buckets('222222222222', '333333333333')] })
    assert.deepEqual([reply.status, reply.body.code], [409, 'resource_already_served'])
    assert.match(String(reply.body.message), /“First”/)
    assert.deepEqual(reply.body.details, {
      ...{ resource_type: 'cloud_storage_bucket', account_id: '222222222222', resource_id: null },
      provisioner_id: first.id,
    })
    assert.equal(((await as(tenant, 'GET', path)).body.data as object[]).length, 1, 'nothing was stored')
    // An entry for all accounts and one for another account do not overlap with it.
    const beside = await create(tenant, {
      serves: [{ resource_type: 'cloud_storage_bucket' }, buckets('333333333333')],
    })
    assert.equal(beside.status, 201, beside.text)
    const taking = await as(tenant, 'PATCH', `${path}/${beside.body.id}`, { serves: [buckets('111111111111')] })
    assert.deepEqual([taking.status, taking.body.code], [409, 'resource_already_served'])
    const byId = await create(tenant, { name: 'By id', serves: [named('logs-*')] })
    const again = await create(tenant, { serves: [named('logs-*')] })
    assert.match(String(again.body.message), /`cloud_storage_bucket` with the id `logs-\*` is served by .*“By id”/)
    assert.deepEqual(again.body.details, {
      ...{ resource_type: 'cloud_storage_bucket', account_id: null, resource_id: 'logs-*' },
      provisioner_id: byId.body.id,
    })
    const now = (await as(tenant, 'GET', `${path}/${beside.body.id}`)).body
    assert.deepEqual([now.serves, now.version], [beside.body.serves, 1])
  })

  test('has at most 200 ids with a star for a type, over all provisioners', async () => {
    const tenant = await house.tenant('Many patterns')
    const some = (from: number, count: number) => named(...Array.from({ length: count }, (_, n) => `p-${from + n}-*`))
    assert.equal(
      (await create(tenant, { serves: [some(0, 150), { ...some(0, 150), resource_type: 'cloud_db_instance' }] }))
        .status,
      201,
    )
    const full = await create(tenant, { serves: [some(150, 51)] })
    assert.deepEqual([full.status, full.body.code], [422, 'unprocessable'], full.text)
    assert.equal((await create(tenant, { serves: [some(150, 50), named('a-whole-one')] })).status, 201)
  })

  test('goes to exactly one of many concurrent requests, in whatever order they list it', async () => {
    const tenant = await house.tenant('Serving at once')
    const ids = Array.from({ length: 20 }, (_, place) => String(100_000_000_000 + place))
    const idLists = Array.from({ length: 6 }, (_, place) => (place % 2 === 0 ? ids : ids.toReversed()))
    const replies = await Promise.all(idLists.map((some) => create(tenant, { serves: [buckets(...some)] })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409])
    const codes = new Set(replies.filter(({ status }) => status === 409).map(({ body }) => body.code))
    assert.deepEqual([...codes], ['resource_already_served'])
  })

  test('is replaced as a whole, which frees what is left out', async () => {
    const tenant = await house.tenant('Serving again')
    const { id } = (await create(tenant, { serves: [accounts, buckets('111111111111')] })).body
    const serves = [buckets('111111111111', '222222222222')]
    const changed = await as(tenant, 'PATCH', `${path}/${id}`, { serves })
    assert.deepEqual([changed.body.serves, changed.body.version], [serves, 2])
    assert.deepEqual((await eventsOf(id)).at(-1), {
      type: 'provisioner.updated',
      data: { fields: ['serves'], enabled: true, corrects_drift: false, serves },
    })
    assert.equal((await create(tenant, { serves: [accounts] })).status, 201)
    assert.deepEqual((await as(tenant, 'PATCH', `${path}/${id}`, { serves: [] })).body.serves, [])
  })
})

suite('changing a provisioner', () => {
  test('to its present values changes nothing and emits no event', async () => {
    const tenant = await house.tenant('Same')
    const { shown_once, ...made } = (await create(tenant, { serves: [accounts] })).body
    const { name, config, serves, enabled, corrects_drift } = made
    const same = await as(tenant, 'PATCH', `${path}/${made.id}`, { name, config, serves, enabled, corrects_drift })
    assert.deepEqual(same.body, made)
    assert.equal((await eventsOf(made.id)).length, 1)
  })

  test('loses none of many concurrent changes', async () => {
    const tenant = await house.tenant('At once')
    const { id } = (await create(tenant)).body
    const changes = [{ name: 'New' }, { enabled: false }, { corrects_drift: true }, { serves: [accounts] }]
    const replies = await Promise.all(changes.map((change) => as(tenant, 'PATCH', `${path}/${id}`, change)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    const now = (await as(tenant, 'GET', `${path}/${id}`)).body
    assert.deepEqual(
      [now.name, now.enabled, now.corrects_drift, now.serves, now.version],
      ['New', false, true, [accounts], 5],
    )
  })

  for (const change of [
    { provisioner_type: 'aws-identity-center' },
    { health: {} },
    { config: { a: 1 } },
    { name: '' },
  ]) {
    test(`refuses ${JSON.stringify(change)}`, async () => {
      const { id } = (await create(other)).body
      assert.equal((await as(other, 'PATCH', `${path}/${id}`, change)).status, 400)
    })
  }
})

suite('the provisioners of a tenant', () => {
  for (const [method, body] of [['GET'], ['PATCH', { name: 'taken' }], ['DELETE']] as const) {
    test(`answer ${method} from another tenant like an id that does not exist (T2)`, async () => {
      const { id } = (await create(other)).body
      const stranger = await house.tenant(`Stranger ${method}`)
      const [foreign, never] = await Promise.all(
        [id, newId()].map((one) => as(stranger, method, `${path}/${one}`, body)),
      )
      assert.deepEqual([foreign?.status, foreign?.text], [404, never?.text])
      assert.equal((await as(other, 'GET', `${path}/${id}`)).body.name, 'Rehearsal')
    })
  }

  test('are listed page by page in the order of their creation', async () => {
    const tenant = await house.tenant('Pages')
    for (const name of ['one', 'two', 'three']) await create(tenant, { name })
    const first = await as(tenant, 'GET', `${path}?limit=2`)
    const second = await as(tenant, 'GET', `${path}?limit=2&cursor=${first.body.next_cursor}`)
    const names = [first, second].flatMap(({ body }) => (body.data as { name: string }[]).map(({ name }) => name))
    assert.deepEqual(names, ['one', 'two', 'three'])
  })

  test('free what they serve when they are deleted', async () => {
    const tenant = await house.tenant('Deleting')
    const { id } = (await create(tenant, { serves: [accounts] })).body
    const replies = await Promise.all([1, 2].map(() => as(tenant, 'DELETE', `${path}/${id}`)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [204, 404])
    assert.equal((await as(tenant, 'GET', `${path}/${id}`)).status, 404)
    assert.equal((await create(tenant, { serves: [accounts] })).status, 201)
    assert.deepEqual((await eventsOf(id)).at(-1), { type: 'provisioner.deleted', data: {} })
  })
})

suite('testing a provisioner', () => {
  test('stores and returns the checks, and emits an event', async () => {
    const tenant = await house.tenant('Testing')
    const { shown_once, ...made } = (await create(tenant)).body
    const tested = await as(tenant, 'POST', `${path}/${made.id}/test`)
    const { mode, ...health } = tested.body
    const { checked_at, ...rest } = health
    const checks = [{ what: 'the sandbox', ok: true, message: 'a simulated cloud: it gives no real access' }]
    assert.deepEqual([tested.status, rest], [200, { ok: true, checks }])
    assert.equal(mode, 'rehearsal')
    // The test does not change the version, so an open driver stays open.
    assert.deepEqual((await as(tenant, 'GET', `${path}/${made.id}`)).body, { ...made, health })
    assert.deepEqual((await eventsOf(made.id)).at(-1), { type: 'provisioner.tested', data: { ok: true, failed: 0 } })
    await as(tenant, 'PATCH', `${path}/${made.id}`, { name: 'Another' })
    assert.deepEqual((await as(tenant, 'GET', `${path}/${made.id}`)).body.health, health)
  })

  test('of another tenant answers 404 (T2)', async () => {
    const { id } = (await create(other)).body
    const stranger = await house.tenant('Stranger who tests')
    for (const verb of ['test', 'rotate-secret']) {
      assert.equal((await as(stranger, 'POST', `${path}/${id}/${verb}`, {})).status, 404)
    }
  })
})

test('a rotation is refused for a type without generated secrets', async () => {
  const { id } = (await create(other)).body
  const reply = await as(other, 'POST', `${path}/${id}/rotate-secret`, {})
  assert.deepEqual([reply.status, reply.body.code], [422, 'unprocessable'])
})
