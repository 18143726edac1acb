import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { type Browser, browsersOf, cookieSetBy, ownSessions, publicUrl } from '../support/browser.ts'
import { openStream } from '../support/event-stream.ts'
import { openHouse, type TestTenant } from '../support/house.ts'
import { requestStage } from '../support/request-stage.ts'
import { until } from '../support/wait.ts'

/** What the cookie of a session permits, and at which address. */
const house = await openHouse({ PUBLIC_URL: publicUrl })
const browsers = browsersOf(house)

let tenant: TestTenant
let browser: Browser
beforeEach(async () => {
  tenant = await house.tenant('cookies')
  browser = await browsers.signIn(tenant.tenant_id, tenant.owner.user_id)
})
const preferences = '/v1/users/me/preferences'
const aGroup = () => ({ name: `group ${newId()}` })
const groupsOf = async () =>
  (await house.asSuperuser('select from tenant_group where tenant_id = $1', [tenant.tenant_id])).length

suite('with the cookie of a session', () => {
  test('reads and writes succeed without a tenant, which the session names', async () => {
    assert.equal((await browser.send('GET', '/v1/policies')).status, 200)
    assert.equal((await browser.send('GET', preferences)).status, 200)
    const made = await browser.send('POST', '/v1/groups', { body: aGroup() })
    assert.equal(made.status, 201, made.text)
    const read = await browser.send('GET', `/v1/groups/${made.body.id}`)
    assert.equal(read.status, 200)
  })

  test('the session’s own tenant may be named, another one never, a malformed one never (T1, T3)', async () => {
    const other = await house.tenant('other')
    const named = (tenant_id: string) => browser.send('GET', '/v1/policies', { tenant_id })
    assert.equal((await named(tenant.tenant_id)).status, 200)
    for (const foreign of [other.tenant_id, newId()]) {
      const reply = await named(foreign)
      assert.deepEqual([reply.status, reply.body.code], [403, 'tenant_mismatch'])
    }
    for (const malformed of ['', 'x', `{${tenant.tenant_id}}`, `${tenant.tenant_id},${tenant.tenant_id}`]) {
      const reply = await named(malformed)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], malformed)
    }
  })

  test('a token or an API key still names its tenant', async () => {
    for (const credential of [{ token: browser.token }, { api_key: tenant.owner.api_key }]) {
      const reply = await house.call({ method: 'GET', url: '/v1/policies', ...credential })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
    }
  })

  test('the user’s current scopes count', async () => {
    const visitor = await browsers.signIn(tenant.tenant_id, tenant.people.user.user_id)
    const reply = await visitor.send('POST', '/v1/groups', { body: aGroup() })
    assert.deepEqual([reply.status, reply.body.details], [403, { scope: 'groups:write' }])
  })

  test('a text that is no session’s cookie is no credential (A12)', async () => {
    const [name = '', value = ''] = browser.cookie.split('=')
    const bytes = Buffer.from(value, 'base64url')
    const with1 = (index: number) => Buffer.from(bytes.map((byte, at) => (at === index ? byte ^ 1 : byte)))
    const nobody = await house.call({ method: 'GET', url: ownSessions })
    for (const cookie of [
      ...[0, 20, 40, 63].map((index) => `${name}=${with1(index).toString('base64url')}`),
      ...[`${name}=`, `${name}=${value}A`, `${name}="${value}"`, `sallyport=${value}`, `${name}=${browser.token}`],
      ...[`${name}=${tenant.owner.api_key}`, `${browser.cookie}; ${browser.cookie}`, `${name}=x; ${browser.cookie}`],
    ]) {
      const reply = await browser.send('GET', ownSessions, { headers: { cookie } })
      assert.deepEqual([reply.status, reply.text], [401, nobody.text], cookie)
    }
  })

  test('its value counts nowhere else: in no header, and not in the query (A12)', async () => {
    const value = browser.cookie.split('=')[1] ?? ''
    const elsewhere = [
      { url: `${ownSessions}?session=${value}`, headers: {} },
      { url: ownSessions, headers: { authorization: `Bearer ${value}` } },
      { url: ownSessions, headers: { 'x-api-key': value } },
      { url: ownSessions, headers: { cookie2: browser.cookie, 'x-cookie': browser.cookie } },
    ]
    for (const { url, headers } of elsewhere) {
      const call = { method: 'GET', url, tenant_id: tenant.tenant_id, headers: { ...browsers.page, ...headers } }
      assert.equal((await house.call(call)).status, 401, JSON.stringify(headers))
    }
  })
})

