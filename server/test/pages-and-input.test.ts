import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person } from './support/house.ts'

/** The common behaviour of all lists and bodies, tested on requests. */
const house = await openHouse()
const tenant = await house.tenant('pages and input')
const { tenant_id, owner, people } = tenant

async function call(person: Person, method: string, url: string, body?: unknown) {
  return house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })
}

const asking = (id: string, more: Record<string, unknown> = {}) => ({
  resource: { type: 'cloud_account', id },
  action: 'ReadOnly',
  ...more,
})

const policy = await call(owner, 'POST', '/v1/policies', { name: 'everybody may ask' })
await call(owner, 'POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })
for (let n = 0; n < 8; n += 1) {
  const reply = await call(people.user, 'POST', '/v1/requests', asking(`10000000000${n}`))
  assert.equal(reply.status, 201, reply.text)
}

test('pages follow one another without a gap, and a cursor works only for its own list (T8)', async () => {
  const seen: string[] = []
  let url = '/v1/requests?limit=3'
  for (;;) {
    const page = await call(owner, 'GET', url)
    seen.push(...(page.body.data as { id: string }[]).map((request) => request.id))
    if (page.body.has_more !== true) break
    url = `/v1/requests?limit=3&cursor=${encodeURIComponent(String(page.body.next_cursor))}`
  }
  const rows = await house.asSuperuser<{ id: string }>('select id from access_request order by id desc')
  assert.deepEqual(
    seen,
    rows.map((row) => row.id),
  )
  const first = await call(owner, 'GET', '/v1/requests?limit=3')
  for (const other of ['/v1/grants?limit=3', '/v1/requests?limit=3&status=pending']) {
    const reply = await call(owner, 'GET', `${other}&cursor=${encodeURIComponent(String(first.body.next_cursor))}`)
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
  }
})

for (const limit of ['0', '-1', '10abc', '1e3', 'NaN', '']) {
  test(`refuses limit=${limit} (I7)`, async () => {
    assert.equal((await call(owner, 'GET', `/v1/requests?limit=${limit}`)).status, 400)
  })
}

test('bad input gets the error object, names each field, and changes nothing', async () => {
  const before = await house.asSuperuser('select count(*) from access_request')
  const bodies: [unknown, string][] = [
    [{ ...asking('100000000001'), tenant_id }, '/tenant_id'],
    [{ resource: { type: 'cloud_account', id: '1' }, action: 'ReadOnly' }, '/resource/id'],
    [asking('100000000001', { duration_seconds: 59 }), '/duration_seconds'],
    [asking('100000000001', { duration_seconds: 43_201 }), '/duration_seconds'],
    [asking('100000000001', { duration_seconds: '600' }), '/duration_seconds'],
    [{ action: 'ReadOnly' }, '/resource'],
    ['{"action":"ReadOnly","action":"Admin"}', '/action'],
    ['{"action":"a\\u0000"}', '/action'],
  ]
  for (const [body, pointer] of bodies) {
    const reply = await call(people.user, 'POST', '/v1/requests', body)
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], reply.text)
    const { fields } = reply.body.details as { fields: { pointer: string }[] }
    assert.ok(
      fields.some((field) => field.pointer === pointer),
      `${pointer} in ${reply.text}`,
    )
  }
  assert.deepEqual(await house.asSuperuser('select count(*) from access_request'), before)
})
