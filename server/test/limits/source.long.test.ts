import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { makeKeyText, readKeyText } from '../../src/api-keys/api-key-text.ts'
import { type Call, openHouse, type Reply } from '../support/house.ts'
import { rewrittenDatabase } from '../support/rewritten-database.ts'
import { asShipped } from '../support/unlimited.ts'

/** The limits on invalid credentials from one address. */
let statements = 0
const house = await openHouse({ ...asShipped, TRUST_PROXY: 'true' }, (database) =>
  rewrittenDatabase(database, (statement) => {
    statements += 1
    return statement
  }),
)
const tenant = await house.tenant('sources')
const { tenant_id, owner } = tenant

const from = (address: string, call: Partial<Call> = {}) =>
  house.call({ method: 'GET', url: '/v1/requests', tenant_id, headers: { 'x-forwarded-for': address }, ...call })
const flood = (address: string | ((index: number) => string), call: () => Partial<Call>, count = 300) =>
  Promise.all(
    Array.from({ length: count }, (_, index) => from(typeof address === 'string' ? address : address(index), call())),
  )
const wrongKey = () => ({ api_key: makeKeyText('api').text })
const statuses = (replies: Reply[]) => [...new Set(replies.map(({ status }) => status))].sort()

test('an address that sends 100 invalid credentials in a minute gets 429, others do not (A14)', async () => {
  const replies = await flood('192.0.2.1', wrongKey)
  assert.deepEqual(statuses(replies), [401, 429])
  assert.ok(replies.filter(({ status }) => status === 401).length >= 100)
  const over = replies.find(({ status }) => status === 429)
  assert.deepEqual(over?.body.details, {
    limit: 'invalid_credentials',
    quota: 100,
    window_seconds: 60,
    retry_after_seconds: 1,
  })
  assert.equal(over?.headers['ratelimit-policy'], '"invalid_credentials";q=100;w=60')
  assert.equal((await from('192.0.2.2', { api_key: owner.api_key })).status, 200)
  assert.deepEqual(statuses(await flood('192.0.2.2', wrongKey, 50)), [401])
})

test('calls of an address over its limit cost no query (A14)', async () => {
  await flood('192.0.2.3', wrongKey)
  const before = statements
  const replies = await flood('192.0.2.3', wrongKey, 200)
  const checked = replies.filter(({ status }) => status === 401).length
  assert.ok(checked < 100, `${checked} were let through`)
  assert.ok(statements - before <= 2 * checked + 2, `${statements - before} statements for ${checked}`)
})

test('a caller who shares an address with a guesser can continue: by a token, and by a key that was in use (A14)', async () => {
  const [used, unused] = [tenant.people.approver, tenant.people.auditor]
  assert.equal((await from('192.0.2.4', { api_key: used.api_key })).status, 200)
  await flood('192.0.2.4', wrongKey)
  const tries = [{ api_key: used.api_key }, { token: used.token }, { token: unused.token }]
  for (const credential of tries) assert.equal((await from('192.0.2.4', credential)).status, 200)
  assert.equal((await from('192.0.2.5', { api_key: unused.api_key })).status, 200, 'also from another address')
})

test('a lockout cannot be aimed at a key: a caller who sends its id with a wrong secret locks out only themselves (A14)', async () => {
  assert.equal(readKeyText(withWrongSecret(owner.api_key))?.id, readKeyText(owner.api_key)?.id)
  const guess = () => ({ api_key: withWrongSecret(owner.api_key) })
  assert.deepEqual(statuses(await flood('192.0.2.6', guess)), [401, 429])
  assert.equal((await from('192.0.2.7', { api_key: owner.api_key })).status, 200)
})

test('a revoked key is no longer one that was in use', async () => {
  const { api_key } = tenant.people.user
  assert.equal((await from('192.0.2.8', { api_key })).status, 200)
  await house.asSuperuser('update api_key set revoked_at = clock_timestamp() where created_by = $1', [
    tenant.people.user.user_id,
  ])
  assert.deepEqual(statuses(await flood('192.0.2.8', () => ({ api_key }))), [401, 429])
  const before = statements
  await flood('192.0.2.8', () => ({ api_key }), 100)
  assert.ok(statements - before < 100, 'and is not looked up again')
})

