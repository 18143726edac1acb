import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { insertRequests } from '../../test/support/insert-requests.ts'
import { listRequestsPage } from './request-list-store.ts'

const house = await openHouse()
const [ours, theirs] = [await house.tenant('ours'), await house.tenant('theirs')]
const { tenant_id, owner, people } = ours
const [ada, ben] = [people.user, people.approver]

type Seed = {
  by: Person
  id?: string
  type?: string
  action?: string
  reason?: string
  status?: string
  break_glass?: boolean
  decider?: Person
  at: string
}

/** Requests by their names, the oldest first. */
const seeds: Record<string, Seed> = {
  first: { by: ada, reason: 'Fix INC-4711, as Zoë asked', at: '2026-01-01T08:00:00Z' },
  second: { by: ben, action: 'ReadOnlyAccess', at: '2026-01-02T08:00:00Z', status: 'approved', decider: owner },
  third: {
    ...{ by: ada, id: 'payments-prod', type: 'cloud_db_instance', at: '2026-01-03T08:00:00Z' },
    ...{ status: 'denied', decider: ben },
  },
  fourth: {
    ...{ by: ada, break_glass: true, reason: 'production is down', at: '2026-01-04T08:00:00Z' },
    ...{ status: 'approved', decider: owner },
  },
  fifth: { by: owner, id: 'payments-test', type: 'cloud_db_instance', at: '2026-01-05T08:00:00.000001Z' },
  sixth: { by: ben, at: '2026-01-05T08:00:00.000002Z', status: 'cancelled' },
}
const ids = new Map<string, string>()

const seed = (tenant: string, { by, at, decider, ...one }: Seed) =>
  insertRequests(house, tenant, {
    ...{ ...one, requester_id: by.user_id, created_at: at },
    ...(decider !== undefined && { decided_by: decider.user_id }),
  })

for (const [name, one] of Object.entries(seeds)) ids.set(await seed(tenant_id, one), name)
await seed(theirs.tenant_id, {
  by: theirs.owner,
  id: 'payments-theirs',
  type: 'cloud_db_instance',
  at: seeds.first?.at ?? '',
})

const get = (person: Person, query: string) =>
  house.call({ method: 'GET', url: `/v1/requests${query}`, token: person.token, tenant_id })

/** The names of the requests that a query finds, read by pages of `limit`. */
async function found(person: Person, query: string, limit = 2): Promise<string[]> {
  const names: string[] = []
  let cursor = ''
  for (;;) {
    const { status, body, text } = await get(person, `?limit=${limit}${query && `&${query}`}${cursor}`)
    assert.equal(status, 200, text)
    names.push(...(body.data as { id: string }[]).map(({ id }) => ids.get(id) ?? id))
    if (body.has_more !== true) return names
    cursor = `&cursor=${encodeURIComponent(String(body.next_cursor))}`
  }
}

