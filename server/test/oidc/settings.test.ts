import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openProviderOfAll, openSignInStage, own, redirect_uri, unknownTenant } from '../support/sign-in-stage.ts'

/** A tenant's sign-in settings. */
const idp = await openProviderOfAll()
const stage = await openSignInStage(idp)
const { tenant, asOwner, configure, begin, signIn, house, settings } = stage

suite('the settings of sign-in', () => {
  test('are returned and logged without the secret, which is stored sealed', async () => {
    assert.equal((await asOwner('GET', '/v1/settings/sign-in')).body.issuer, null)
    const reply = await configure()
    assert.equal(reply.body.client_secret, '[redacted]')
    const { updated_at: _, ...shown } = (await asOwner('GET', '/v1/settings/sign-in')).body
    assert.deepEqual(shown, {
      enabled: true,
      issuer: idp.issuer,
      client_id: own.client_id,
      client_secret: '[redacted]',
      redirect_uris: [redirect_uri],
      scopes: ['openid', 'email', 'profile'],
    })
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
    ['an issuer with a query', { issuer: 'https://93.184.216.34/?x' }, '/issuer'],
    ['no redirect_uri', { redirect_uris: [] }, '/redirect_uris'],
    ['a redirect_uri by plain http', { redirect_uris: ['http://app.example.com/back'] }, '/redirect_uris/0'],
    ['a redirect_uri with a fragment', { redirect_uris: [`${redirect_uri}#x`] }, '/redirect_uris/0'],
    ['a redirect_uri that is not a URL', { redirect_uris: [redirect_uri, '/back'] }, '/redirect_uris/1'],
    ['scopes without openid', { scopes: ['email'] }, '/scopes'],
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

  test('of a provider with another issuer begin no sign-in (O5)', async () => {
    await configure({ issuer: `${idp.issuer}/` })
    const reply = await begin()
    assert.deepEqual([reply.status, reply.body.code], [503, 'unavailable'])
  })

  test('that do not exist get the answer of an unknown tenant', async () => {
    const [none, noTenant] = [await begin(), await begin(unknownTenant)]
    assert.equal(none.status, 404)
    assert.equal(none.text, noTenant.text)
  })
})