suite('a read with the cookie', () => {
  const statusWith = async (headers: Record<string, string>) =>
    (await browser.send('GET', ownSessions, { headers })).status

  test('is not for a page of another host (A16)', async () => {
    for (const site of ['same-site', 'cross-site']) {
      for (const mode of ['cors', 'no-cors', 'websocket', undefined]) {
        const headers = { 'sec-fetch-site': site, ...(mode !== undefined && { 'sec-fetch-mode': mode }) }
        const reply = await browser.send('GET', ownSessions, { headers })
        assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], `${site} ${mode}`)
        assert.equal(cookieSetBy(reply), undefined, 'the session goes on')
      }
    }
    assert.equal(await browser.status(), 200)
  })

  test('succeeds from a page of the service, by a link of another, and from a program', async () => {
    assert.equal(await statusWith({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }), 200)
    assert.equal(await statusWith({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }), 200)
    assert.equal(await statusWith({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }), 200)
    const { host } = browsers.page
    const bare = { method: 'GET', url: ownSessions, headers: { host, cookie: browser.cookie } }
    assert.equal((await house.call(bare)).status, 200)
  })

  test('with a credential in a header is that of a program, wherever it comes from', async () => {
    const call = { method: 'GET', url: ownSessions, token: browser.token, tenant_id: tenant.tenant_id }
    const headers = {
      ...browsers.page,
      cookie: browser.cookie,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'cors',
    }
    assert.equal((await house.call({ ...call, headers })).status, 200)
  })
})

suite('a write with the cookie', () => {
  test('must come from a page of the service, or nothing is changed (A16)', async () => {
    const before = await groupsOf()
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://app.sallyport.example.com', 'sec-fetch-site': 'same-site' },
    ]) {
      for (const [method, url, body] of [
        ['POST', '/v1/groups', aGroup()],
        ['PATCH', `/v1/users/${tenant.owner.user_id}`, { name: 'Mallory' }],
        ['PUT', '/v1/settings/requests.require_reason', { value: 'true' }],
        ['DELETE', ownSessions, undefined],
        ['POST', '/v1/auth/logout', undefined],
      ] as const) {
        const reply = await browser.send(method, url, { headers, ...(body && { body }) })
        assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], `${method} ${url} ${headers.origin}`)
      }
    }
    const { host } = browsers.page
    const bare = { method: 'POST', url: '/v1/groups', body: aGroup(), headers: { host, cookie: browser.cookie } }
    assert.equal((await house.call(bare)).status, 403, 'neither header')
    assert.equal(await groupsOf(), before)
    assert.equal(await browser.status(), 200)
  })

  test('succeeds by either of the two headers', async () => {
    const { host } = browsers.page
    for (const own of [{ origin: publicUrl }, { 'sec-fetch-site': 'same-origin' }]) {
      const headers = { host, cookie: browser.cookie, ...own }
      const call = { method: 'POST', url: '/v1/groups', body: aGroup(), headers }
      assert.equal((await house.call(call)).status, 201)
    }
  })

  test('is refused before the session is read: the answer does not reveal whether there is one (D1)', async () => {
    const headers = { origin: 'https://evil.example' }
    const living = await browser.send('POST', '/v1/groups', { headers, body: aGroup() })
    const name = browser.cookie.split('=')[0]
    const cookie = `${name}=${'A'.repeat(86)}`
    const unknown = await browser.send('POST', '/v1/groups', { headers: { ...headers, cookie }, body: aGroup() })
    assert.deepEqual([unknown.status, unknown.text], [living.status, living.text])
  })

  test('a read needs no such header: a link from another page leads to it', async () => {
    const headers = { origin: '', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    assert.equal((await browser.send('GET', ownSessions, { headers })).status, 200)
  })
})

