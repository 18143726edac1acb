import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../support/house.ts'
import { callerOf, type ListedRow } from '../support/whole-list.ts'

/** The lists of a tenant's own settings: what each filter finds, alone and with others, and in which order. */
const house = await openHouse()
const ours = await house.tenant('own lists')
const { send, create, keyWith, whole } = callerOf(house, ours)
const theirs = callerOf(house, await house.tenant('others'))

type Listed = { id: string; name: string; enabled: boolean; index: number }
type OwnList = {
  url: string
  table: string
  bodyOf: (record: Omit<Listed, 'id'>) => { url: string; body: object }
  /** Where words choose what is read, found rows come in the order of the found word. */
  words?: string
  /** What `sort` takes; the first is the usual order. */
  orders: readonly string[]
  conditions?: [string, (record: Listed) => boolean][]
  /** The usual order of what a range of time finds, if it is another one. */
  inRange?: string
  faulty: readonly string[]
}

const byEnabled: OwnList['conditions'] = [
  ['enabled=true', ({ enabled }) => enabled],
  ['enabled=false', ({ enabled }) => !enabled],
]
const capped = {
  orders: ['created_at', '-created_at', 'name', '-name'],
  conditions: byEnabled,
  faulty: ['enabled=maybe', 'sort=enabled', 'revoked=true'],
}
/** `enabled` of a policy is no filter, and that of a key is whether it was not revoked. */
const lists: OwnList[] = [
  {
    url: '/v1/policies',
    table: 'policy',
    bodyOf: ({ name, index }) => ({ url: '/v1/policies', body: { name, priority: 100 - index } }),
    words: 'policy_word',
    orders: ['priority', '-priority', 'created_at', '-created_at', 'name', '-name'],
    inRange: 'created_at',
    faulty: ['sort=enabled', 'enabled=true'],
  },
  {
    url: '/v1/api-keys',
    table: 'api_key',
    bodyOf: ({ name }) => ({ url: '/v1/api-keys', body: { name, scopes: ['requests:read'] } }),
    words: 'api_key_word',
    orders: ['-created_at', 'created_at'],
    conditions: [
      ['revoked=false', ({ enabled }) => enabled],
      ['revoked=true', ({ enabled }) => !enabled],
    ],
    faulty: ['revoked=1', 'sort=name', 'enabled=true'],
  },
  {
    url: '/v1/notification-channels',
    table: 'notification_channel',
    bodyOf: ({ name, enabled }) => ({
      url: '/v1/notification-channels/email',
      body: { name, enabled, to_addresses: ['team@example.com'] },
    }),
    ...capped,
  },
  {
    url: '/v1/provisioners',
    table: 'provisioner',
    bodyOf: ({ name, enabled }) => ({
      url: '/v1/provisioners',
      body: { name, enabled, provisioner_type: 'sandbox' },
    }),
    ...capped,
  },
  {
    url: '/v1/identity-providers',
    table: 'identity_provider',
    bodyOf: ({ name, enabled }) => ({
      url: '/v1/identity-providers',
      body: { name, enabled, provider_type: 'custom_scim' },
    }),
    ...capped,
  },
]

/** Three records of each name, so that the order of names has ties. */
const planned = Array.from({ length: 12 }, (_, index) => ({
  name: `${['Zoë', 'anna', 'Émile', 'Bo'][index % 4]} Payments-desk`,
  enabled: index % 3 !== 1,
  index,
}))

const accents = /[\u0300-\u036f]/g
const folded = ({ name }: Listed) => name.normalize('NFKD').replaceAll(accents, '').toLowerCase()
/** Records of one name are in the order of their creation. */
const byName = (a: Listed, b: Listed) => (folded(a) === folded(b) ? a.index - b.index : folded(a) < folded(b) ? -1 : 1)
const ascending: Record<string, (a: Listed, b: Listed) => number> = {
  priority: (a, b) => b.index - a.index,
  created_at: (a, b) => a.index - b.index,
  name: byName,
}
function ordered(records: readonly Listed[], sort: string): string[] {
  const inOrder = [...records].sort(ascending[sort.replace('-', '')])
  return idsOf(sort.startsWith('-') ? inOrder.reverse() : inOrder)
}
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

