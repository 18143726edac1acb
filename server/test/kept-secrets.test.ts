import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { takesKey } from '../src/http/idempotency-key.ts'
import { newId } from '../src/kernel/id.ts'
import { openHouse, operations } from './support/house.ts'

/** An answer that is kept for an `Idempotency-Key` is no way to a secret for another session of the same person. */
const secret = /secret|password|config|headers|^key$|totp|passkey|recovery_codes/
/** The `key` of a setting is its name, and an e-mail channel has recipients alone. */
const withoutSecrets = ['upsertSetting', 'createEmailChannel']

/** The names of all properties in a schema. */
function namesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'properties' in schema ? Object.keys(schema.properties as object) : []
  return [...own, ...Object.values(schema).flatMap(namesIn)]
}

suite('an Idempotency-Key belongs to the session where the call holds a secret (S11)', () => {
  for (const [name, operation] of Object.entries(operations)) {
    if (!takesKey(operation)) continue
    const names = [...namesIn(operation.body), ...namesIn(operation.reply)].filter((each) => secret.test(each))
    if (names.length === 0 || withoutSecrets.includes(name)) continue
    test(`of ${name}: ${[...new Set(names)].join(', ')}`, () => assert.ok(operation.keyOfSession))
  }

  test('a webhook’s secret is shown to the session that made it, and to no other', async () => {
    const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
    const { tenant_id, owner } = await house.tenant('secrets')
    const url = '/v1/notification-channels/webhook'
    const body = { name: 'Log', url: 'http://127.0.0.1:9/', event_filters: ['request.created'] }
    const headers = { 'idempotency-key': newId() }
    const make = ({ token }: { token: string }) => house.call({ method: 'POST', url, token, tenant_id, body, headers })
    const first = await make(owner)
    assert.equal(first.status, 201, first.text)
    assert.equal((await make(owner)).body.secret, first.body.secret)
    const other = await make(await house.signInAgain(tenant_id, owner))
    assert.notEqual(other.body.secret, first.body.secret)
  })
})

test('no answer to a credential is kept by a cache on the way', async () => {
  const house = await openHouse()
  const { tenant_id, owner } = await house.tenant('caches')
  const calls = [
    { method: 'GET', url: '/v1/users/me/profile', token: owner.token, tenant_id },
    { method: 'GET', url: `/v1/users/${owner.user_id}`, api_key: owner.api_key, tenant_id },
    { method: 'POST', url: '/v1/auth/login', tenant_id, body: { email: 'a@example.com', password: 'wrong' } },
    { method: 'GET', url: '/v1/users/me/profile', token: 'wrong', tenant_id },
  ]
  for (const call of calls) assert.equal((await house.call(call)).headers['cache-control'], 'no-store', call.url)
})
