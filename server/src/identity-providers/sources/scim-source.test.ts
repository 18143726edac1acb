import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openScimPeer, pageOf } from '../../../test/support/scim-peer.ts'
import { egress, idsOf, none, reading, serving, token, users } from '../../../test/support/scim-reading.ts'
import { scimSource } from './scim-source.ts'

suite('a SCIM server', () => {
  test('is read as its client: everyone, then every group', async () => {
    const groups = [{ id: 'g1', displayName: 'Developers', members: [{ value: 'u1' }, { value: 'u23' }] }]
    const { people, groups: found, error, peer } = await reading(serving({ users: users(1, 25), groups }))
    assert.equal(error, undefined)
    assert.deepEqual(idsOf(people), idsOf(users(1, 25)))
    assert.deepEqual(found, [{ id: 'g1', name: 'Developers', member_ids: ['u1', 'u23'] }])
    assert.deepEqual(peer.paths(), [
      '/ServiceProviderConfig',
      '/Users?startIndex=1&count=10',
      '/Users?startIndex=10&count=10',
      '/Users?startIndex=19&count=10',
      '/Groups?startIndex=1&count=10',
    ])
    for (const { headers } of peer.asked) {
      const { authorization, accept } = headers
      assert.deepEqual([authorization, accept], [`Bearer ${token}`, 'application/scim+json, application/json'])
    }
  })

  test('says of a person all but what is not theirs, in a stable order', async () => {
    const person = {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id: 'u1',
      externalId: 'x',
      meta: { resourceType: 'User' },
      userName: 'ada',
      active: 'False',
      password: 'secret',
      groups: [{ value: 'g1' }],
      emails: [
        { value: 'b@example.com', type: 'home' },
        { value: 'a@example.com', primary: true },
      ],
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { manager: { value: 'u2' } },
    }
    const { people } = await reading(serving({ users: [person] }))
    assert.deepEqual(people, [
      {
        id: 'u1',
        resource: {
          userName: 'ada',
          active: 'False',
          emails: [
            { value: 'a@example.com', primary: true },
            { value: 'b@example.com', type: 'home' },
          ],
          'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { manager: { value: 'u2' } },
        },
      },
    ])
  })

  test('without anybody has nobody, also without `Resources`', async () => {
    for (const body of [none, { totalResults: '0', Resources: null }, { totalResults: 0, Resources: [] }]) {
      const { people, groups, error } = await reading(() => ({ body }))
      assert.deepEqual([people, groups, error], [[], [], undefined])
    }
  })

  test('is not asked for groups that nobody wants', async () => {
    const { peer } = await reading(serving({ users: users(1, 3) }), { groups: false })
    assert.ok(!peer.asked.some(({ path }) => path === '/Groups'))
  })

  test('may give fewer at a time, numbers as texts, ids as numbers', async () => {
    const all = Array.from({ length: 25 }, (_, place) => ({ id: place, userName: `user-${place}` }))
    const { people, error } = await reading((asked) => {
      if (asked.path !== '/Users') return { body: none }
      const { totalResults, Resources } = pageOf(all, asked, 4)
      return { body: { totalResults: `${totalResults}`, itemsPerPage: '4', Resources } }
    })
    assert.deepEqual([error, idsOf(people)], [undefined, all.map(({ id }) => `${id}`)])
  })

  test('may give one at a time', async () => {
    for (const page_size of [1, 10]) {
      const { people, error } = await reading(serving({ users: users(1, 5), max: 1 }), { page_size })
      assert.deepEqual([error, idsOf(people)], [undefined, idsOf(users(1, 5))])
    }
  })

  test('may page by whole pages alone', async () => {
    const all = users(1, 25)
    const { people, error } = await reading((asked) => {
      if (asked.path !== '/Users') return { body: none }
      const page = Math.floor((Number(asked.query.get('startIndex')) - 1) / 10)
      return { body: { totalResults: 25, Resources: all.slice(page * 10, page * 10 + 10) } }
    })
    assert.deepEqual([error, idsOf(people)], [undefined, idsOf(all)])
  })

  test('may refuse an index beyond its last entry', async () => {
    for (const status of [400, 404]) {
      const { people, error } = await reading((asked) =>
        Number(asked.query.get('startIndex')) > 10 ? { status } : serving({ users: users(1, 10) })(asked),
      )
      assert.deepEqual([error, people.length], [undefined, 10])
    }
  })

  test('sorts by id where it says that it can, and is read without where it cannot after all', async () => {
    const sorted = await reading(serving({ users: users(1, 12), sorts: 'true' }))
    assert.ok(sorted.peer.paths().includes('/Users?startIndex=10&count=10&sortBy=id&sortOrder=ascending'))
    const answer = serving({ users: users(1, 12), sorts: true })
    const refusing = await reading((asked) => (asked.query.has('sortBy') ? { status: 400 } : answer(asked)))
    for (const { error, people } of [sorted, refusing]) assert.deepEqual([error, people.length], [undefined, 12])
    const silent = await reading((asked) => (asked.path === '/ServiceProviderConfig' ? { status: 403 } : answer(asked)))
    assert.deepEqual([silent.error, silent.people.length], [undefined, 12])
    assert.ok(!silent.peer.asked.some(({ query }) => query.has('sortBy')))
  })
})

suite('the config of a SCIM server', () => {
  const config = { base_url: 'https://93.184.216.34/scim/v2', token: 'abc', page_size: 50 }

  test('has no faults with an address, a token and a size', async () => {
    assert.deepEqual(await scimSource.findFaults(config, egress), [])
    const { page_size: _, ...short } = { ...config, base_url: `${config.base_url}/`, schedule: 'daily' }
    assert.deepEqual(await scimSource.findFaults(short, egress), [])
  })

  for (const [field, value, says] of [
    ['base_url', undefined, /is required/],
    ['base_url', 7, /https address/],
    ['base_url', 'http://example.com', /https address/],
    ['base_url', 'https://10.0.0.1/scim', /EGRESS_ALLOW/],
    ['base_url', 'https://a:b@93.184.216.34/', /user name/],
    ['base_url', 'https://93.184.216.34/scim?tenant=1', /query/],
    ['base_url', 'https://93.184.216.34/scim/Users', /end before/],
    ['token', undefined, /is required/],
    ['token', '', /printable ASCII/],
    ['token', 'a\nb', /printable ASCII/],
    ['token', ['abc'], /printable ASCII/],
    ['token', 'Bearer abc', /without `Bearer`/],
    ['page_size', 0, /from 1 to 1000/],
    ['page_size', 1_001, /from 1 to 1000/],
    ['page_size', 1.5, /from 1 to 1000/],
    ['page_size', '100', /from 1 to 1000/],
  ] as const) {
    test(`names a fault of \`${field}\`: ${JSON.stringify(value)}`, async () => {
      const faults = await scimSource.findFaults({ ...config, [field]: value }, egress)
      assert.deepEqual(
        faults.map(({ pointer }) => pointer),
        [`/config/${field}`],
      )
      assert.match(faults[0]?.why ?? '', says)
    })
  }

  test('is checked without a call', async () => {
    const peer = await openScimPeer(() => ({ body: none }))
    assert.deepEqual(await scimSource.findFaults({ base_url: peer.base_url, token }, egress), [])
    scimSource.open({ base_url: peer.base_url, token }, egress)
    assert.deepEqual(peer.asked, [])
  })
})
