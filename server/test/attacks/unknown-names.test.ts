import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Statement } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { makeRefreshToken } from '../../src/sessions/refresh-token.ts'
import { makeSessionSecret } from '../../src/sessions/session-secret.ts'
import { addMailDomain, setSlug } from '../../src/tenants/operator.flow.ts'
import { testDatabase } from '../support/database.ts'
import { type Call, houseOn, operations, type Reply } from '../support/house.ts'
import { rewrittenDatabase } from '../support/rewritten-database.ts'
import { asShipped } from '../support/unlimited.ts'

/** Callers without a credential who try names, and then the ids that they got: nothing reveals to them which tenants exist. */
const db = await testDatabase()
const rootKey = randomBytes(32)
let statements: string[] = []
const through = (database: typeof db.database) =>
  rewrittenDatabase(database, (statement: Statement) => {
    statements.push(statement.text)
    return statement
  })
const house = await houseOn(db, { rootKey, through })
/** Another process on the same database. */
const beside = await houseOn(db, { rootKey })
const { tenant_id: known } = await house.tenant('Acme')
await setSlug(db.database, { tenant_id: known, slug: 'acme' })
await addMailDomain(db.database, { tenant_id: known, domain: 'acme.example' })

const discover = (query: string, at = house) => at.call({ method: 'GET', url: `/v1/auth/discovery?${query}` })
const invented = String((await discover('slug=nobody')).body.tenant_id)
const wrong = { email: 'nobody@example.com', password: 'a wrong password' }