test('invalid tokens count as well, and calls without a credential do not', async () => {
  assert.deepEqual(statuses(await flood('192.0.2.9', () => ({ token: 'a.b.c' }))), [401, 429])
  assert.deepEqual(statuses(await flood('192.0.2.10', () => ({}))), [401])
})

test('an IPv6 network of 64 bits is one address, and the next is another', async () => {
  const replies = await flood((index) => `2001:db8:0:1::${index.toString(16)}`, wrongKey)
  assert.deepEqual(statuses(replies), [401, 429])
  assert.deepEqual(statuses(await flood('2001:db8:0:2::1', wrongKey, 50)), [401])
})

const callback = { method: 'POST', url: '/v1/auth/callback' }

test('10,000 codes from one address in a minute are 429 but for the first hundred (O14)', async () => {
  const exchange = () => ({ ...callback, body: { code: 'x', redirect_uri: 'https://app.example.com', state: 'x' } })
  let refused = 0
  for (let sent = 0; sent < 10_000; sent += 500) {
    const replies = await flood('192.0.2.20', exchange, 500)
    refused += replies.filter(({ status, body }) => status === 401 && body.code === 'invalid_authorization_code').length
    assert.ok(replies.every(({ status }) => status === 401 || status === 429))
  }
  // One slot is free again every nine seconds; the first calls run concurrently, before any of them has failed.
  assert.ok(refused >= 100 && refused < 1_000, `${refused} were tried`)
  const over = (await flood('192.0.2.20', exchange, 50)).find(({ status }) => status === 429)
  assert.equal(over?.headers['ratelimit-policy'], '"failed_sign_ins";q=100;w=900')
  assert.equal((await flood('192.0.2.21', exchange, 1))[0]?.status, 401)
})

test('failed sign-ins of every kind count together, whichever tenant they are for', async () => {
  const exchange = () => ({ ...callback, body: { code: 'x', redirect_uri: 'https://app.example.com', state: 'x' } })
  await flood('192.0.2.22', exchange)
  const body = { email: 'nobody@example.com', password: 'a wrong password' }
  const signIn = { method: 'POST', url: '/v1/auth/login', body }
  for (const tenant of [tenant_id, randomUUID()]) {
    const replies = await flood('192.0.2.22', () => ({ ...signIn, tenant_id: tenant }), 20)
    assert.ok(replies.some(({ headers }) => headers['ratelimit-policy'] === '"failed_sign_ins";q=100;w=900'))
  }
  assert.equal((await from('192.0.2.23', signIn)).status, 401)
})

test('an anonymous caller can begin only a limited number of sign-ins (O14)', async () => {
  const url = `/v1/auth/authorize?tenant=${tenant_id}&redirect_uri=https%3A%2F%2Fapp.example.com`
  const replies = await flood('192.0.2.24', () => ({ method: 'GET', url }), 600)
  assert.deepEqual(statuses(replies), [404, 429])
  const begun = replies.filter(({ status }) => status === 404).length
  assert.ok(begun >= 300, `${begun} were begun`)
})

/** Well-formed including its checksum, so that the key's record is read. */
function withWrongSecret(api_key: string): string {
  const [prefix, id] = api_key.split('_')
  const body = [prefix, id, makeKeyText('api').text.split('_')[2]].join('_')
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let checksum = ''
  for (let rest = crc32(body); rest > 0; rest = Math.floor(rest / 62)) checksum = digits.charAt(rest % 62) + checksum
  return `${body}_${checksum.padStart(6, '0')}`
}

test('a trusted proxy is believed in the address that it adds, and not in what it was told (A23)', async () => {
  const from = (forwarded: string) => ({ 'x-forwarded-for': forwarded })
  const bad = {
    method: 'POST',
    url: '/v1/auth/login',
    tenant_id: tenant.tenant_id,
    body: { email: 'x@y.example', password: 'x' },
  }
  await house.call({ ...bad, headers: from('10.1.2.3, 198.51.100.7') })
  await house.call({ ...bad, headers: from('<script>, 198.51.100.8:4711') })
  const rows = await house.asSuperuser<{ ip: string }>(
    `select data->>'source_ip' as ip from event where tenant_id = $1 and type = 'auth.refused'
      order by seq desc limit 2`,
    [tenant.tenant_id],
  )
  assert.deepEqual(
    rows.map(({ ip }) => ip),
    ['198.51.100.8', '198.51.100.7'],
  )
})
