import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { rounds, together } from '../../test/support/race.ts'

const house = await openHouse()
const { tenant_id, owner, people } = await house.tenant('roles')

async function call(method: string, url: string, body?: unknown, headers: Record<string, string> = {}) {
  return house.call({ method, url, token: owner.token, tenant_id, headers, ...(body !== undefined && { body }) })
}

/** A role of the tenant's own. */
async function role(...scopes: string[]) {
  const reply = await call('POST', '/v1/roles', { name: 'a role', scopes })
  assert.equal(reply.status, 201, reply.text)
  return { url: `/v1/roles/${reply.body.id}`, id: String(reply.body.id), etag: String(reply.headers.etag) }
}

async function eventTypes(id: string) {
  const rows = await house.asSuperuser<{ type: string }>('select type from event where subject_id = $1 order by seq', [
    id,
  ])
  return rows.map(({ type }) => type)
}

suite('the version of a role', () => {
  test('goes up with each change, and is the ETag of every answer (P3)', async () => {
    const { url, etag } = await role('users:read')
    assert.equal(etag, '"1"')
    assert.equal((await call('GET', url)).headers.etag, '"1"')
    const changed = await call('PATCH', url, { name: 'new' })
    assert.deepEqual([changed.headers.etag, changed.body.version], ['"2"', 2])
    const same = await call('PATCH', url, { name: 'new' })
    assert.deepEqual([same.headers.etag, same.body], ['"2"', changed.body])
    const { data } = (await call('GET', '/v1/roles?limit=200')).body as { data: Record<string, unknown>[] }
    assert.equal(data.find(({ id }) => id === changed.body.id)?.version, 2)
  })

  test('that If-Match names is checked last: a missing right or role is reported first (P3)', async () => {
    const { url } = await role('users:read')
    const stale = { 'if-match': '"7"' }
    const body = { name: 'new' }
    assert.equal((await call('PATCH', '/v1/roles/nothing', body, stale)).status, 404)
    assert.equal((await call('DELETE', '/v1/roles/nothing', undefined, stale)).status, 404)
    assert.equal((await call('PATCH', '/v1/roles/admin', body, stale)).status, 403)
    assert.equal((await call('DELETE', '/v1/roles/admin', undefined, stale)).status, 403)
    const { token } = people.user
    const stranger = await house.call({ method: 'PATCH', url, token, tenant_id, body, headers: stale })
    assert.equal(stranger.status, 403)
    for (const [method, sent] of [
      ['PATCH', body],
      ['DELETE', undefined],
    ] as const) {
      const reply = await call(method, url, sent, stale)
      assert.deepEqual([reply.status, reply.body.code], [412, 'precondition_failed'])
      assert.equal((await call(method, url, sent, { 'if-match': 'x' })).status, 400)
    }
    assert.equal((await call('GET', url)).body.version, 1)
    assert.equal((await call('PATCH', url, body, { 'if-match': '"7", "1"' })).status, 200)
    assert.equal((await call('DELETE', url, undefined, { 'if-match': '*' })).status, 204)
  })

  test('is part of the idempotent call: the same change with another version is another call (P3, R12)', async () => {
    const { url, etag } = await role('users:read')
    const send = (tag: string) => call('PATCH', url, { name: 'new' }, { 'if-match': tag, 'idempotency-key': 'k' })
    const first = await send(etag)
    assert.equal(first.status, 200)
    const again = await send(etag)
    assert.deepEqual([again.status, again.text, again.headers.etag], [200, first.text, first.headers.etag])
    assert.equal((await send('"2"')).status, 422)
  })
})

// Last: a long run leaves more roles than a page holds.
suite('concurrent changes of one role', () => {
  test('are all kept when they change different fields (P3)', async () => {
    for (const round of rounds(15)) {
      const { url } = await role('users:read', 'users:write')
      const name = `round ${round}`
      const replies = await together([
        () => call('PATCH', url, { scopes: ['users:read'] }),
        () => call('PATCH', url, { name }),
        () => call('PATCH', url, { description: 'in other words' }),
      ])
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 200, 200],
      )
      const { body } = await call('GET', url)
      const { scopes, version } = body
      assert.deepEqual([body.name, body.description, scopes, version], [name, 'in other words', ['users:read'], 4])
    }
  })

  test('with If-Match: one succeeds, the other gets a conflict, and nothing removed comes back (P3)', async () => {
    for (const _round of rounds(15)) {
      const { url, etag, id } = await role('users:read', 'users:write')
      const replies = await together([
        () => call('PATCH', url, { scopes: ['users:read'] }, { 'if-match': etag }),
        () => call('PATCH', url, { scopes: ['users:read', 'users:write', 'roles:read'] }, { 'if-match': etag }),
      ])
      assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 412])
      const [won, lost] = replies[0]?.status === 200 ? replies : replies.toReversed()
      assert.equal(lost?.body.code, 'precondition_failed')
      assert.deepEqual(lost?.body.details, { etag: won?.headers.etag })
      assert.deepEqual((await call('GET', url)).body, won?.body)
      assert.deepEqual(await eventTypes(id), ['role.created', 'role.updated'])
    }
  })

  test('change against delete: the second gets an error (P3)', async () => {
    for (const _round of rounds(15)) {
      const { url, etag } = await role('users:read')
      const [changed, deleted] = await together([
        () => call('PATCH', url, { name: 'new' }, { 'if-match': etag }),
        () => call('DELETE', url, undefined, { 'if-match': etag }),
      ])
      const outcome = [changed?.status, deleted?.status].join()
      assert.ok(['200,412', '404,204'].includes(outcome), outcome)
      assert.equal((await call('GET', url)).status, outcome === '200,412' ? 200 : 404)
    }
  })
})
