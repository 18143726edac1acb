import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Misdeed, openHostileProvider } from '../support/hostile-provider.ts'
import { openProviderOfAll, openSignInStage, own, redirect_uri, unknownTenant } from '../support/sign-in-stage.ts'

/** A tenant's sign-in settings. */
const idp = await openProviderOfAll()
const stage = await openSignInStage(idp)
const { tenant, asOwner, configure, begin, signIn, house, settings } = stage
const evil = await openHostileProvider()

suite('the settings of sign-in', () => {
  test('are returned and logged without the secret, which is stored sealed', async () => {
    assert.equal((await asOwner('GET', '/v1/settings/sign-in')).body.issuer, null)
    const reply = await configure()
    assert.equal(reply.body.client_secret, '[redacted]')
    const { updated_at: _, id, ...shown } = (await asOwner('GET', '/v1/settings/sign-in')).body
    assert.deepEqual(shown, {
      enabled: true,
      issuer: idp.issuer,
      client_id: own.client_id,
      client_secret: '[redacted]',
      redirect_uris: [redirect_uri],
      scopes: ['openid', 'email', 'profile'],
      email_trust: 'claim',
      subject_claim: 'sub',
      groups_claim: null,
      identity_provider_id: null,
      group_mappings: [],
    })
    assert.equal(id, reply.body.id)
    const rows = await house.asSuperuser<{ all: string }>(
      `select (select string_agg(e::text, '') from event e where tenant_id = $1)
        || (select s::text from sign_in_setting s where tenant_id = $1) as all`,
      [tenant().tenant_id],
    )
    assert.ok(rows[0]?.all.includes('setting.updated') && !rows[0].all.includes(own.client_secret))
  })

  test('keep the secret if it is absent or `[redacted]`, but not for another issuer', async () => {
    await configure()
    const { client_secret: _, ...without } = settings
    for (const body of [without, { ...without, client_secret: '[redacted]' }]) {
      assert.equal(
        (await asOwner('PUT', '/v1/settings/sign-in', { ...body, redirect_uris: [redirect_uri] })).status,
        200,
      )
      assert.equal((await signIn('fred')).status, 200)
      const elsewhereBody = { ...body, issuer: `${idp.issuer}/other`, redirect_uris: [redirect_uri] }
      const moved = await asOwner('PUT', '/v1/settings/sign-in', elsewhereBody)
      assert.equal(moved.status, 400, moved.text)
      assert.match(moved.text, /client_secret/)
    }
  })

  const faulty: [string, object, string][] = [
    ['an issuer on a private network', { issuer: 'https://10.0.0.1' }, '/issuer'],
    ['an issuer by plain http', { issuer: 'http://93.184.216.34' }, '/issuer'],
    ['an issuer on the cloud’s metadata address', { issuer: 'https://169.254.169.254' }, '/issuer'],
    [
      'an issuer with a query, of a provider that is disabled',
      { issuer: 'https://id.example.com/?x', enabled: false },
      '/issuer',
    ],
    ['an issuer with a password', { issuer: 'https://a:b@93.184.216.34', enabled: false }, '/issuer'],
    ['an issuer of another kind', { issuer: 'ldap://93.184.216.34', enabled: false }, '/issuer'],
    ['an issuer with a space', { issuer: 'https://93.184.216.34 ', enabled: false }, '/issuer'],
    ['an issuer that is too long', { issuer: `https://93.184.216.34/${'x'.repeat(480)}`, enabled: false }, '/issuer'],
    ['an issuer with a query', { issuer: 'https://93.184.216.34/?x' }, '/issuer'],
    ['no redirect_uri', { redirect_uris: [] }, '/redirect_uris'],
    ['a redirect_uri by plain http', { redirect_uris: ['http://app.example.com/back'] }, '/redirect_uris/0'],
    ['a redirect_uri with a fragment', { redirect_uris: [`${redirect_uri}#x`] }, '/redirect_uris/0'],
    ['a redirect_uri that is not a URL', { redirect_uris: [redirect_uri, '/back'] }, '/redirect_uris/1'],
    ['scopes without openid', { scopes: ['email'] }, '/scopes'],
    ['an unknown trust in addresses', { email_trust: 'sometimes' }, '/email_trust'],
    ['an unknown subject', { subject_claim: 'email' }, '/subject_claim'],
    ['a scope with a space', { scopes: ['openid', 'a b'] }, '/scopes/1'],
    ['a secret to keep if none is stored', { client_secret: '[redacted]' }, '/client_secret'],
    ['an unknown field', { response_type: 'token' }, '/response_type'],
  ]
  for (const [name, change, pointer] of faulty) {
    test(`refuse ${name}`, async () => {
      const body = { ...settings, redirect_uris: [redirect_uri], ...change }
      const reply = await asOwner('PUT', '/v1/settings/sign-in', body)
      assert.equal(reply.status, 400, reply.text)
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.ok(
        fields.some((field) => field.pointer === pointer),
        reply.text,
      )
    })
  }

  test('that do not exist get the answer of an unknown tenant', async () => {
    const [none, noTenant] = [await begin(), await begin(unknownTenant)]
    assert.equal(none.status, 404)
    assert.equal(none.text, noTenant.text)
  })
})