/** What a caller who has only the id of a tenant can send: each operation without a credential in which an id can be named. */
const namingATenant: Record<string, (tenant_id: string) => Partial<Call>[]> = {
  login: (tenant_id) => [
    { tenant_id, body: wrong },
    { tenant_id, body: { ...wrong, email: 'no address' } },
    { tenant_id, body: {} },
    { tenant_id, body: wrong, headers: { 'idempotency-key': `"${tenant_id}"` } },
  ],
  finishSecondFactor: (tenant_id) => [
    { body: { challenge: makeSessionSecret(tenant_id, newId()).text, totp: '123456' } },
    { body: { challenge: makeSessionSecret(tenant_id, newId()).text, recovery_code: 'a code' } },
  ],
  refreshSession: (tenant_id) => [{ body: { refresh_token: makeRefreshToken(tenant_id, newId()).text } }],
  beginAuthorization: (tenant_id) => {
    const back = encodeURIComponent('https://app.example.com/back')
    const url = `/v1/auth/authorize?tenant=${tenant_id}&redirect_uri=${back}`
    return [{ url }, { url, headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' } }]
  },
  checkInvitation: (tenant_id) => [{ body: { key: makeSessionSecret(tenant_id, newId()).text } }],
  useInvitation: (tenant_id) => [
    { body: { key: makeSessionSecret(tenant_id, newId()).text, password: 'four random words here' } },
    { body: { key: makeSessionSecret(tenant_id, newId()).text }, headers: { 'idempotency-key': `"${newId()}"` } },
  ],
  checkSetupLink: (tenant_id) => [{ body: { key: makeSessionSecret(tenant_id, newId()).text } }],
  useSetupLink: (tenant_id) => [
    {
      body: {
        key: makeSessionSecret(tenant_id, newId()).text,
        ...{ name: 'Anna', email: 'anna@example.com', password: 'four random words here' },
      },
    },
  ],
}
/** The others name a provider, a provisioner or a sign-in by ids of their own, or nothing at all. */
const namingNone = [
  ...['discoverTenant', 'exchangeAuthorizationCode', 'receiveLogoutToken', 'getJwks', 'reportAccessResult'],
]

/** All that the caller sees, except what differs between two calls of the same kind. */
function seenOf({ status, text, headers }: Reply) {
  const passing = new Set(['x-request-id', 'date', 'set-cookie'])
  const shown = Object.entries(headers).filter(([name]) => !passing.has(name))
  return { status, text: text.replace(/"request_id":"[^"]*"/, ''), shown, setsCookie: 'set-cookie' in headers }
}

test('each operation without a credential is known here', () => {
  const open = Object.entries(operations).filter(
    ([, { credential }]) => credential === 'none' || credential === 'tenant',
  )
  assert.deepEqual(open.map(([id]) => id).sort(), [...Object.keys(namingATenant), ...namingNone].sort())
})

for (const [operationId, callsOf] of Object.entries(namingATenant)) {
  test(`${operationId} answers an invented id as that of a tenant (T19)`, async () => {
    const { method, path } = operations[operationId] ?? assert.fail()
    const answersAt = async (tenant_id: string) => {
      const seen: unknown[] = []
      statements = []
      for (const call of callsOf(tenant_id)) seen.push(seenOf(await house.call({ method, url: path, ...call })))
      return { seen, round_trips: statements.length }
    }
    // The tenant first: what processes keep of it is then there, as it would be for a tenant in use.
    await answersAt(known)
    const [ofKnown, ofInvented] = [await answersAt(known), await answersAt(invented)]
    assert.deepEqual(ofInvented.seen, ofKnown.seen)
    // A sign-in that fails is recorded in the audit log of its tenant, in the same round trip as the count.
    if (operationId !== 'login') assert.equal(ofInvented.round_trips, ofKnown.round_trips)
  })
}

test('a credential is asked for before the tenant is looked at (T19)', async () => {
  const answers = [known, invented].map((tenant_id) => house.call({ method: 'GET', url: '/v1/requests', tenant_id }))
  const [ofKnown, ofInvented] = (await Promise.all(answers)).map(seenOf)
  assert.deepEqual(ofInvented, ofKnown)
  assert.equal(ofKnown?.status, 401)
})

test('wrong passwords at an invented id are counted by all processes together, as those at a tenant (T19, D4)', async () => {
  const seen = async (tenant_id: string) => {
    const answers: unknown[] = []
    for (let tries = 0; tries < 12; tries += 1) {
      const at = tries % 2 === 0 ? house : beside
      const body = { ...wrong, email: 'guessed@example.com' }
      const { status, headers } = await at.call({ method: 'POST', url: '/v1/auth/login', tenant_id, body })
      answers.push([status, headers['ratelimit-policy']])
    }
    return answers
  }
  const ofKnown = await seen(known)
  assert.deepEqual(ofKnown.at(-1), [429, '"account";q=10;w=900'])
  assert.deepEqual(await seen(invented), ofKnown)
  await db.asSuperuser(`update unknown_sign_in_failure set began_at = began_at - interval '15 minutes'`)
  const again = { method: 'POST', url: '/v1/auth/login', tenant_id: invented, body: wrong }
  assert.equal((await house.call(again)).status, 401)
  const [left] = await db.asSuperuser('select count(*)::int as rows from unknown_sign_in_failure')
  assert.deepEqual(left, { rows: 1 }, 'counts that are over are deleted')
})

test('a name costs the same work whether it leads to a tenant or not (T19)', async () => {
  const workOf = async (query: string) => {
    statements = []
    const reply = await discover(query)
    const { tenant_id: _, ...shown } = reply.body
    return { statements, shown, headers: Object.keys(reply.headers), length: reply.text.length }
  }
  for (const [kind, there, nowhere] of [
    ['slug', 'acme', 'nobody'],
    ['domain', 'acme.example', 'nobody.example'],
  ]) {
    const ofKnown = await workOf(`${kind}=${there}`)
    assert.equal(ofKnown.statements.length, 1)
    assert.deepEqual(await workOf(`${kind}=${nowhere}`), ofKnown)
  }
})

test('a name gets one id at every process and after a restart (T19)', async () => {
  const restarted = await houseOn(db, { rootKey })
  for (const query of ['slug=nobody', 'domain=nobody.example', 'slug=acme']) {
    const ids = await Promise.all(
      [house, beside, restarted].map(async (at) => (await discover(query, at)).body.tenant_id),
    )
    assert.equal(new Set(ids).size, 1, query)
  }
})

test('an address may look up 60 names a minute, and other addresses are not affected (T19)', async () => {
  const limited = await houseOn(db, { rootKey, env: { ...asShipped, TRUST_PROXY: 'true' } })
  const from = (address: string, name: string) =>
    limited.call({ method: 'GET', url: `/v1/auth/discovery?${name}`, headers: { 'x-forwarded-for': address } })
  const replies = await Promise.all(Array.from({ length: 90 }, (_, n) => from('192.0.2.1', `slug=name-${n}`)))
  const over = replies.filter(({ status }) => status === 429)
  // One is free again each second, on a machine however slow.
  assert.ok(replies.filter(({ status }) => status === 200).length >= 60 && over.length > 0)
  assert.equal(over[0]?.headers['ratelimit-policy'], '"discoveries";q=60;w=60')
  assert.ok(Number(over[0]?.headers['retry-after']) > 0)
  assert.equal((await from('192.0.2.2', 'slug=acme')).status, 200)
})

test('the operator sets how many names an address may look up (T19)', async () => {
  const statusesWith = async (env: Record<string, string>) => {
    const limited = await houseOn(db, { rootKey, env: { ...asShipped, ...env } })
    const replies = await Promise.all(Array.from({ length: 80 }, (_, n) => discover(`slug=name-${n}`, limited)))
    return new Set(replies.map(({ status }) => status))
  }
  assert.deepEqual(await statusesWith({ DISCOVERIES_PER_MINUTE: '0' }), new Set([200]))
  assert.deepEqual(await statusesWith({ LIMIT_BY_SOURCE: 'off', DISCOVERIES_PER_MINUTE: '5' }), new Set([200]))
  assert.deepEqual(await statusesWith({ DISCOVERIES_PER_MINUTE: '5' }), new Set([200, 429]))
})
