import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { lossOf } from '../../src/http/confirmed-tx.ts'
import { newId } from '../../src/kernel/id.ts'
import { resumeTenant, suspendTenant } from '../../src/tenants/suspend-tenant.flow.ts'
import { changeStreams, colleague } from '../support/change-stage.ts'
import { type Call, openHouse, type Reply } from '../support/house.ts'
import { browserOf } from '../support/presented.ts'
import { requestStage } from '../support/request-stage.ts'
import { until } from '../support/wait.ts'

/** While the operator suspends a tenant, none of its credentials is of use; each is verified before that is said. */
const house = await openHouse({}, undefined, true)
const { follow } = await changeStreams(house)
await until('changes of rights arrive', async () => house.app.followsChanges())
const { database } = house

const saying = '{"code":"tenant_suspended","message":"the operator suspended this tenant; ask the operator"}'
const isSuspended = ({ status, text }: Reply) => assert.deepEqual([status, text], [403, saying])

async function openTenant(name: string) {
  const stage = await requestStage(house, name)
  const { tenant_id, owner } = stage
  const cookie = await browserOf(house, tenant_id, owner.user_id)
  const ways: Record<string, Pick<Call, 'token' | 'api_key' | 'headers'>> = {
    token: { token: owner.token },
    key: { api_key: owner.api_key },
    cookie: { headers: cookie },
  }
  const with_ = (how: string, method: string, url: string, body?: unknown) =>
    house.call({ method, url, tenant_id, ...ways[how], ...(body !== undefined && { body }) })
  /** The answers to all kinds of credentials, once this process has been notified. */
  const answered = (status: number) =>
    until(`all credentials get ${status}`, async () => {
      const replies = await Promise.all(Object.keys(ways).map((how) => with_(how, 'GET', '/v1/requests')))
      return replies.every((reply) => reply.status === status)
    })
  return { ...stage, with_, answered, kinds: Object.keys(ways) }
}

const eventsOf = (tenant_id: string) =>
  house.asSuperuser<{ type: string; actor_kind: string; data: object }>(
    'select type, actor_kind, data from event where tenant_id = $1 order by seq',
    [tenant_id],
  )

