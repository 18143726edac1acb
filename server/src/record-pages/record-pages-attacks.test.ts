import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import { publicUrl } from '../../test/support/browser.ts'
import { openPageStage } from '../../test/support/page-stage.ts'
import { hiddenOf, shownIn, visitorOf } from '../../test/support/page-visitor.ts'
import { picturesOfAll } from '../../test/support/picture.ts'
import { password } from '../../test/support/second-factor-stage.ts'
import { newId } from '../kernel/id.ts'

const stage = await openPageStage({ TRUST_PROXY: 'true' })
const { house, acme, ben, dana, ask, signedIn } = stage
const id = await ask({ reason: 'look at the logs' })
const pictureOf = await picturesOfAll(house, '')

const otherSites: [string, Record<string, string>][] = [
  ['another site', { origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' }],
  ['another host of the same site', { origin: 'https://other.example.com', 'sec-fetch-site': 'same-site' }],
  ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ['a program that names no origin', { origin: '', 'sec-fetch-site': '' }],
]

suite('a GET', () => {
  test('of any page changes nothing, as a scanner of mails opens it and as a person does', async () => {
    const visitor = await signedIn(ben, `/requests/${id}`)
    const before = await pictureOf(acme.tenant_id)
    const paths = ['', '/approve', '/deny', '/cancel'].map((act) => `/requests/${id}${act}`)
    for (const path of [...paths, `${paths[0]}?t=${acme.tenant_id}`]) {
      for (const reader of [visitorOf(house), visitor]) {
        assert.equal((await reader.open(path)).status, 200)
        assert.equal((await reader.open(path, { purpose: 'prefetch', 'sec-purpose': 'prefetch' })).status, 200)
      }
    }
    assert.deepEqual(await pictureOf(acme.tenant_id), before)
  })

  test('without a session is the same for a record that exists and one that does not', async () => {
    const [real, missing] = [id, newId()]
    for (const path of ['', '/approve', '/deny', '/cancel']) {
      const pages = await Promise.all(
        [real, missing].map((one) => visitorOf(house).open(`/requests/${one}${path}?t=${acme.tenant_id}`)),
      )
      const [one, other] = pages.map(({ status, text, headers }, nth) => [
        status,
        text.replaceAll(nth === 0 ? real : missing, ''),
        headers['set-cookie'],
      ])
      assert.deepEqual(one, other)
    }
  })

  test('does not decide, whatever its query says', async () => {
    const visitor = await signedIn(ben, `/requests/${id}`)
    await visitor.open(`/requests/${id}/approve?key=${newId()}&note=x&duration=900`)
    const [row] = await house.asSuperuser('select status from access_request where id = $1', [id])
    assert.deepEqual(row, { status: 'pending' })
  })
})

suite('a form', () => {
  for (const [who, headers] of otherSites) {
    test(`of ${who} decides nothing and signs nobody in (CSRF, login CSRF)`, async () => {
      const visitor = await signedIn(ben, `/requests/${id}`)
      const key = newId()
      const before = await pictureOf(acme.tenant_id)
      for (const act of ['approve', 'deny', 'cancel', 'remind']) {
        const reply = await visitor.post(`/requests/${id}/${act}`, { key, note: 'x' }, headers)
        assert.equal(reply.status, 403)
        assert.match(shownIn(reply), /did not come from a page of this service/)
      }
      const form = { email: dana.email, password, organization: acme.tenant_id }
      const signIn = await visitorOf(house).post(`/requests/${id}/sign-in`, form, headers)
      assert.deepEqual([signIn.status, signIn.headers['set-cookie']], [403, undefined])
      assert.deepEqual(await pictureOf(acme.tenant_id), before)
    })
  }

  test('of our own page is accepted from a browser that sends only Origin', async () => {
    const visitor = await signedIn(ben, `/requests/${id}`)
    const reply = await visitor.post(`/requests/${id}/deny`, { note: '' }, { 'sec-fetch-site': '' })
    assert.equal(reply.status, 400)
  })

  test('that is too large, no form, or has a field twice is refused in words', async () => {
    const visitor = await signedIn(ben, `/requests/${id}`)
    const large = await visitor.post(`/requests/${id}/deny`, { note: 'a'.repeat(70_000) })
    assert.deepEqual([large.status, String(large.headers['content-type'])], [413, 'text/html; charset=utf-8'])
    const json = await visitor.post(`/requests/${id}/deny`, {}, { 'content-type': 'application/json' })
    assert.ok(json.status === 415 || json.status === 400, String(json.status))
    const time = await visitor.post(`/requests/${id}/approve`, { key: newId(), duration: '1e9' })
    assert.equal(time.status, 400)
    const longer = await visitor.post(`/requests/${id}/approve`, { key: newId(), duration: '7200' })
    assert.equal(longer.status, 400)
    assert.match(shownIn(longer), /must be at most 3600/)
  })

  test('uses no other credential than the cookie', async () => {
    const key = { 'x-api-key': acme.owner.api_key, 'x-tenant-id': acme.tenant_id }
    for (const headers of [key, { authorization: `Bearer ${acme.owner.token}`, 'x-tenant-id': acme.tenant_id }]) {
      assert.match(shownIn(await visitorOf(house).open(`/requests/${id}`, headers)), /^Sign in/)
      assert.equal((await visitorOf(house).post(`/requests/${id}/approve`, { key: newId() }, headers)).status, 401)
    }
  })
})

suite('every page', () => {
  test('runs no script, cannot be framed or cached, and sends no referrer elsewhere', async () => {
    const visitor = await signedIn(ben, `/requests/${id}`)
    const pages = [
      await visitorOf(house).open(`/requests/${id}`),
      await visitor.open(`/requests/${id}`),
      await visitor.open(`/requests/${id}/deny`),
      await visitor.open(`/requests/${newId()}`),
      await visitor.post(
        `/requests/${id}/deny`,
        {},
        { origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' },
      ),
    ]
    for (const { text, headers } of pages) {
      const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? []
      const hash = createHash('sha256').update(style).digest('base64')
      assert.equal(
        headers['content-security-policy'],
        `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      )
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['referrer-policy'], 'same-origin')
      assert.equal(headers['x-robots-tag'], 'noindex')
      assert.doesNotMatch(text, /<script|<img|<iframe|<object| style="|\son\w+=|javascript:/i)
    }
  })

  test('shows names and reasons as text: no markup, no link, no mark that turns the text around (XSS, bidi)', async () => {
    const name = '\u202eeel anaD\u202c <img src=x onerror=alert(1)>'
    await house.asSuperuser('update tenant_user set name = $2 where id = $1', [dana.id, name])
    const reason = '"><script>alert(1)</script>\u202egnp.exe\u2066 https://evil.example.com/\u0007 </blockquote>'
    const hostile = await ask({ reason, action: `Read'"<svg onload=alert(1)>` })
    const visitor = await signedIn(ben, `/requests/${hostile}`)
    for (const act of ['', '/approve', '/deny']) {
      const { text } = await visitor.open(`/requests/${hostile}${act}`)
      assert.doesNotMatch(text, /<script|<img|<svg onload|[\u202a-\u202e\u2066-\u2069]/)
      assert.ok(!text.includes('\u0007'))
      assert.ok(text.includes('&lt;script&gt;'))
      assert.doesNotMatch(text, /href="https:\/\/evil/)
    }
    const refilled = await visitor.submit(await visitor.open(`/requests/${hostile}/deny`), {
      note: `</textarea><script>alert(1)</script>${'a'.repeat(2_000)}`,
    })
    assert.equal(refilled.status, 400)
    assert.doesNotMatch(refilled.text, /<script/)
    await house.asSuperuser(`update tenant_user set name = E'\u202EBen <img>' where tenant_id = $1`, [acme.tenant_id])
    const own = await (await signedIn(dana, `/requests/${hostile}`)).open(`/requests/${hostile}`)
    assert.match(shownIn(own), /Ben <img>.* can approve/)
    assert.doesNotMatch(own.text, /<img|[\u202a-\u202e\u2066-\u2069]/)
  })

  test('leads nowhere else, whatever the address or the form says (open redirects, header injection)', async () => {
    const visitor = visitorOf(house)
    const form = { email: ben.email, password, organization: acme.tenant_id }
    const evil = { t: '//evil.example.com', next: 'https://evil.example.com', act: '//evil.example.com', noun: '..' }
    const done = await visitor.post(`/requests/${id}/sign-in?return=https://evil.example.com`, { ...form, ...evil })
    assert.equal(done.headers.location, `${publicUrl}/requests/${id}`)
    const { text } = await visitorOf(house).open(`/requests/${id}?t=%0d%0aset-cookie:%20a=b%22%3E%3Cscript%3E`)
    assert.doesNotMatch(text, /set-cookie|<script/)
    for (const path of ['/requests/..%2f..%2fevil', '/requests/%0d%0ax:%20y', `/requests/${id}%0a/approve`]) {
      const reply = await visitor.open(path)
      assert.ok(reply.status === 404 || reply.status === 400, `${path}: ${reply.status}`)
      assert.equal(reply.headers.location, undefined)
    }
  })

  test('passes the address of the browser on, as the proxy reports it, and nothing that the browser claims', async () => {
    const visitor = visitorOf(house)
    const forwarded = { 'x-forwarded-for': '192.0.2.1, 203.0.113.9', 'user-agent': 'a phone' }
    const form = { email: ben.email, password, organization: acme.tenant_id }
    assert.equal((await visitor.post(`/requests/${id}/sign-in`, form, forwarded)).status, 303)
    const [session] = await house.asSuperuser(
      'select source_ip as ip, user_agent from user_session where user_id = $1 order by auth_time desc limit 1',
      [ben.id],
    )
    assert.deepEqual(session, { ip: '203.0.113.9', user_agent: 'a phone' })
  })

  test('is refused at another address than the service’s own', async () => {
    for (const headers of [{ host: 'evil.example.com' }, { host: 'sallyport.example.com:8443' }]) {
      const reply = await visitorOf(house).open(`/requests/${id}`, headers)
      assert.equal(reply.status, 421)
      assert.match(shownIn(reply), new RegExp(`${publicUrl}/requests/${id}`))
    }
  })

  test('shows no secret: neither a token nor the session’s cookie', async () => {
    const visitor = await signedIn(ben, `/requests/${id}`)
    const session = [...visitor.cookies].find(([name]) => name === '__Host-sallyport')?.[1] ?? ''
    assert.ok(session.length > 20)
    const page = await visitor.open(`/requests/${id}/approve`)
    assert.ok(!page.text.includes(session))
    assert.doesNotMatch(page.text, /eyJ[\w-]+\./)
    assert.deepEqual(Object.keys(hiddenOf(page)), ['key', 'who'])
  })
})
