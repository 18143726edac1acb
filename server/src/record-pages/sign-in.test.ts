import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { publicUrl } from '../../test/support/browser.ts'
import { openIdentityProvider } from '../../test/support/identity-provider.ts'
import { openPageStage } from '../../test/support/page-stage.ts'
import { hiddenOf, pathIn, shownIn, type Visitor, visitorOf } from '../../test/support/page-visitor.ts'
import { password } from '../../test/support/second-factor-stage.ts'
import { anna, signInWays } from '../../test/support/sign-in-stage.ts'
import { addMailDomain, setSlug } from '../tenants/operator.flow.ts'

const callback = `${publicUrl}/sign-in/callback`
const client = { client_id: 'sallyport', client_secret: 'a secret of the client' }
const idp = await openIdentityProvider([{ ...client, redirect_uris: [callback], pkce: true }])
const stage = await openPageStage({ EGRESS_ALLOW: '127.0.0.1' })
const { house, acme, ben, ask, signedIn } = stage
const { tenant_id } = acme
await setSlug(house.database, { tenant_id, slug: 'acme' })
await addMailDomain(house.database, { tenant_id, domain: 'example.com' })
const id = await ask()
const path = `/requests/${id}`
const ways = signInWays(house, idp, () => acme)

const signInAt = (visitor: Visitor, form: Record<string, string>) => visitor.post(`${path}/sign-in`, form)
const sessionOf = ({ cookies }: Visitor) => cookies.get('__Host-sallyport')

suite('a person signs in without script', () => {
  const named: [string, Record<string, string>][] = [
    ['by the domain of the address', {}],
    ['by the short name that they typed', { organization: ' acme ' }],
    ['by the id that they typed', { organization: tenant_id.toUpperCase() }],
    ['by the hint of the link', { t: tenant_id }],
    ['by a typed name before a wrong hint', { organization: 'acme', t: 'other' }],
  ]
  for (const [how, more] of named) {
    test(`at the tenant found ${how}`, async () => {
      const visitor = visitorOf(house)
      const done = await signInAt(visitor, { email: ` ${ben.email} `, password, ...more })
      assert.equal(done.status, 303, shownIn(done))
      assert.match(shownIn(await visitor.follow(done)), /Dana Lee requests/)
    })
  }

  test('and the browser remembers the organization, and gets a new session each time (fixation)', async () => {
    const visitor = await signedIn(ben, path)
    const first = sessionOf(visitor)
    assert.equal(visitor.cookies.get('__Host-sallyport-organization'), tenant_id)
    const planted = visitorOf(house)
    planted.cookies.set('__Host-sallyport', String(first))
    await signInAt(planted, { email: ben.email, password, t: tenant_id })
    assert.notEqual(sessionOf(planted), first)
  })

  test('and reads the same for a wrong passphrase, address or organization', async () => {
    const wrong = [
      { email: ben.email, password: 'a wrong passphrase' },
      { email: 'nobody@example.com', password },
      { email: ben.email, password, organization: 'no-such-tenant' },
    ]
    for (const form of wrong) {
      const visitor = visitorOf(house)
      const refused = await signInAt(visitor, form)
      assert.equal(refused.status, 401)
      assert.match(shownIn(refused), /The address or the passphrase is wrong, or you belong to another organization/)
      assert.match(refused.text, /<details open>/)
      assert.ok(!refused.text.includes(form.password))
      assert.equal(sessionOf(visitor), undefined)
    }
  })

  test('and reads what is missing', async () => {
    const missing: [Record<string, string>, RegExp][] = [
      [{}, /Write your e-mail address, or name your organization/],
      [{ email: 'ben' }, /Write your e-mail address/],
      [{ email: 'ben@unknown.example' }, /Write your passphrase/],
      [{ organization: 'not a slug!' }, /This is not a short name of an organization/],
    ]
    for (const [form, text] of missing) {
      const refused = await signInAt(visitorOf(house), form)
      assert.equal(refused.status, 400)
      assert.match(shownIn(refused), text)
    }
  })

  test('with a code of an app, or a recovery code, as the second step', async () => {
    const user = await stage.named(['approver'], 'Frida')
    const { app, codes } = await stage.addApp(await stage.withPassword(user))
    await stage.forgetUse(user)
    const visitor = visitorOf(house)
    const step = await signInAt(visitor, { email: user.email, password })
    assert.match(shownIn(step), /^Second factor Your passphrase is right\. One step is left\. Code of your app/)
    assert.equal(sessionOf(visitor), undefined)
    const wrong = await visitor.submit(step, { code: app.wrong() })
    assert.deepEqual([wrong.status, sessionOf(visitor)], [401, undefined])
    assert.match(shownIn(wrong), /The code is wrong/)
    const code = app.code()
    const done = await visitor.submit(step, { code: `${code.slice(0, 3)} ${code.slice(3)}` })
    assert.match(shownIn(await visitor.follow(done)), /Dana Lee requests/)
    const second = visitorOf(house)
    const again = await signInAt(second, { email: user.email, password })
    assert.equal((await second.submit(again, { code: String(codes[0]) })).status, 303)
    const third = visitorOf(house)
    const used = await signInAt(third, { email: user.email, password })
    assert.equal((await third.submit(used, { code: String(codes[0]) })).status, 401)
  })
})

