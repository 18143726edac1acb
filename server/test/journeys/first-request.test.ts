import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { test } from 'node:test'
import type { Page, Refusal, Reply } from '../support/client.ts'
import { startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

type AccessRequest = { id: string; status: string; requester_id: string; decided_by: string | null }
type Status = { id: string; status: string; grants: { status: string; activated_at?: string; expires_at?: string }[] }

const sallyport = await startOnTestServer()
const { base_url, bootstrap, client } = sallyport
const key = client({ api_key: bootstrap.api_key })

const resource = { type: 'cloud_account', id: '123456789012' }
const wanted = { resource, action: 'ReadOnlyAccess', reason: 'a first look', duration_seconds: 600 }

/** Asserts the whole error object, with a request id to find it by. */
function assertRefused({ status, headers, body }: Reply<Refusal>, expected: number, code: string): void {
  assert.deepEqual([status, body.code], [expected, code], body.message)
  assert.match(body.message, /^\S.{5,}/)
  assert.deepEqual(
    Object.keys(body).filter((name) => !['code', 'message', 'details', 'notices'].includes(name)),
    [],
  )
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  assert.match(headers.get('x-request-id') ?? '', /^[\w-]{8,}$/)
}

test('the README’s first request: a user, a rule, a request, an approval', async (t) => {
  const ada = await sallyport.join('Ada', ['user'])

  await t.test('without a rule nothing is permitted, and only a user who may add one learns how', async () => {
    const refused = await ada.call<Refusal>('POST', '/v1/requests', wanted)
    assertRefused(refused, 403, 'policy_denied')
    assert.match(refused.body.message, /no rule permits `ReadOnlyAccess` on cloud_account `123456789012`/)
    assert.doesNotMatch(refused.body.message, /\/v1\/policies/)
    const owner = await key<Refusal>('POST', '/v1/requests', wanted)
    assertRefused(owner, 403, 'policy_denied')
    assert.match(owner.body.message, /add a rule with `POST \/v1\/policies/)
  })

  const policy = await key<{ id: string }>('POST', '/v1/policies', { name: 'First' })
  assert.equal(policy.status, 201)

  await t.test('an invalid rule is refused with its line, column and help, and changes nothing', async () => {
    const rules = `/v1/policies/${policy.body.id}/rules`
    const refused = await key<Refusal>('POST', rules, { policy_text: 'permit (principal, action, resource' })
    assertRefused(refused, 400, 'invalid_policy')
    assert.equal(refused.body.details?.line, 1)
    const { body } = await key<{ rules: unknown[] }>('GET', `/v1/policies/${policy.body.id}`)
    assert.deepEqual(body.rules, [])
  })

  const rule = {
    effect: 'permit',
    resource_scope_type: 'eq',
    resource_entity_type: resource.type,
    resource_entity_id: resource.id,
  }
  const made = await key<{ policy_text: string; ordinal: number }>('POST', `/v1/policies/${policy.body.id}/rules`, rule)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.match(made.body.policy_text, /cloud_account::"123456789012"/)

  for (const [what, change, pointer] of [
    ['without a reason', { reason: undefined }, '/reason'],
    ['with a blank reason', { reason: ' ' }, '/reason'],
    ['for more than 8 hours', { duration_seconds: 28_801 }, '/duration_seconds'],
  ] as const) {
    await t.test(`a request ${what} is refused by default`, async () => {
      const refused = await ada.call<Refusal>('POST', '/v1/requests', { ...wanted, ...change })
      assertRefused(refused, 400, 'invalid_input')
      const { fields = [] } = (refused.body.details ?? {}) as { fields?: { pointer: string }[] }
      assert.deepEqual(
        fields.map((field) => field.pointer),
        [pointer],
      )
    })
  }

  const created = await ada.call<AccessRequest>('POST', '/v1/requests', wanted)
  assert.deepEqual([created.status, created.body.status, created.body.requester_id], [201, 'pending', ada.id])
  const approve = `/v1/requests/${created.body.id}/approve`

  await t.test('a user without the scope cannot approve', async () => {
    assertRefused(await ada.call<Refusal>('POST', approve), 403, 'forbidden')
    const { body } = await ada.call<AccessRequest>('GET', `/v1/requests/${created.body.id}`)
    assert.equal(body.status, 'pending')
  })

  await t.test('no user approves their own request by token, by key, or by a key that they created', async () => {
    const ben = await sallyport.join('Ben', ['approver', 'admin'])
    const own = await ben.call<AccessRequest>('POST', '/v1/requests', wanted)
    const madeKey = await ben.call<{ key: string }>('POST', '/v1/api-keys', {
      name: 'his',
      scopes: ['requests:approve'],
    })
    assert.equal(madeKey.status, 201, JSON.stringify(madeKey.body))
    for (const call of [ben.call, client({ api_key: madeKey.body.key })]) {
      for (const decide of ['approve', 'deny']) {
        assertRefused(await call<Refusal>('POST', `/v1/requests/${own.body.id}/${decide}`), 403, 'forbidden')
      }
    }
    const byKey = await key<AccessRequest>('POST', '/v1/requests', wanted)
    assert.equal(byKey.body.status, 'pending')
    assertRefused(await key<Refusal>('POST', `/v1/requests/${byKey.body.id}/approve`), 403, 'forbidden')
    for (const request of [own, byKey]) {
      assert.equal((await key<AccessRequest>('GET', `/v1/requests/${request.body.id}`)).body.status, 'pending')
    }
  })

  await t.test('the owner approves, and the access is active until its end', async () => {
    const approved = await key<AccessRequest>('POST', approve, { reasoning: 'fine' })
    assert.deepEqual([approved.status, approved.body.status], [200, 'approved'])
    assert.notEqual(approved.body.decided_by, null)
    const [grant] = await until('the grant is active', async () => {
      const { body } = await ada.call<Status>('GET', `/v1/access/requests/${created.body.id}`)
      return body.grants[0]?.status === 'active' && body.grants
    })
    assert.equal(Date.parse(grant?.expires_at ?? '') - Date.parse(grant?.activated_at ?? ''), 600_000)
  })

  await t.test('a decided request is neither decided nor cancelled again', async () => {
    assertRefused(await key<Refusal>('POST', approve), 409, 'request_not_pending')
    assertRefused(await key<Refusal>('POST', `/v1/requests/${created.body.id}/deny`), 409, 'request_not_pending')
    assertRefused(await ada.call<Refusal>('DELETE', `/v1/requests/${created.body.id}`), 409, 'request_not_cancellable')
    assert.equal((await ada.call<AccessRequest>('GET', `/v1/requests/${created.body.id}`)).body.status, 'approved')
  })

  await t.test('a pending request is cancelled once', async () => {
    const { body } = await ada.call<AccessRequest>('POST', '/v1/requests', wanted)
    assert.equal((await ada.call('DELETE', `/v1/requests/${body.id}`)).status, 204)
    assertRefused(await ada.call<Refusal>('DELETE', `/v1/requests/${body.id}`), 409, 'request_not_cancellable')
    assertRefused(await key<Refusal>('POST', `/v1/requests/${body.id}/approve`), 409, 'request_not_pending')
  })

  await t.test('another user gets the 404 of an unknown request', async () => {
    const dan = await sallyport.join('Dan', ['user'])
    for (const path of ['/v1/requests/', '/v1/access/requests/']) {
      const others = await dan.call<Refusal>('GET', path + created.body.id)
      const never = await dan.call<Refusal>('GET', path + randomUUID())
      assertRefused(others, 404, 'not_found')
      assert.deepEqual(others.body, never.body)
    }
    const { body } = await dan.call<Page<AccessRequest>>('GET', '/v1/requests')
    assert.deepEqual(body, { data: [], has_more: false })
  })
})

const me = '/v1/users/me/notifications'
const nowhere = `/v1/requests/${randomUUID()}/approve`
const ben = await sallyport.join('Ben', ['approver'])
const [asBen, asNobody] = [ben.call, client(undefined)]
const bad = { 'x-api-key': `${bootstrap.api_key.slice(0, -1)}?` }
const otherTenant = randomUUID()

/** Each check comes before those below it: each call fails several checks, and the first one refuses it. */
const inOrder: [string, () => Promise<Reply<Refusal>>, number, string][] = [
  [
    'no credential, before the tenant',
    () => asNobody('GET', me, undefined, { 'x-tenant-id': undefined }),
    401,
    'unauthenticated',
  ],
  [
    'a broken key, before the tenant',
    () => asNobody('GET', '/v1/users', undefined, { ...bad, 'x-tenant-id': 'x' }),
    401,
    'unauthenticated',
  ],
  ['a key if a user is required', () => key('GET', me), 401, 'unauthenticated'],
  [
    'a text that is not a token',
    () => asNobody('GET', me, undefined, { authorization: 'Bearer word' }),
    401,
    'unauthenticated',
  ],
  [
    'both credentials',
    () => asBen('GET', me, undefined, { 'x-api-key': bootstrap.api_key }),
    400,
    'ambiguous_credentials',
  ],
  [
    'no tenant, before the scope',
    () => asBen('GET', '/v1/policies', undefined, { 'x-tenant-id': undefined }),
    400,
    'invalid_input',
  ],
  [
    'a tenant that is not a uuid',
    () => asBen('GET', '/v1/policies', undefined, { 'x-tenant-id': 'acme' }),
    400,
    'invalid_input',
  ],
  [
    'another tenant, before the scope',
    () => asBen('GET', '/v1/policies', undefined, { 'x-tenant-id': otherTenant }),
    403,
    'tenant_mismatch',
  ],
  ['no scope, before the body', () => asBen('POST', '/v1/policies', { nonsense: true }), 403, 'forbidden'],
  ['no scope, before the query', () => asBen('GET', '/v1/policies?limit=none'), 403, 'forbidden'],
  ['a wrong body, before the record', () => asBen('POST', nowhere, { reasoning: 7 }), 400, 'invalid_input'],
  ['an unknown field, before the record', () => asBen('POST', nowhere, { reason: 'x' }), 400, 'invalid_input'],
  ['a wrong limit', () => asBen('GET', `${me}?limit=0`), 400, 'invalid_input'],
  ['an invalid cursor', () => asBen('GET', `${me}?cursor=abc`), 400, 'invalid_input'],
  ['an unknown record', () => asBen('POST', nowhere), 404, 'not_found'],
  ['an id that is not a uuid', () => asBen('POST', '/v1/requests/7/approve'), 404, 'not_found'],
  ['an unknown path', () => asBen('GET', '/v1/nothing'), 404, 'not_found'],
  ['an unsupported method', () => asBen('PATCH', '/v1/requests'), 405, 'method_not_allowed'],
]

for (const [what, call, status, code] of inOrder) {
  test(`refuses ${what}: ${status} ${code}`, async () => assertRefused(await call(), status, code))
}

test('names each faulty field of a body, and stores nothing', async () => {
  const body = { resource: { type: 'cloud_account', id: '12' }, action: 'approve' }
  const faultsOf = async (sent: unknown) => {
    const refused = await asBen<Refusal>('POST', '/v1/requests', sent)
    assertRefused(refused, 400, 'invalid_input')
    const { fields = [] } = (refused.body.details ?? {}) as { fields?: { pointer: string }[] }
    return fields.map(({ pointer }) => pointer)
  }
  assert.deepEqual(await faultsOf({ ...body, surprise: 1 }), ['/surprise'])
  assert.deepEqual(await faultsOf(body), ['/resource/id', '/action'])
  assert.deepEqual((await asBen<Page<unknown>>('GET', `/v1/requests?requester_id=${ben.id}`)).body.data, [])
})

test('answers with the caller’s own request id where it is well-formed, else with a new one', async () => {
  const own = await asBen('GET', me, undefined, { 'x-request-id': 'my-own.1' })
  assert.equal(own.headers.get('x-request-id'), 'my-own.1')
  const forged = await asBen('GET', me, undefined, { 'x-request-id': 'a b' })
  assert.match(forged.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
})

for (const name of ['Authorization', 'X-API-Key', 'X-Tenant-ID']) {
  test(`refuses ${name} twice, and names it`, async () => {
    const refusal = await new Promise<Refusal>((resolve, reject) => {
      const headers = { [name]: ['one', 'two'] }
      request(`${base_url}/v1/users`, { headers }, (reply) => {
        let text = ''
        reply.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        reply.on('end', () => resolve(JSON.parse(text) as Refusal))
      })
        .on('error', reject)
        .end()
    })
    assert.equal(refusal.code, 'ambiguous_credentials')
    assert.match(refusal.message, new RegExp(name, 'i'))
  })
}