suite('the list of requests', () => {
  const cases: [string, string[]][] = [
    ['', ['sixth', 'fifth', 'fourth', 'third', 'second', 'first']],
    ['sort=created_at', ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']],
    ['sort=-created_at&status=approved', ['fourth', 'second']],
    ['status=approved,denied', ['fourth', 'third', 'second']],
    ['status=approved,approved', ['fourth', 'second']],
    ['requester_id=me', ['fifth']],
    [`requester_id=me,${ada.user_id}`, ['fifth', 'fourth', 'third', 'first']],
    [`requester_id=${ada.user_id.toUpperCase()}&sort=created_at`, ['first', 'third', 'fourth']],
    [`requester_id=${ada.user_id},${ben.user_id}&status=denied,cancelled`, ['sixth', 'third']],
    [`requester_id=${theirs.owner.user_id}`, []],
    ['decided_by=me', ['fourth', 'second']],
    ['decided_by=me&sort=created_at', ['second', 'fourth']],
    [`decided_by=${ben.user_id.toUpperCase()}`, ['third']],
    [`decided_by=me,${ben.user_id}`, ['fourth', 'third', 'second']],
    [`decided_by=${ada.user_id}`, []],
    [`decided_by=${theirs.owner.user_id}`, []],
    ['decided_by=me&status=denied', []],
    [`decided_by=me&requester_id=${ada.user_id}`, ['fourth']],
    ['decided_by=me&created_before=2026-01-03T08:00:00Z', ['second']],
    [`decided_by=${ben.user_id}&q=prod`, ['third']],
    ['resource_type=cloud_db_instance', ['fifth', 'third']],
    ['resource_type=cloud_db_instance,cloud_account&status=pending', ['fifth', 'first']],
    ['resource_id=payments-prod', ['third']],
    ['break_glass=true', ['fourth']],
    ['break_glass=false&sort=created_at', ['first', 'second', 'third', 'fifth', 'sixth']],
    ['created_after=2026-01-03T08:00:00Z', ['sixth', 'fifth', 'fourth', 'third']],
    ['created_before=2026-01-03T08:00:00Z', ['second', 'first']],
    ['created_after=2026-01-02T00:00:00Z&created_before=2026-01-04T00:00:00Z&status=denied', ['third']],
    ['created_after=2026-02-01T00:00:00Z', []],
    // Found words come in their own order, and the newest request of each word first.
    ['q=payments', ['fifth', 'third']],
    ['q=payments&sort=created_at', ['third', 'fifth']],
    ['q=PAY%20te', ['fifth']],
    ['q=prod', ['fourth', 'third']],
    ['q=pro%20down', ['fourth']],
    ['q=inc-4711', ['first']],
    ['q=4711', ['first']],
    ['q=zoe', ['first']],
    ['q=ZO%C3%8B', ['first']],
    ['q=readonlya', ['second']],
    ['q=prod&status=denied', ['third']],
    [`q=prod&requester_id=${ada.user_id}`, ['fourth', 'third']],
    ['q=nowhere', []],
    ['q=--', []],
  ]
  for (const [query, names] of cases) {
    test(`by \`${query}\` is ${names.join(', ') || 'empty'}`, async () => {
      assert.deepEqual(await found(owner, query), names)
      assert.deepEqual(await found(owner, query, 1), names, 'by pages of one')
      assert.deepEqual(await found(owner, query, 200), names, 'in one page')
    })
  }

  test('finds a request once, by whichever of its words begin alike', async () => {
    const id = await seed(tenant_id, { by: ben, reason: 'tea teapot teaspoon', at: '2025-01-01T00:00:00Z' })
    assert.deepEqual(await found(owner, 'q=tea'), [id])
    assert.deepEqual(await found(owner, 'q=tea&sort=created_at'), [id])
    assert.deepEqual(await found(owner, 'q=tea%20teas%20teap'), [id])
  })
})

suite('a requester', () => {
  test('lists their own requests only, whatever they filter by', async () => {
    assert.deepEqual(await found(ada, ''), ['fourth', 'third', 'first'])
    assert.deepEqual(await found(ada, 'requester_id=me&status=approved'), ['fourth'])
    assert.deepEqual(await found(ada, `requester_id=${ben.user_id}`), [])
    assert.deepEqual(await found(ada, `decided_by=${owner.user_id}`), ['fourth'])
    assert.deepEqual(await found(ada, 'decided_by=me'), [])
    assert.deepEqual(await found(ada, `requester_id=${ben.user_id},me`), ['fourth', 'third', 'first'])
    assert.deepEqual(await found(ada, 'resource_type=cloud_db_instance'), ['third'])
    assert.deepEqual(await found(ada, 'q=payments'), ['third'])
    assert.deepEqual(await found(ada, 'q=prod'), ['fourth', 'third'])
  })

  test('learns nothing from how far a page reads: requests of others end no page early', async () => {
    await house.asSuperuser(
      `insert into access_request select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(),
          'requester_id', $2::text, 'decided_by', $3::text, 'resource_id', 'payments-many'))).*
        from access_request r, generate_series(1, 2500) where r.id = $1`,
      [[...ids].find(([, name]) => name === 'fifth')?.[0], ben.user_id, owner.user_id],
    )
    for (const query of [
      'q=payments',
      'resource_id=payments-many',
      'q=payments&status=pending',
      'q=many&sort=created_at',
    ]) {
      const seen = await get(ada, `?limit=1&${query}`)
      const unknown = await get(ada, `?limit=1&${query.replace(/payments|many/g, 'nowhere')}`)
      const shown = (seen.body.data as unknown[]).length
      assert.deepEqual(
        [seen.body.has_more, shown],
        [false, query.startsWith('q=payments') && !query.includes('status') ? 1 : 0],
        query,
      )
      assert.deepEqual(unknown.body, { data: [], has_more: false })
    }
    const decided = await get(ada, `?limit=1&decided_by=${owner.user_id}&status=denied`)
    assert.deepEqual(decided.body, { data: [], has_more: false })
  })
})

suite('a page that few rows pass', () => {
  test('ends early, and its cursor leads to all that follow', async () => {
    // 2,500 newer requests of another user are read first.
    const first = await get(
      owner,
      '?limit=50&status=denied,cancelled&break_glass=false&created_after=2026-01-01T00:00:00Z',
    )
    assert.deepEqual([(first.body.data as unknown[]).length, first.body.has_more], [1, true])
    assert.deepEqual(await found(owner, 'status=denied,cancelled&break_glass=false', 50), ['sixth', 'third'])
    assert.deepEqual(await found(owner, 'q=payments&status=denied', 50), ['third'])
  })
})

test('a cursor of a search by words is refused where the words are only tested, and the reverse', async () => {
  const first = async (person: Person) => String((await get(person, '?limit=1&q=prod')).body.next_cursor)
  const [ofOwner, ofUser] = [await first(owner), await first(ada)]
  for (const [person, cursor] of [
    [ada, ofOwner],
    [owner, ofUser],
  ] as const) {
    const { status, body } = await get(person, `?limit=1&q=prod&cursor=${encodeURIComponent(cursor)}`)
    assert.deepEqual([status, body.code], [400, 'invalid_input'])
  }
})

test('a cursor of an earlier version, which had the id alone, is refused', async () => {
  const [id = ''] = ids.keys()
  const page = listRequestsPage(house.database.tenant(tenant_id), {}, { limit: 1, after: [id] })
  await assert.rejects(page, { code: 'invalid_input' })
})

suite('bad input', () => {
  const faults: [string, string][] = [
    ['status=unknown', '/status/0'],
    ['status=', '/status/0'],
    ['status=pending,', '/status/1'],
    [`status=${Array(11).fill('pending').join(',')}`, '/status'],
    ['requester_id=you', '/requester_id/0'],
    ['requester_id=me,0', '/requester_id/1'],
    ['decided_by=you', '/decided_by/0'],
    ['created_after=yesterday', '/created_after'],
    ['sort=name', '/sort'],
    ['q=', '/q'],
    [`q=${'a'.repeat(201)}`, '/q'],
    ['break_glass=yes', '/break_glass'],
  ]
  for (const [query, pointer] of faults) {
    test(`\`${query.slice(0, 40)}\` is refused, and named`, async () => {
      const { status, body, text } = await get(owner, `?${query}`)
      assert.deepEqual([status, body.code], [400, 'invalid_input'], text)
      const { fields } = body.details as { fields: { pointer: string; why: string }[] }
      assert.ok(
        fields.some((field) => field.pointer === pointer),
        text,
      )
    })
  }
})

suite('names beside ids', () => {
  test('are those of the requester, of who decided, and of a cached account', async () => {
    const resources = [{ id: 'prod', account_id: '123456789012', name: 'Production' }]
    const put = await house.call({
      method: 'PUT',
      url: '/v1/cloud/accounts',
      body: { resources },
      token: owner.token,
      tenant_id,
    })
    assert.equal(put.status, 200, put.text)
    await house.asSuperuser('update tenant_user set name = $2 where id = $1', [ben.user_id, 'Ben Brown'])
    await house.asSuperuser('update tenant_user set name = $2 where id = $1', [ada.user_id, 'Ada Ash'])
    const id = await seed(tenant_id, { by: ada, at: '2026-02-01T00:00:00Z', status: 'approved' })
    await house.asSuperuser('update access_request set decided_by = $2 where id = $1', [id, ben.user_id])
    const names = { requester_name: 'Ada Ash', decided_by_name: 'Ben Brown', resource_name: 'Production' }
    const one = await get(ada, `/${id}`)
    const { data } = (await get(ada, '?limit=1')).body as { data: object[] }
    for (const shown of [one.body, data[0] ?? {}]) assert.deepEqual({ ...shown, ...names }, shown)
    const [fifth] = [...ids].find(([, name]) => name === 'fifth') ?? []
    const other = (await get(owner, `/${fifth}`)).body
    assert.deepEqual([other.decided_by_name, other.resource_name], [null, null])
  })
})