suite('a person of a tenant with a provider', () => {
  /** Goes to the provider from the page of the request. */
  async function begin(visitor: Visitor, form: Record<string, string> = {}): Promise<string> {
    const page = await signInAt(visitor, { email: anna.email, password: '', t: tenant_id, ...form })
    assert.equal(page.status, 200, shownIn(page))
    const [, link = ''] = /<a class="button primary" href="([^"]+)"/.exec(page.text) ?? []
    const sent = await visitor.open(pathIn(link), { 'sec-fetch-site': 'same-origin' })
    assert.equal(sent.status, 302, shownIn(sent))
    return String(sent.headers.location)
  }
  const pathOf = (url: URL) => `${url.pathname}${url.search}`

  test('reads that there is none that leads back, before the page’s address is in the settings', async () => {
    const visitor = visitorOf(house)
    const page = await signInAt(visitor, { email: '', password: '', t: tenant_id })
    assert.match(shownIn(page), /Your organization has its own sign-in/)
    const refused = await visitor.open('/sign-in/provider', { 'sec-fetch-site': 'same-origin' })
    assert.equal(refused.status, 400)
    assert.match(shownIn(refused), /has no sign-in of its own that leads back/)
    assert.equal((await visitorOf(house).open('/sign-in/provider')).status, 404)
  })

  test('comes back signed in to the request', async () => {
    await ways.configure({ redirect_uris: [callback] })
    const visitor = visitorOf(house)
    const back = await idp.signIn(await begin(visitor), 'anna', { ...anna })
    const done = await visitor.open(pathOf(back))
    assert.equal(done.status, 303, shownIn(done))
    assert.equal(done.headers.location, `${publicUrl}/requests/${id}`)
    assert.ok(sessionOf(visitor))
    // Anna may not see it: what she reads is what a stranger of the tenant reads.
    assert.equal((await visitor.follow(done)).status, 404)
    assert.equal(visitor.cookies.get('__Host-sallyport-return'), undefined)
  })

  /** What the console's script sends before it goes to the provider. */
  const beginInConsole = (visitor: Visitor, path: string, headers = {}) =>
    visitor.post('/sign-in/console', { tenant_id, path }, headers)

  test('comes back signed in to the page of the console that they left', async () => {
    const visitor = visitorOf(house)
    const begun = await beginInConsole(visitor, 'inbox?organization=acme')
    assert.equal(begun.status, 204)
    const sent = await visitor.open('/sign-in/provider', { 'sec-fetch-site': 'same-origin' })
    const back = await idp.signIn(String(sent.headers.location), 'anna', { ...anna })
    const done = await visitor.open(pathOf(back))
    assert.deepEqual([done.status, done.headers.location], [303, `${publicUrl}/console/inbox?organization=acme`])
    assert.ok(sessionOf(visitor))
  })

  test('comes back to the console when the provider refuses', async () => {
    const visitor = visitorOf(house)
    await beginInConsole(visitor, '')
    const refused = await visitor.open('/sign-in/callback?error=access_denied&state=none')
    assert.deepEqual([refused.status, refused.headers.location], [303, `${publicUrl}/console/?sign-in=failed`])
  })

  test('is led to the console alone, and by its own script alone', async () => {
    for (const path of [
      '//evil.example',
      '/evil.example',
      '..//evil.example',
      'a\r\nb',
      'https://evil.example',
      '@evil',
      '\\evil',
    ]) {
      const visitor = visitorOf(house)
      const begun = await beginInConsole(visitor, path)
      assert.equal(begun.status, 400, path)
      assert.equal(visitor.cookies.get('__Host-sallyport-return'), undefined, path)
    }
    const visitor = visitorOf(house)
    const elsewhere = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    assert.equal((await beginInConsole(visitor, '', elsewhere)).status, 403)
    assert.equal(visitor.cookies.size, 0)
  })

  test('is not signed in by an answer that came to another browser, or twice (login CSRF)', async () => {
    const attacker = visitorOf(house)
    const back = await idp.signIn(await begin(attacker), 'anna', { ...anna })
    const victim = visitorOf(house)
    assert.equal((await victim.open(pathOf(back))).status, 404)
    await begin(victim)
    const other = await victim.open(pathOf(back))
    assert.equal(other.status, 400)
    assert.equal(sessionOf(victim), undefined)
    // The state is used up: the attacker's own browser gets nothing from it either.
    assert.equal((await attacker.open(pathOf(back))).status, 400)
  })

  test('is not signed in at a tenant that another site chose', async () => {
    const visitor = visitorOf(house)
    await begin(visitor)
    const stranger = await house.tenant('Stranger')
    await ways.configure({ redirect_uris: [callback] }, stranger)
    const query = new URLSearchParams({ tenant: stranger.tenant_id, redirect_uri: callback })
    const sent = await visitor.open(`/v1/auth/authorize?${query}`)
    const back = await idp.signIn(String(sent.headers.location), 'anna', { ...anna })
    const reply = await visitor.open(pathOf(back))
    assert.deepEqual([reply.status, sessionOf(visitor)], [400, undefined])
  })

  test('reads that it did not succeed when the provider says so, or the answer is forged', async () => {
    const visitor = visitorOf(house)
    await begin(visitor)
    for (const query of [
      '?error=access_denied',
      '?code=x&state=y',
      `?code=x&state=${tenant_id}.x.y`,
      '?code=a&code=b',
      '',
    ]) {
      const reply = await visitor.open(`/sign-in/callback${query}`)
      assert.deepEqual([reply.status, sessionOf(visitor)], [400, undefined], query)
      assert.match(shownIn(reply), /did not succeed/)
    }
  })

  test('keeps the note on the way', async () => {
    const visitor = await signedIn(ben, path)
    const confirm = await visitor.open(`${path}/deny`)
    await house.asSuperuser('delete from user_session where user_id = $1', [ben.id])
    const over = await visitor.submit(confirm, { note: 'not on Friday' })
    assert.equal(over.status, 401)
    const back = await idp.signIn(await begin(visitor, hiddenOf(over)), 'anna', { ...anna })
    const done = await visitor.open(pathOf(back))
    assert.equal(done.headers.location, `${publicUrl}/requests/${id}/deny`)
  })
})