for (const { url, table, bodyOf, words, orders, inRange = orders[0], conditions: own = [], faulty } of lists) {
  const records: Listed[] = []
  for (const record of planned) {
    const made = bodyOf(record)
    records.push({ ...record, id: await create(made.url, made.body) })
    await theirs.create(made.url, made.body)
  }
  if (table === 'api_key') {
    for (const { id, enabled } of records) if (!enabled) await send('DELETE', `${url}/${id}`)
  }
  const known = new Set(idsOf(records))
  const found = async (query: string, limit?: number) =>
    idsOf(await whole(`${url}?${query}`, limit)).filter((id) => known.has(id))

  const [{ moment = '' } = {}] = await house.asSuperuser<{ moment: string }>(
    `select to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as moment
      from ${table} where id = $1`,
    [records[5]?.id],
  )
  const conditions: [string, (record: Listed) => boolean][] = [
    ...own,
    [`created_after=${moment}`, ({ index }) => index >= 5],
    [`created_before=${moment}`, ({ index }) => index < 5],
    ['q=pay', () => true],
    ['q=DESK%20emi', ({ index }) => index % 4 === 2],
    ['q=zoe%20bo', () => false],
  ]
  const parameterOf = (query: string) => query.split('=')[0]
  /** Each condition alone, and with each of another parameter. */
  const pairs = conditions.flatMap((one, index) =>
    conditions
      .slice(index)
      .filter((two) => one === two || parameterOf(one[0]) !== parameterOf(two[0]))
      .map((two) => [one, two] as const),
  )

  suite(`GET ${url}`, () => {
    for (const sort of ['', ...orders]) {
      test(`each filter, alone and with others, finds exactly its records, ${sort || 'in the usual order'}`, async () => {
        const order = sort === '' ? '' : `sort=${sort}`
        const all = ordered(records, sort || (orders[0] ?? ''))
        assert.deepEqual(await found(order), all)
        for (const [[one, isOne], [two, isTwo]] of pairs) {
          const query = [...new Set([one, two, order])].filter(Boolean).join('&')
          const matching = records.filter((record) => isOne(record) && isTwo(record))
          const usual = query.includes('created_') ? inRange : orders[0]
          const expected = ordered(matching, sort || (usual ?? ''))
          const rows = await found(query)
          if (words !== undefined && query.includes('q=')) assert.deepEqual(rows.sort(), expected.sort(), query)
          else assert.deepEqual(rows, expected, query)
        }
      })
    }

    test('pages give each record once, in the order of the whole list', async () => {
      const queries = ['', ...orders.map((sort) => `sort=${sort}`), 'q=pay', `created_after=${moment}`]
      for (const query of queries) {
        const inOrder = idsOf(await whole(`${url}?${query}`))
        for (const limit of [1, 2, 5]) {
          assert.deepEqual(idsOf(await whole(`${url}?${query}`, limit)), inOrder, `${query} by ${limit}`)
        }
        assert.equal(new Set(inOrder).size, inOrder.length, query)
      }
    })

    test('a search takes beginnings of words alone', async () => {
      for (const q of ['ayments', 'desks', '%25', '-', 'zoe%20nobody']) assert.deepEqual(await found(`q=${q}`), [], q)
    })

    test('wrong values are refused', async () => {
      const inAll = ['sort=', 'sort=id', 'q=', `q=${'x'.repeat(201)}`, 'created_after=soon', 'created_before=1']
      for (const query of [...inAll, ...faulty]) {
        const { status, body } = await send('GET', `${url}?${query}`)
        assert.deepEqual([status, body.code], [400, 'invalid_input'], query)
      }
    })

    test('is refused without its scope, whatever is searched', async () => {
      const { status, body } = await send('GET', `${url}?q=pay`, undefined, await keyWith('requests:read'))
      assert.deepEqual([status, body.code, 'data' in body], [403, 'forbidden', false])
    })

    if (table !== 'api_key') {
      test('a record is found by its new name, and no longer by the former one', async () => {
        const [{ id = '', name = '' } = {}] = records
        assert.equal((await send('PATCH', `${url}/${id}`, { name: 'Quentin Renamed' })).status, 200)
        assert.deepEqual(await found('q=quent'), [id])
        assert.equal((await found('q=pay')).includes(id), false)
        await send('PATCH', `${url}/${id}`, { name })
        assert.deepEqual([await found('q=quent'), (await found('q=pay')).length], [[], planned.length])
      })
    }
  })
}

test('a policy is found by its description, comes with its rules, and leaves no words when it is deleted', async () => {
  const id = await create('/v1/policies', { name: 'Night watch', description: 'Whales and lanterns' })
  await create(`/v1/policies/${id}/rules`, { effect: 'forbid', action_scope_type: 'eq', action_ids: ['Whale'] })
  const [listed, ...more] = await whole<ListedRow & { rules: unknown[] }>('/v1/policies?q=lantern%20night')
  const { body } = await send('GET', `/v1/policies/${id}`)
  assert.deepEqual([listed, more], [body, []])
  assert.equal(listed?.rules.length, 1)
  assert.equal((await send('PATCH', `/v1/policies/${id}`, { description: 'Ravens' })).status, 200)
  assert.deepEqual([await whole('/v1/policies?q=whales'), idsOf(await whole('/v1/policies?q=raven'))], [[], [id]])
  assert.equal((await send('DELETE', `/v1/policies/${id}`)).status, 204)
  assert.deepEqual(await house.asSuperuser('select from policy_word where policy_id = $1', [id]), [])
})

test('the keys of a provider are found with other filters', async () => {
  const provider = await create('/v1/identity-providers', { name: 'Directory', provider_type: 'custom_scim' })
  const keys: string[] = []
  for (const n of [1, 2, 3]) {
    keys.unshift(await create('/v1/api-keys', { name: `Sync ${n}`, identity_provider_id: provider }))
  }
  const [, revoked = ''] = keys
  await send('DELETE', `/v1/api-keys/${revoked}`)
  const ofProvider = async (query: string) =>
    idsOf(await whole(`/v1/api-keys?identity_provider_id=${provider}${query}`, 1))
  assert.deepEqual(await ofProvider(''), keys)
  assert.deepEqual(await ofProvider('&sort=created_at'), keys.toReversed())
  assert.deepEqual(await ofProvider('&revoked=false'), [keys[0], keys[2]])
  assert.deepEqual(await ofProvider('&revoked=true&q=sync'), [revoked])
  assert.deepEqual(await ofProvider('&created_after=2020-01-01T00:00:00Z'), keys)
})
