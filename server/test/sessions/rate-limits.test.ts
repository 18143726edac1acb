import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { makeRefreshToken } from '../../src/sessions/refresh-token.ts'
import { makeSessionSecret } from '../../src/sessions/session-secret.ts'
import { browsersOf, cookieSetBy, ownSessions, publicUrl } from '../support/browser.ts'
import { openHouse, type Reply } from '../support/house.ts'
import { programsOf } from '../support/program.ts'
import { rewrittenDatabase } from '../support/rewritten-database.ts'
import { asShipped } from '../support/unlimited.ts'

/** Cookies count like the other credentials: a valid one as its user, invalid ones as their sender’s address. */
let statements = 0
const env = { PUBLIC_URL: publicUrl, TRUST_PROXY: 'true' }
const house = await openHouse({ ...env, ...asShipped }, (database) =>
  rewrittenDatabase(database, (statement) => {
    statements += 1
    return statement
  }),
)
const browsers = browsersOf(house)
const { tenant_id, people } = await house.tenant('limits')

const from = (address: string, cookie: string) =>
  house.call({
    ...{ method: 'GET', url: ownSessions },
    headers: { ...browsers.page, cookie, 'x-forwarded-for': address },
  })
const flood = (address: string, cookie: () => string, count = 300) =>
  Promise.all(Array.from({ length: count }, () => from(address, cookie())))
const statuses = (replies: Reply[]) => [...new Set(replies.map(({ status }) => status))].sort()
const madeUp = () => `__Host-sallyport=${makeSessionSecret(tenant_id, newId()).text}`

suite('invalid cookies', () => {
  test('get 429 after a hundred in a minute, for their address only (A14)', async () => {
    const replies = await flood('192.0.2.1', madeUp)
    assert.deepEqual(statuses(replies), [401, 429])
    assert.ok(replies.filter(({ status }) => status === 401).length >= 100)
    const over = replies.find(({ status }) => status === 429)
    assert.equal(over?.headers['ratelimit-policy'], '"invalid_credentials";q=100;w=60')
    assert.deepEqual(statuses(await flood('192.0.2.2', madeUp, 50)), [401])
  })

  test('over the limit cost no query (A14)', async () => {
    await flood('192.0.2.3', madeUp)
    const before = statements
    const replies = await flood('192.0.2.3', madeUp, 200)
    const checked = replies.filter(({ status }) => status === 401).length
    assert.ok(statements - before <= checked + 1, `${statements - before} statements for ${checked}`)
  })

  test('leave a browser alone that was in use at the same address, and do not lock out its session elsewhere (A14)', async () => {
    const { cookie } = await browsers.signIn(tenant_id, people.user.user_id)
    assert.equal((await from('192.0.2.4', cookie)).status, 200)
    const bytes = Buffer.from(cookie.split('=')[1] ?? '', 'base64url')
    bytes[63] = (bytes[63] ?? 0) ^ 1
    assert.deepEqual(
      statuses(await flood('192.0.2.4', () => `__Host-sallyport=${bytes.toString('base64url')}`)),
      [401, 429],
    )
    assert.equal((await from('192.0.2.4', cookie)).status, 200)
    assert.equal((await from('192.0.2.5', cookie)).status, 200)
  })

  test('do not include that of a session that was in use here and has ended: it costs no query either (A14)', async () => {
    const browser = await browsers.signIn(tenant_id, people.auditor.user_id)
    assert.equal((await from('192.0.2.6', browser.cookie)).status, 200)
    assert.equal((await browser.send('POST', '/v1/auth/logout')).status, 200)
    assert.equal((await from('192.0.2.6', browser.cookie)).status, 401)
    const before = statements
    assert.deepEqual(statuses(await flood('192.0.2.6', () => browser.cookie)), [401])
    assert.equal(statements, before)
    const next = await browsers.signIn(tenant_id, people.auditor.user_id)
    assert.equal((await from('192.0.2.6', next.cookie)).status, 200, 'a new session at the same address')
  })

  test('are forgotten by the browser', async () => {
    const reply = await from('192.0.2.8', madeUp())
    assert.equal(cookieSetBy(reply), '__Host-sallyport=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure')
    assert.equal(reply.headers['cache-control'], 'no-store')
  })

  test('at a foreign host are refused without a query, and do not count', async () => {
    const before = statements
    const headers = { ...browsers.page, host: 'evil.example', 'x-forwarded-for': '192.0.2.7' }
    const calls = Array.from({ length: 200 }, () =>
      house.call({ method: 'GET', url: ownSessions, headers: { ...headers, cookie: madeUp() } }),
    )
    assert.deepEqual(statuses(await Promise.all(calls)), [421])
    assert.equal(statements, before)
    assert.deepEqual(statuses(await flood('192.0.2.7', madeUp, 50)), [401])
  })
})