suite('the credentials of a suspended tenant', { concurrency: false }, () => {
  test('are refused one and all, in a process that kept what they prove, and work again when it is resumed', async () => {
    const { tenant_id, with_, answered, kinds } = await openTenant('suspended')
    await answered(200)
    const suspended = await suspendTenant(database, tenant_id, { reason: 'unpaid' })
    assert.deepEqual([suspended.changed, suspended.reason, suspended.tenant_id], [true, 'unpaid', tenant_id])
    await answered(403)
    const before = (await eventsOf(tenant_id)).length
    for (const how of kinds) {
      isSuspended(await with_(how, 'GET', '/v1/users'))
      isSuspended(await with_(how, 'POST', '/v1/groups', { name: 'a group' }))
      // Refused before the body, the scopes and the records are looked at.
      isSuspended(await with_(how, 'POST', '/v1/policies', { nothing: true }))
      isSuspended(await with_(how, 'GET', `/v1/requests/${newId()}`))
    }
    isSuspended(await with_('cookie', 'POST', '/v1/auth/logout'))
    isSuspended(await with_('token', 'GET', '/v1/users/me'))
    assert.equal((await eventsOf(tenant_id)).length, before, 'calls that are refused fill no audit log')
    assert.deepEqual((await eventsOf(tenant_id)).at(-1), {
      ...{ type: 'tenant.suspended', actor_kind: 'operator' },
      data: { reason: 'unpaid' },
    })
    assert.deepEqual(await resumeTenant(database, tenant_id), { tenant_id, changed: true })
    await answered(200)
    const last = (await eventsOf(tenant_id)).at(-1)
    assert.deepEqual(last, { type: 'tenant.resumed', actor_kind: 'operator', data: {} })
  })

  test('tell a stranger nothing: an invalid credential gets the answer of any other tenant', async () => {
    const [{ tenant_id, owner }, other] = [await openTenant('secretive'), await house.tenant('other')]
    await suspendTenant(database, tenant_id, {})
    const wrong = { key: `${owner.api_key.slice(0, -9)}AAAAAAAAA`, token: `${owner.token.slice(0, -9)}AAAAAAAAA` }
    const texts = async (id: string) => {
      const calls: Call[] = [
        { method: 'GET', url: '/v1/users', api_key: wrong.key },
        { method: 'GET', url: '/v1/users', token: wrong.token },
        { method: 'GET', url: '/v1/users' },
        { method: 'GET', url: '/v1/users', headers: { ...{ host: '127.0.0.1:8080' }, cookie: '__Host-sallyport=x' } },
      ]
      return Promise.all(calls.map(async (call) => (await house.call({ ...call, tenant_id: id })).text))
    }
    assert.deepEqual(await texts(tenant_id), await texts(other.tenant_id))
    for (const text of await texts(tenant_id)) assert.match(text, /"unauthenticated"/)
  })

  test('are those of that tenant alone', async () => {
    const [one, other] = [await openTenant('one'), await openTenant('another')]
    await suspendTenant(database, one.tenant_id, {})
    await one.answered(403)
    await other.answered(200)
    const named = { token: other.owner.token, tenant_id: one.tenant_id }
    const mixed = await house.call({ method: 'GET', url: '/v1/users', ...named })
    assert.equal(mixed.body.code, 'tenant_mismatch')
  })

  test('end their streams', async () => {
    const { tenant_id, owner } = await openTenant('streaming')
    const ben = await colleague(house, tenant_id, owner, 'ben')
    const stream = await follow(tenant_id, ben)
    await suspendTenant(database, tenant_id, {})
    assert.equal(await until('the stream has ended', async () => stream.ended()), 'whole')
  })
})

test('a change that waited while its tenant was suspended is not committed', () => {
  const actor = { kind: 'user', user_id: newId(), api_key_id: null, scopes: new Set(['users:write']) } as const
  const now = { tenant_id: newId(), actor, via: 'token', session: null, now: new Date() } as const
  const scopes = new Set(['users:write'])
  assert.equal(lossOf(scopes, { ...now, tenant_suspended: true })?.code, 'tenant_suspended')
  assert.equal(lossOf(scopes, { ...now, tenant_suspended: false }), undefined)
})

test('a tenant is suspended once: a second suspension changes nothing and says since when', async () => {
  const { tenant_id } = await house.tenant('twice')
  const first = await suspendTenant(database, tenant_id, { reason: 'first' })
  const second = await suspendTenant(database, tenant_id, { reason: 'second' })
  assert.deepEqual(second, { ...first, changed: false })
  await resumeTenant(database, tenant_id)
  assert.deepEqual(await resumeTenant(database, tenant_id), { tenant_id, changed: false })
  const types = (await eventsOf(tenant_id)).map(({ type }) => type).filter((type) => type.startsWith('tenant.'))
  assert.deepEqual(types, ['tenant.created', 'tenant.suspended', 'tenant.resumed'])
  for (const reason of ['', ' ', 'a\nb', 'x'.repeat(501)]) {
    await assert.rejects(suspendTenant(database, tenant_id, { reason }), /^Error: --reason /)
  }
  await assert.rejects(suspendTenant(database, newId(), {}), /there is no tenant/)
})

test('the database refuses a reason without a suspension, and an empty or long one', async () => {
  const { tenant_id } = await house.tenant('half')
  const set = (values: string) => house.asSuperuser(`update tenant set ${values} where id = $1`, [tenant_id])
  await assert.rejects(set(`suspended_reason = 'why'`), /tenant_suspended_ck/)
  for (const reason of ["''", "repeat('x', 501)"]) {
    await assert.rejects(set(`suspended_at = now(), suspended_reason = ${reason}`), /tenant_suspended_reason_ck/)
  }
})