suite('a request with the cookie', () => {
  test('must name the service’s host, or the answer is 421 (A18)', async () => {
    for (const host of [
      'evil.example',
      'sallyport.example.com.evil.example',
      'sallyport.example.com:8443',
      '127.0.0.1',
    ]) {
      for (const method of ['GET', 'DELETE']) {
        const reply = await browser.send(method, ownSessions, { headers: { host } })
        assert.deepEqual([reply.status, reply.body.code], [421, 'misdirected_request'], host)
      }
    }
    for (const host of ['SALLYPORT.example.com', 'sallyport.example.com:443']) {
      assert.equal((await browser.send('GET', ownSessions, { headers: { host } })).status, 200, host)
    }
  })

  test('gets 421 at a foreign host whether or not the session lives', async () => {
    const headers = { host: 'evil.example', cookie: `${browser.cookie.split('=')[0]}=${'A'.repeat(86)}` }
    assert.equal((await browser.send('GET', ownSessions, { headers })).status, 421)
  })

  test('is not rescued by `X-Forwarded-Host` of a sender that is no trusted proxy (A18)', async () => {
    const forwarded = { 'x-forwarded-host': browsers.page.host }
    const headers = { host: 'evil.example', ...forwarded }
    assert.equal((await browser.send('GET', ownSessions, { headers })).status, 421)
    const ignored = { 'x-forwarded-host': 'evil.example' }
    assert.equal((await browser.send('GET', ownSessions, { headers: ignored })).status, 200)
  })
})

suite('behind proxies', () => {
  test('the host that a trusted proxy names counts, and only the one that it added itself (A18)', async () => {
    const behind = await openHouse({ PUBLIC_URL: publicUrl, TRUST_PROXY: '127.0.0.1' })
    const { tenant_id, owner } = await behind.tenant('behind')
    const { send } = await browsersOf(behind).signIn(tenant_id, owner.user_id)
    const through = async (forwarded: string, host = 'upstream:8080') =>
      (await send('GET', ownSessions, { headers: { host, 'x-forwarded-host': forwarded } })).status
    const own = browsers.page.host
    assert.equal(await through(own), 200)
    assert.equal(await through(`evil.example, ${own}`), 200)
    for (const foreign of ['evil.example', `${own}, evil.example`, `${own}.`]) {
      assert.equal(await through(foreign, own), 421, foreign)
    }
    assert.equal((await send('GET', ownSessions, { headers: { host: 'upstream:8080' } })).status, 421)
  })

  test('a sender that is not the trusted proxy names no host but its own (A18)', async () => {
    const behind = await openHouse({ PUBLIC_URL: publicUrl, TRUST_PROXY: '192.0.2.1' })
    const { tenant_id, owner } = await behind.tenant('behind')
    const { send } = await browsersOf(behind).signIn(tenant_id, owner.user_id)
    const headers = { host: 'evil.example', 'x-forwarded-host': browsers.page.host }
    assert.equal((await send('GET', ownSessions, { headers })).status, 421)
  })
})

suite('for policy and for streams', () => {
  test('a session is a token: rules about API keys do not concern it', async () => {
    const stage = await requestStage(house, 'policy')
    await stage.rule('permit (principal, action, resource) when { context.via == "token" };')
    const asker = await browsers.signIn(stage.tenant_id, stage.people.user.user_id)
    const asked = await asker.send('POST', '/v1/requests', { body: stage.account('123456789012') })
    assert.equal(asked.status, 201, asked.text)
    const [row] = await house.asSuperuser('select asked_via from access_request where id = $1', [asked.body.id])
    assert.deepEqual(row, { asked_via: 'token' })
    const byKey = { api_key: stage.people.user.api_key, tenant_id: stage.tenant_id }
    const refused = await house.call({
      method: 'POST',
      url: '/v1/requests',
      body: stage.account('123456789012'),
      ...byKey,
    })
    assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
  })

  test('a stream of notifications opened with the cookie ends with the session (A6)', async () => {
    const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
    const headers = { host: browsers.page.host, cookie: browser.cookie }
    const stream = await openStream(`${address}/v1/users/me/notifications/stream`, headers)
    house.atEnd(async () => stream.close())
    assert.equal(stream.status, 200, stream.text())
    await until('it has begun', async () => stream.events().length > 0)
    const id = await house.notification(tenant.tenant_id, tenant.owner.user_id)
    await until('it goes on', async () => stream.ids().includes(id))
    assert.equal((await browser.send('POST', '/v1/auth/logout')).status, 200)
    await house.notification(tenant.tenant_id, tenant.owner.user_id)
    assert.equal(await until('it has ended', async () => stream.ended()), 'whole')
    assert.deepEqual(stream.ids(), [id])
    assert.equal((await openStream(`${address}/v1/users/me/notifications/stream`, headers)).status, 401)
  })
})