test('the calls of a user count together, with a cookie and with a token (F6)', async () => {
  const narrow = await openHouse({ ...env, ...asShipped, RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '3' })
  const tenant = await narrow.tenant('narrow')
  const { user_id } = tenant.people.user
  const { send, token } = await browsersOf(narrow).signIn(tenant.tenant_id, user_id)
  // Even on a busy machine 40 calls at once exceed 3 and the refill of a second.
  const replies = await Promise.all(Array.from({ length: 40 }, () => send('GET', ownSessions)))
  const over = replies.find(({ status }) => status === 429)
  assert.equal(over?.headers['ratelimit-policy'], '"credential";q=3;w=3')
  const byToken = { method: 'GET', url: ownSessions, token, tenant_id: tenant.tenant_id }
  const more = await Promise.all(Array.from({ length: 40 }, () => narrow.call(byToken)))
  assert.ok(more.filter(({ status }) => status === 200).length < 40)
  const colleague = { ...byToken, token: tenant.people.approver.token }
  assert.equal((await narrow.call(colleague)).status, 200)
})

suite('refresh tokens', () => {
  const programs = programsOf(house)
  const sendAll = async (count: number, call: () => Promise<Reply>) => {
    const replies: Reply[] = []
    for (let sent = 0; sent < count; sent += 50) {
      replies.push(...(await Promise.all(Array.from({ length: 50 }, call))))
    }
    return replies
  }
  const headers = (address: string) => ({ 'x-forwarded-for': address })
  const signInBadly = (address: string) => {
    const body = { challenge: makeSessionSecret(tenant_id, newId()).text, totp: '123456' }
    return house.call({ method: 'POST', url: '/v1/auth/second-factor', body, headers: headers(address) })
  }

  test('work at an address whose sign-ins are over their limit (A14)', async () => {
    const program = await programs.signIn(tenant_id, people.user)
    const address = '192.0.2.30'
    assert.deepEqual(statuses(await sendAll(150, () => signInBadly(address))), [401, 429])
    assert.equal((await programs.refresh(program.refresh_token, address)).status, 200)
  })

  test('that are made up get 429 after a thousand, and keep nobody there from signing in (A14)', async () => {
    const address = '192.0.2.31'
    const madeUpToken = () => makeRefreshToken(tenant_id, newId()).text
    const replies = await sendAll(1_200, () => programs.refresh(madeUpToken(), address))
    assert.deepEqual(statuses(replies), [401, 429])
    const over = replies.find(({ status }) => status === 429)
    assert.equal(over?.headers['ratelimit-policy'], '"failed_refreshes";q=1000;w=900')
    assert.equal((await signInBadly(address)).status, 401)
    assert.equal((await programs.refresh(madeUpToken(), '192.0.2.32')).status, 401)
  })

  test('that are dead are looked up thirty times, whatever a program sends (A14)', async () => {
    const program = await programs.signIn(tenant_id, people.user)
    assert.equal((await programs.issue(program.token)).status, 401)
    await house.asSuperuser('delete from user_session where id = $1', [program.session_id])
    const before = statements
    const replies = await sendAll(200, () => programs.refresh(program.refresh_token, '192.0.2.33'))
    assert.deepEqual(statuses(replies), [401, 429])
    const lookedUp = replies.filter(({ status }) => status === 401).length
    assert.ok(lookedUp < 60, String(lookedUp))
    assert.ok(statements - before <= 4 * lookedUp, `${statements - before} statements for ${lookedUp}`)
  })
})
