import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../support/house.ts'

/** A requester never decides their own request, under any name, and gets access at most for the maximum duration. */
const house = await openHouse()
const { tenant_id, owner, people } = await house.tenant('own requests')

const call = ({ token, api_key }: Partial<Person>, method: string, url: string, body?: unknown) =>
  house.call({
    ...{ method, url, tenant_id, ...(body !== undefined && { body }) },
    ...(token === undefined ? { api_key: api_key ?? '' } : { token }),
  })
const asking = { resource: { type: 'cloud_account', id: '100000000001' }, action: 'ReadOnly' }
const policy = await call(owner, 'POST', '/v1/policies', { name: 'everybody may ask' })
for (const approval_mode of ['require', 'break_glass']) {
  const rule = { effect: 'permit', approval_mode }
  assert.equal((await call(owner, 'POST', `/v1/policies/${policy.body.id}/rules`, rule)).status, 201)
}

async function ask(person: Partial<Person>, more: object = {}): Promise<{ id: string; status: unknown }> {
  const reply = await call(person, 'POST', '/v1/requests', { ...asking, ...more })
  assert.equal(reply.status, 201, reply.text)
  return { id: String(reply.body.id), status: reply.body.status }
}

async function newKey(person: Partial<Person>, scopes: string[]): Promise<{ api_key: string }> {
  const reply = await call(person, 'POST', '/v1/api-keys', { name: 'a key', scopes })
  assert.equal(reply.status, 201, reply.text)
  return { api_key: String(reply.body.key) }
}

const deciding = ['requests:approve', 'api_keys:write', 'requests:create']

suite('a requester’s own request', () => {
  test('cannot be approved by their key, nor by a key of that key, whichever made the request (P5)', async () => {
    const child = await newKey(people.admin, deciding)
    const grandchild = await newKey(child, deciding)
    const all = [{ token: people.admin.token }, { api_key: people.admin.api_key }, child, grandchild]
    for (const asker of all) {
      const { id } = await ask(asker)
      for (const decider of all) {
        for (const verb of ['approve', 'deny']) {
          const reply = await call(decider, 'POST', `/v1/requests/${id}/${verb}`, {})
          assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
        }
      }
    }
  })

  test('can be decided by the user behind another key, and by no key of a deleted user (P5)', async () => {
    const made = await call(owner, 'POST', '/v1/users', {
      ...{ email: 'passing@example.com', name: 'Passing', roles: ['admin'], auth_provider: 'oidc' },
    })
    const passing = await house.person(tenant_id, String(made.body.id))
    const key = await newKey(passing, ['requests:approve'])
    const first = await ask(people.user)
    const approved = await call(key, 'POST', `/v1/requests/${first.id}/approve`, {})
    assert.deepEqual([approved.status, approved.body.decided_by], [200, passing.user_id])
    const second = await ask(people.user)
    assert.equal((await call(owner, 'PATCH', `/v1/users/${passing.user_id}`, { active: false })).status, 200)
    const refused = await call(key, 'POST', `/v1/requests/${second.id}/approve`, {})
    assert.deepEqual([refused.status, refused.body.code], [401, 'unauthenticated'])
  })

  test('cannot be approved by a second account of the same person: there is none (P6)', async () => {
    const twin = (email: string) =>
      call(owner, 'POST', '/v1/users', { email, name: 'Twin', roles: ['approver'], auth_provider: 'oidc' })
    const [first, other] = [await twin('twin@example.com'), await twin('another@example.com')]
    assert.deepEqual([first.status, other.status], [201, 201])
    for (const email of ['Twin@example.com', 'TWIN@EXAMPLE.COM', 'ｔｗｉｎ@example.com']) {
      const reply = await twin(email)
      assert.ok([400, 409].includes(reply.status), reply.text)
    }
    const link = `update tenant_user set issuer = 'https://id.example.com', subject = 'twin' where id = $1`
    await house.asSuperuser(link, [first.body.id])
    await assert.rejects(house.asSuperuser(link, [other.body.id]), /tenant_user_issuer_subject_uq/)
  })

  test('with break-glass is approved only by policy, never by the requester; all approvers are notified (P7)', async () => {
    const { id, status } = await ask(people.approver, { break_glass: true, reason: 'the site is down' })
    assert.equal(status, 'approved')
    const again = await call(people.approver, 'POST', `/v1/requests/${id}/approve`, {})
    assert.deepEqual([again.status, again.body.code], [403, 'forbidden'])
    const events = await house.asSuperuser(
      `select id from event where tenant_id = $1 and subject_id = $2 and type = 'request.break_glass'`,
      [tenant_id, id],
    )
    assert.equal(events.length, 1)

    const body = { effect: 'forbid', conditions: 'when { context.break_glass }' }
    const closing = await call(owner, 'POST', `/v1/policies/${policy.body.id}/rules`, body)
    assert.equal(closing.status, 201, closing.text)
    const refused = await call(people.approver, 'POST', '/v1/requests', {
      ...{ ...asking, break_glass: true, reason: 'the site is down' },
    })
    assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
    const open = await call(owner, 'DELETE', `/v1/policies/${policy.body.id}/rules/${closing.body.id}`)
    assert.ok(open.status < 300, open.text)
  })
})

suite('the duration of a request', () => {
  const written: Record<string, string> = {
    zero: '0',
    'minus one': '-1',
    'a second less than a minute': '59',
    '2^31': '2147483648',
    '2^53 + 1': '9007199254740993',
    '1e400': '1e400',
    'a fraction': '600.5',
    text: '"600"',
    'a list': '[600]',
    true: 'true',
    'more than the tenant’s maximum': '43201',
    'more than any tenant’s maximum': '1209601',
    twice: '600, "duration_seconds": 601',
  }
  for (const [name, text] of Object.entries(written)) {
    test(`is not ${name} (P17)`, async () => {
      const body = `${JSON.stringify(asking).slice(0, -1)}, "duration_seconds": ${text}}`
      const reply = await house.call({ method: 'POST', url: '/v1/requests', token: people.user.token, tenant_id, body })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], reply.text)
    })
  }

  test('is the tenant’s default if none or null is given, and does not change later (P17)', async () => {
    for (const [more, seconds] of [
      [{}, 3600],
      [{ duration_seconds: null }, 3600],
      [{ duration_seconds: 43200 }, 43200],
    ] as const) {
      const { id } = await ask(people.user, more)
      // A higher maximum does not extend an earlier request.
      const approved = await call(people.approver, 'POST', `/v1/requests/${id}/approve`, { reasoning: 'longer' })
      assert.deepEqual([approved.status, approved.body.duration_seconds], [200, seconds])
      const longer = await call(people.approver, 'POST', `/v1/requests/${id}/approve`, { duration_seconds: 86400 })
      assert.ok([400, 409].includes(longer.status), longer.text)
    }
  })
})
