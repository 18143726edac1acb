import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { directoryOf } from '../../../test/support/directory-of.ts'
import { openScimPeer } from '../../../test/support/scim-peer.ts'
import { egress, isFault, none, reading, serving, token, user, users } from '../../../test/support/scim-reading.ts'
import type { TargetError } from '../../provisioners/driver.ts'
import { scimSource, scimSourceWithin } from './scim-source.ts'

suite('an error of a SCIM server says how to fix it, without the token', () => {
  const echo = {
    detail: `no \n${token} ${encodeURIComponent(token)} ${Buffer.from(token).toString('base64')}`.repeat(2),
  }
  const cases: [number, TargetError['kind'], RegExp][] = [
    [401, 'permanent', /^the SCIM server answered 401 to `\/Users`: it does not take `token`; make a new one there/],
    [403, 'permanent', /answered 403 to `\/Users`: give `token` the right to read users and groups there$/],
    [404, 'permanent', /answered 404 to `\/Users`: check `base_url`, below which it must be$/],
    [
      400,
      'permanent',
      /answered 400 to `\/Users`, where 200 is expected: no \[redacted\].*; check `base_url` and `page_size`$/,
    ],
    [204, 'permanent', /answered 204 to `\/Users`, where 200 is expected; check `base_url` and `page_size`$/],
    [301, 'permanent', /answered 301 to `\/Users`: redirects are not followed; set `base_url` to the final address$/],
    [409, 'transient', /answered 409 to `\/Users`: no \[redacted\].*; try again later$/],
    [500, 'transient', /answered 500 to `\/Users`: no \[redacted\].*; try again later$/],
  ]
  for (const [status, kind, says] of cases) {
    test(`${status}`, async () => {
      const { error } = await reading(() => ({
        status,
        body: status === 204 ? '' : echo,
        headers: { location: '/elsewhere' },
      }))
      isFault(error, kind, says)
    })
  }

  test('a redirect, which is not followed', async () => {
    const elsewhere = await openScimPeer(() => ({ body: none }))
    const { error } = await reading(() => ({ status: 302, headers: { location: `${elsewhere.base_url}/Users` } }))
    isFault(error, 'permanent', /answered 302 .*redirects are not followed/)
    assert.deepEqual(elsewhere.asked, [])
  })

  for (const [what, body, says] of [
    ['no JSON', '<html>', /answered no JSON object to `\/Users`: check `base_url`/],
    ['a list', [], /answered no JSON object/],
    [
      'no ListResponse',
      { detail: 'hello' },
      /to `\/Users` is no ListResponse: it has no `totalResults` or `Resources`/,
    ],
    ['no count', { totalResults: 'many', Resources: [] }, /is no ListResponse/],
    ['no list', { totalResults: 1, Resources: { id: 'u1' } }, /is no ListResponse/],
    [
      'an entry without an id',
      { totalResults: 1, Resources: [{ userName: 'ada' }] },
      /an entry of `\/Users` has no `id` of 1 to 600/,
    ],
    ['an entry that is none', { totalResults: 1, Resources: [null] }, /has no `id`/],
    ['a long id', { totalResults: 1, Resources: [{ id: 'x'.repeat(601) }] }, /has no `id`/],
  ] as const) {
    test(`an answer with ${what}`, async () => {
      isFault((await reading(() => ({ body }))).error, 'permanent', says)
    })
  }

  test('an answer that is too long', async () => {
    const long = (bytes: number) => ({ totalResults: 1, Resources: [user(1, { title: 'x'.repeat(bytes) })] })
    const fits = await reading((asked) => ({ body: asked.path === '/Users' ? long(8 * 1024 * 1024 - 200) : none }))
    assert.deepEqual([fits.error, fits.people.length], [undefined, 1])
    const { error } = await reading(() => ({ body: long(8 * 1024 * 1024) }))
    isFault(error, 'permanent', /^a page of the SCIM server is longer than 8388608 bytes: lower `page_size`$/)
  })

  test('a server that does not answer, or breaks off', async () => {
    const silent = await reading(() => () => undefined, {}, scimSourceWithin({ maxCallMs: 100 }))
    isFault(silent.error, 'transient', /was not reached: it did not answer within 1 s; check `base_url`$/)
    const broken = await reading(() => (reply) => {
      reply.writeHead(200, { 'content-length': '100' })
      reply.write('{', () => reply.destroy())
    })
    isFault(broken.error, 'transient', /was not reached: .*; check `base_url`$/)
    const gone = scimSource.open({ base_url: 'http://127.0.0.1:1', token }, egress)
    isFault((await directoryOf(gone)).error, 'transient', /was not reached: network error ECONNREFUSED/)
    const inside = scimSource.open({ base_url: 'https://127.0.0.2', token }, egress)
    isFault((await directoryOf(inside)).error, 'transient', /EGRESS_ALLOW/)
  })
})

suite('a SCIM server without room', () => {
  for (const [status, wait] of [
    [429, 'in seconds'],
    [503, 'as a date'],
    [429, 'without a time'],
  ] as const) {
    test(`that answers ${status} ${wait} is asked again later, and the reading goes on`, async () => {
      let refused = 0
      const answer = serving({ users: users(1, 15) })
      const { people, error, peer } = await reading((asked) => {
        if (asked.query.get('startIndex') !== '10' || refused > 0) return answer(asked)
        refused += 1
        const now = new Date()
        const date = { date: now.toUTCString(), 'retry-after': new Date(now.getTime() + 1_000).toUTCString() }
        const headers = { 'in seconds': { 'retry-after': '1' }, 'as a date': date, 'without a time': {} }[wait]
        return { status, headers }
      })
      assert.deepEqual([error, people.length], [undefined, 15])
      assert.equal(peer.asked.filter(({ query }) => query.get('startIndex') === '10').length, 2)
    })
  }

  test('is not waited for longer than a page may take', async () => {
    const began = performance.now()
    const { error, peer } = await reading(() => ({
      status: 429,
      headers: { 'retry-after': '3600' },
      body: { detail: 'slow down' },
    }))
    isFault(
      error,
      'transient',
      /answered 429 to `\/Users`: slow down; it has too many calls; try again later, or sync less often$/,
    )
    assert.ok(performance.now() - began < 30_000)
    assert.equal(peer.asked.length, 2)
  })

  test('is not asked more often than a few times', async () => {
    const { error, peer } = await reading(
      (asked) => (asked.path === '/Users' ? { status: 503 } : { body: {} }),
      {},
      scimSourceWithin({ maxWaitMs: 4_000 }),
    )
    isFault(error, 'transient', /answered 503 to `\/Users`; try again later$/)
    assert.equal(peer.asked.filter(({ path }) => path === '/Users').length, 3)
  })

  test('is not waited for once nobody reads', async () => {
    const controller = new AbortController()
    const peer = await openScimPeer(() => {
      controller.abort(new Error('enough'))
      return { status: 429, headers: { 'retry-after': '59' } }
    })
    const read = scimSource.open({ base_url: peer.base_url, token }, egress)
    const { error } = await directoryOf(read, { signal: controller.signal })
    assert.notEqual(error, undefined)
    assert.equal(peer.asked.length, 1)
  })
})