suite('an issuer is tried before it is saved, and is refused', () => {
  const faults: [string, Misdeed, RegExp][] = [
    ['without a provider there', { answer: { discovery: (good) => ({ ...good, status: 404 }) } }, /status code: 404/],
    ['if it fails', { answer: { discovery: (good) => ({ ...good, status: 500 }) } }, /`http[^`]*` answered 500/],
    ['if it sends no JSON', { answer: { discovery: (good) => ({ ...good, body: '<html>' }) } }, /cannot be used: /],
    [
      'if it is another one',
      { metadata: (good) => ({ ...good, issuer: 'https://id.example.com/' }) },
      /names itself `https:\/\/id\.example\.com\/`/,
    ],
    [
      'without an authorization endpoint',
      { metadata: (good) => ({ ...good, authorization_endpoint: undefined }) },
      /`authorization_endpoint`/,
    ],
    ['without a token endpoint', { metadata: (good) => ({ ...good, token_endpoint: 'token' }) }, /`token_endpoint`/],
    ['without keys', { metadata: (good) => ({ ...good, jwks_uri: undefined }) }, /`jwks_uri`/],
    ['if its keys cannot be read', { answer: { jwks: (good) => ({ ...good, body: '[]' }) } }, /keys/],
    ['if it has no keys', { keys: () => [] }, /publishes no keys/],
    ['if its keys are missing', { answer: { jwks: (good) => ({ ...good, status: 404 }) } }, /keys.*404/],
  ]
  for (const [name, misdeed, why] of faults) {
    test(name, async () => {
      const { issuer } = evil.realm(misdeed)
      const reply = await asOwner('PUT', '/v1/settings/sign-in', { ...settings, issuer, redirect_uris: [redirect_uri] })
      assert.equal(reply.status, 400, reply.text)
      const { fields } = reply.body.details as { fields: { pointer: string; why: string }[] }
      assert.deepEqual(
        fields.map((field) => field.pointer),
        ['/issuer'],
      )
      assert.match(String(fields[0]?.why), why)
      assert.equal((await asOwner('GET', '/v1/settings/sign-in')).body.issuer, null)
    })
  }

  test('if nobody answers there', async () => {
    const issuer = 'http://127.0.0.1:1'
    const reply = await asOwner('PUT', '/v1/settings/sign-in', { ...settings, issuer, redirect_uris: [redirect_uri] })
    assert.equal(reply.status, 400, reply.text)
    assert.match(reply.text, /`http:\/\/127\.0\.0\.1:1` could not be reached/)
  })

  test('but a provider that is down can be disabled, or lose an address, and is tried when it is enabled again', async () => {
    const second = 'https://app.example.com/second'
    await configure({ redirect_uris: [redirect_uri, second] })
    idp.state.down = true
    const put = (change: object) =>
      asOwner('PUT', '/v1/settings/sign-in', { ...settings, redirect_uris: [redirect_uri], ...change })
    assert.equal((await put({})).status, 200)
    assert.equal((await put({ enabled: false })).status, 200)
    assert.equal((await put({ enabled: true })).status, 400)
    idp.state.down = false
    assert.equal((await put({ enabled: true })).status, 200)
  })
})

test('a sign-in provider keeps its id when it is changed', async () => {
  const { id } = (await configure()).body
  assert.equal((await configure({ email_trust: 'never' })).body.id, id)
})
