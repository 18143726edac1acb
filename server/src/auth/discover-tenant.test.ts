import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { addMailDomain, removeMailDomain, removeSlug, setSlug } from '../tenants/operator.flow.ts'

const house = await openHouse({ PUBLIC_URL: 'https://sallyport.example.com' })
const { database } = house
const acme = await house.tenant('Acme')
const other = await house.tenant('Other')
const { tenant_id } = acme
await setSlug(database, { tenant_id, slug: 'acme' })
for (const domain of ['acme.example', 'bücher.example', 'shared.example'])
  await addMailDomain(database, { tenant_id, domain })
await addMailDomain(database, { tenant_id: other.tenant_id, domain: 'shared.example' })

const discover = (query: string) => house.call({ method: 'GET', url: `/v1/auth/discovery${query}` })
const by = (kind: 'slug' | 'domain', text: string) => discover(`?${kind}=${encodeURIComponent(text)}`)

async function setProvider(enabled: boolean): Promise<void> {
  await house.asSuperuser(
    `insert into sign_in_setting (tenant_id, enabled, issuer, client_id, redirect_uris, scopes)
      values ($1, $2, 'https://id.example.com', 'sallyport', '{https://inside.acme.example/back}', '{openid}')
      on conflict (tenant_id) do update set enabled = excluded.enabled`,
    [tenant_id, enabled],
  )
}

suite('a name of a tenant', () => {
  const names: ['slug' | 'domain', string][] = [
    ['slug', 'acme'],
    ['slug', 'ACME'],
    ['domain', 'acme.example'],
    ['domain', 'Acme.EXAMPLE'],
    ['domain', 'bücher.example'],
    ['domain', 'BÜCHER.example'],
    ['domain', 'xn--bcher-kva.example'],
  ]
  for (const [kind, text] of names) {
    test(`leads to it: ${kind} ${text}`, async () => {
      const { status, body, headers } = await by(kind, text)
      assert.equal(status, 200)
      assert.deepEqual(body, { tenant_id, sign_in: 'local' })
      assert.equal(headers['cache-control'], 'no-store')
    })
  }

  test('says where to sign in by the tenant’s own provider while it is enabled, and nothing else of it', async () => {
    await setProvider(true)
    const authorize_url = `https://sallyport.example.com/v1/auth/authorize?tenant=${tenant_id}`
    for (const [kind, text] of names) {
      assert.deepEqual((await by(kind, text)).body, { tenant_id, sign_in: 'provider', authorize_url })
    }
    await setProvider(false)
    assert.deepEqual((await by('slug', 'acme')).body, { tenant_id, sign_in: 'local' })
  })
})

suite('a name that leads to no tenant', () => {
  const idOf = async (kind: 'slug' | 'domain', text: string) => {
    const { status, body } = await by(kind, text)
    assert.deepEqual([status, Object.keys(body), body.sign_in], [200, ['tenant_id', 'sign_in'], 'local'])
    return String(body.tenant_id)
  }
  const real = [tenant_id, other.tenant_id]

  test('gets one id in every spelling, which is no tenant’s (T19)', async () => {
    const ids = await Promise.all([
      ...['bäcker.example', 'BÄCKER.Example', 'xn--bcker-gra.example'].map((text) => idOf('domain', text)),
    ])
    assert.equal(new Set(ids).size, 1)
    assert.equal(await idOf('slug', 'NOBODY'), await idOf('slug', 'nobody'))
    assert.notEqual(await idOf('slug', 'nobody'), await idOf('slug', 'nobody2'))
    for (const id of ids) assert.ok(!real.includes(id))
  })

  test('may be a subdomain, a parent or a domain that several tenants have (T19)', async () => {
    for (const text of ['mail.acme.example', 'shared.example', 'acme.example.com']) {
      assert.ok(!real.includes(await idOf('domain', text)), text)
    }
  })

  test('may look like the name of a tenant (T19)', async () => {
    // With a Cyrillic а, and a dotless i.
    for (const text of ['аcme.example', 'acme.exampıe', 'bucher.example']) {
      assert.ok(!real.includes(await idOf('domain', text)), text)
    }
  })

  test('may be one that the tenant had before, or has not yet', async () => {
    const before = await idOf('slug', 'later')
    await setSlug(database, { tenant_id: other.tenant_id, slug: 'later' })
    assert.equal(await idOf('slug', 'later'), other.tenant_id)
    await removeSlug(database, { tenant_id: other.tenant_id, slug: 'later' })
    assert.equal(await idOf('slug', 'later'), before)
    await removeMailDomain(database, { tenant_id: other.tenant_id, domain: 'shared.example' })
    assert.equal(await idOf('domain', 'shared.example'), tenant_id)
  })
})

suite('a query is refused', () => {
  const refused: [string, string, RegExp][] = [
    ['without a name', '', /exactly one of `slug` and `domain`/],
    ['with both names', '?slug=acme&domain=acme.example', /exactly one of/],
    ['with a name twice', '?slug=acme&slug=other', /slug/],
    ['with another parameter', '?slug=acme&email=x', /email/],
    ['with an empty slug', '?slug=', /is not a valid slug/],
    ['with a slug of other letters', '?slug=%E2%84%AAacme', /is not a valid slug/],
    ['with a slug in the form of an id', `?slug=${tenant_id}`, /has the form of an id/],
    ['with a single label', '?domain=localhost', /is not a valid domain/],
    ['with a dot at the end', '?domain=acme.example.', /is not a valid domain/],
    ['with an IP address', '?domain=192.0.2.1', /is not a valid domain/],
    ['with a wildcard', '?domain=*.acme.example', /is not a valid domain/],
    ['with a NUL', '?domain=acme%00.example', /is not a valid domain/],
    ['with a huge domain', `?domain=${'a.'.repeat(600)}example`, /domain/],
  ]
  for (const [what, query, why] of refused) {
    test(what, async () => {
      const { status, body, text, headers } = await discover(query)
      assert.deepEqual([status, body.code, headers['cache-control']], [400, 'invalid_input', 'no-store'])
      assert.match(text, why)
    })
  }

  test('with a person’s address, which is not repeated in the answer (T19)', async () => {
    for (const address of ['anna.secretive@acme.example', 'Anna Secretive <anna@acme.example>', '@secretive.example']) {
      const { status, body, text } = await by('domain', address)
      assert.equal(status, 400)
      assert.match(JSON.stringify(body.details), /send only what follows the `@`/)
      assert.doesNotMatch(text, /anna|secretive|acme/i)
    }
    const { status, text } = await by('slug', 'anna@secretive.example')
    assert.equal(status, 400)
    assert.doesNotMatch(text, /anna|secretive/)
  })
})
