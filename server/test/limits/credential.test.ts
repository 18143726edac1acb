import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person, type TestTenant } from '../support/house.ts'
import { rewrittenDatabase } from '../support/rewritten-database.ts'
import { asShipped, unlimited } from '../support/unlimited.ts'

/** The calls of one credential to one process with a low limit. */
let statements = 0
const house = await openHouse({ ...asShipped, RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '3' }, (database) =>
  rewrittenDatabase(database, (statement) => {
    statements += 1
    return statement
  }),
)
const tenant = await house.tenant('limits')
const { tenant_id, people } = tenant

const whoAmI = { method: 'GET', url: '/v1/users/me/profile', tenant_id }

/** Calls until it is refused; even on a busy machine 40 calls at once exceed 3 and the refill of a second. */
async function callUntilRefused(credential: { token: string } | { api_key: string }, call = whoAmI, least = 3) {
  const replies = await Promise.all(Array.from({ length: 40 }, () => house.call({ ...call, ...credential })))
  const refused = replies.filter(({ status }) => status === 429)
  assert.ok(replies.length - refused.length >= least, `${replies.length - refused.length} passed`)
  const [first] = refused
  assert.ok(first, 'no call was refused')
  return first
}

test('a credential over its limit gets 429, and when to retry (F6)', async () => {
  const { body, headers } = await callUntilRefused({ token: people.user.token })
  assert.equal(body.code, 'rate_limited')
  const details = { limit: 'credential', quota: 3, window_seconds: 3, retry_after_seconds: 1 }
  assert.deepEqual(body.details, details)
  assert.equal(headers['retry-after'], '1')
  assert.equal(headers['ratelimit-policy'], '"credential";q=3;w=3')
  assert.equal(headers.ratelimit, '"credential";r=0;t=1')
})

test('an answer has the credential’s remaining limit, and credentials do not share a limit', async () => {
  for (const token of [people.approver.token, people.auditor.token]) {
    const { status, headers } = await house.call({ ...whoAmI, token })
    assert.equal(status, 200)
    assert.equal(headers['ratelimit-policy'], '"credential";q=3;w=3')
    assert.equal(headers.ratelimit, '"credential";r=2;t=1')
  }
  await callUntilRefused({ token: people.approver.token }, whoAmI, 1)
  const { headers } = await house.call({
    method: 'GET',
    url: '/v1/requests',
    api_key: people.approver.api_key,
    tenant_id,
  })
  assert.equal(headers.ratelimit, '"credential";r=2;t=1', 'a key of the same person is another credential')
})

test('a limit comes before every refusal that is kept, and before the body', async () => {
  const forbidden = { method: 'POST', url: '/v1/users', tenant_id, body: '{' }
  await callUntilRefused({ api_key: people.user.api_key }, forbidden)
  const kept = await house.asSuperuser(`select from event where type = 'access.refused' and actor_id = $1`, [
    people.user.user_id,
  ])
  assert.ok(kept.length >= 3 && kept.length < 40, `${kept.length} rows were kept`)
})

test('the limit needs no query', async () => {
  await callUntilRefused({ token: people.admin.token })
  const before = statements
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => house.call({ ...whoAmI, token: people.admin.token })),
  )
  const passed = replies.filter(({ status }) => status !== 429).length
  // This house receives no notices of changes, so each call reads the caller: one statement, and one more for each admitted
  // call.
  assert.ok(statements - before <= 20 + passed, `${statements - before} statements for ${passed} that passed`)
})

test('the credentials of a tenant share a limit, and those of another tenant do not notice (F24)', async () => {
  const limited = { TENANT_RATE_LIMIT_PER_SECOND: '1', TENANT_RATE_LIMIT_BURST: '3' }
  const narrow = await openHouse({ ...unlimited, ...limited })
  const crowded = await narrow.tenant('crowded')
  const other = await narrow.tenant('other')
  const call = ({ api_key }: Person, of: TestTenant) =>
    narrow.call({ method: 'GET', url: '/v1/permissions', api_key, tenant_id: of.tenant_id })
  const keys = Array.from({ length: 10 }, () => Object.values(crowded.people)).flat()
  const replies = await Promise.all(keys.map((person) => call(person, crowded)))
  const refused = replies.filter(({ status }) => status === 429)
  assert.ok(replies.length - refused.length >= 3 && refused.length > 0, `${refused.length} of 40 were refused`)
  const [first] = refused
  const details = { limit: 'tenant', quota: 3, window_seconds: 3, retry_after_seconds: 1 }
  assert.deepEqual([first?.body.details, first?.headers['retry-after']], [details, '1'])
  assert.equal((await call(other.owner, other)).status, 200)
})
