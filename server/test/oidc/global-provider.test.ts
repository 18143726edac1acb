import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { findUnreachableTenants } from '../../src/auth/global-provider-sign-in.flow.ts'
import { addMailDomain } from '../../src/tenants/operator.flow.ts'
import { openHouse } from '../support/house.ts'
import {
  anna,
  asGlobal,
  claimsOf,
  openProviderOfAll,
  openSignInStage,
  redirect_uri,
  unknownTenant,
} from '../support/sign-in-stage.ts'

/** Sign-ins that begin at an external portal, by the provider from the environment. */
const idp = await openProviderOfAll()
const stage = await openSignInStage(idp, asGlobal(idp))
const { tenant, asOwner, configure, finish, assertRefused, usersOf, makeOidcUser, walkElsewhere, house } = stage

/** What the operator alone may do: `npm run admin -- mail-domain add`. */
const giveDomain = (domain: string, of = tenant()) => addMailDomain(house.database, { tenant_id: of.tenant_id, domain })

suite('a sign-in by the global provider, by the domain that the operator gave a tenant,', () => {
  test('creates a user there, and finds them again', async () => {
    await giveDomain('gina.example')
    const gina = { email: 'gina@gina.example', email_verified: true }
    const first = await finish(await walkElsewhere('gina', gina, { nonce: 'of the portal' }))
    assert.equal(first.status, 200, first.text)
    assert.equal(claimsOf(first).tid, tenant().tenant_id)
    assert.equal(claimsOf(await finish(await walkElsewhere('gina', gina))).sub, claimsOf(first).sub)
  })

  test('links the one invited user with that address', async () => {
    await giveDomain('hugo.example')
    const id = await makeOidcUser('hugo@hugo.example')
    const hugo = { email: 'Hugo@HUGO.example', email_verified: true }
    assert.equal(claimsOf(await finish(await walkElsewhere('hugo', hugo))).sub, id)
  })

  test('links no user by an unverified address, nor one invited for the tenant’s own provider', async () => {
    await giveDomain('ida.example')
    await makeOidcUser('ida@ida.example')
    const ida = { email: 'ida@ida.example', email_verified: true }
    const before = await usersOf()
    await assertRefused(await finish(await walkElsewhere('ida', { ...ida, email_verified: false })))
    assert.deepEqual(await usersOf(), before)
    await configure()
    await assertRefused(await finish(await walkElsewhere('ida', ida)), 'other_provider')
  })

  test('creates no user while the tenant has a provider of its own, until that is disabled', async () => {
    await giveDomain('iva.example')
    await configure()
    const iva = { email: 'iva@iva.example', email_verified: true }
    await assertRefused(await finish(await walkElsewhere('iva', iva)), 'other_provider')
    assert.deepEqual(await usersOf(), [])
    await configure({ enabled: false })
    assert.equal((await finish(await walkElsewhere('iva', iva))).status, 200)
  })

  test('finds no tenant by an unverified address, even where the tenant allows unverified ones (O21)', async () => {
    await giveDomain('ines.example')
    await asOwner('PUT', '/v1/settings/auth.allow_unverified_email', { value: 'true' })
    const ines = { email: 'ines@ines.example', email_verified: false }
    await assertRefused(await finish(await walkElsewhere('ines', ines)))
    assert.deepEqual(await usersOf(), [])
  })

  test('accepts only its own redirect addresses, and a code once', async () => {
    await giveDomain('jo.example')
    const begun = await walkElsewhere('jo', { email: 'jo@jo.example', email_verified: true })
    const before = idp.requestedPaths.length
    await assertRefused(await finish({ ...begun, redirect_uri }))
    await assertRefused(await finish({ ...begun, iss: 'https://evil.example' }))
    assert.equal(idp.requestedPaths.length, before)
    assert.equal((await finish(begun)).status, 200)
    await assertRefused(await finish(begun))
  })

  test('is refused for a domain of two tenants, and for a subdomain', async () => {
    await giveDomain('kai.example')
    const kai = { email: 'kai@kai.example', email_verified: true }
    await assertRefused(await finish(await walkElsewhere('kai', { ...kai, email: 'kai@sub.kai.example' })))
    await giveDomain('kai.example', await house.tenant('with the same domain'))
    await assertRefused(await finish(await walkElsewhere('kai', kai)))
  })

  test('is refused if no provider is configured (O3)', async () => {
    const without = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
    const body = await walkElsewhere('kim', anna)
    const before = idp.requestedPaths.length
    await assertRefused(await without.call({ method: 'POST', url: '/v1/auth/callback', body }))
    assert.equal(idp.requestedPaths.length, before)
  })
})

suite('an admin of another tenant', () => {
  test('draws nobody in by preparing a user with their address (O22)', async () => {
    const victim = { email: 'nina@nobody.example', email_verified: true }
    await makeOidcUser(victim.email)
    await assertRefused(await finish(await walkElsewhere('nina', victim)))
    assert.deepEqual(await usersOf(), [{ email: victim.email, issuer: null, subject: null }])
  })

  test('locks nobody out by preparing a user with their address, before or after their first sign-in (O22)', async () => {
    await giveDomain('olga.example')
    const victim = { email: 'olga@olga.example', email_verified: true }
    const other = await house.tenant('of the other admin')
    await makeOidcUser(victim.email, other)
    const first = await finish(await walkElsewhere('olga', victim))
    assert.equal(claimsOf(first).tid, tenant().tenant_id)
    await makeOidcUser(victim.email, await house.tenant('of yet another admin'))
    assert.equal(claimsOf(await finish(await walkElsewhere('olga', victim))).sub, claimsOf(first).sub)
    assert.deepEqual(await usersOf(other), [{ email: victim.email, issuer: null, subject: null }])
  })
})

suite('without a domain, the only tenant', async () => {
  const alone = await openHouse({ EGRESS_ALLOW: '127.0.0.1', ...asGlobal(idp) })
  const only = await alone.tenant('the only one')
  const finishAlone = async (account: string, claims: object) =>
    alone.call({ method: 'POST', url: '/v1/auth/callback', body: await walkElsewhere(account, claims) })
  const invite = async (email: string) => {
    const body = { email, name: 'Invited', roles: ['user'], auth_provider: 'oidc' }
    const { token } = only.owner
    return alone.call({ method: 'POST', url: '/v1/users', token, tenant_id: only.tenant_id, body })
  }

  test('has its invited users link, and creates none for strangers', async () => {
    const pia = { email: 'pia@pia.example', email_verified: true }
    await assertRefused(await finishAlone('pia', pia))
    const { body } = await invite(pia.email)
    const first = await finishAlone('pia', pia)
    assert.deepEqual([claimsOf(first).sub, claimsOf(first).tid], [body.id, only.tenant_id])
    assert.equal(claimsOf(await finishAlone('pia', { email: 'pia@other.example' })).sub, body.id)
  })

  test('is the only one no longer when a second is made: then nobody signs in without a domain (O22)', async () => {
    const quin = { email: 'quin@quin.example', email_verified: true }
    await invite(quin.email)
    assert.equal((await finishAlone('quin', quin)).status, 200)
    await alone.tenant('a second one')
    await assertRefused(await finishAlone('quin', quin))
    await addMailDomain(alone.database, { tenant_id: only.tenant_id, domain: 'quin.example' })
    assert.equal((await finishAlone('quin', quin)).status, 200)
  })
})

suite('a global provider whose claim names the tenant', async () => {
  const named = await openHouse({ ...asGlobal(idp), OIDC_TENANT_CLAIM: 'tid' })
  const finishNamed = async (account: string, claims: object) =>
    named.call({ method: 'POST', url: '/v1/auth/callback', body: await walkElsewhere(account, claims) })

  test('creates its users there', async () => {
    const there = await named.tenant('there')
    const lea = { email: 'lea@example.com', email_verified: true, tid: there.tenant_id }
    const reply = await finishNamed('lea', lea)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(claimsOf(reply).tid, there.tenant_id)
    assert.equal(claimsOf(await finishNamed('lea', lea)).sub, claimsOf(reply).sub)
  })

  test('is refused when it names an unknown tenant, even for a known user', async () => {
    const there = await named.tenant('there too')
    const max = { email: 'max@example.com', email_verified: true }
    assert.equal((await finishNamed('max', { ...max, tid: there.tenant_id })).status, 200)
    for (const tid of [unknownTenant, 'there', `{${there.tenant_id}}`, 7, [there.tenant_id]]) {
      await assertRefused(await finishNamed('max', { ...max, tid }))
    }
    await assertRefused(await finishNamed('max', max))
    await addMailDomain(named.database, { tenant_id: there.tenant_id, domain: 'example.com' })
    assert.equal((await finishNamed('max', max)).status, 200, 'without the claim, the domain names the tenant')
  })
})

test('the operator hears of tenants to which nobody can sign in by the global provider', async () => {
  const several = await openHouse()
  const { work } = several.database
  const global = { issuer: 'https://id.example.com', client_id: 'c', client_secret: 's', redirect_uris: [] }
  const said = (tenant_claim?: string) => findUnreachableTenants(work, { ...global, tenant_claim })
  const first = await several.tenant('the first')
  assert.equal(await said(), undefined)
  const other = await several.tenant('the second')
  assert.match(String(await said()), /2 of 2 tenants have no mail domain/)
  assert.equal(await said('tid'), undefined)
  assert.equal(await findUnreachableTenants(work, undefined), undefined)
  await addMailDomain(several.database, { tenant_id: first.tenant_id, domain: 'first.example' })
  assert.match(String(await said()), /1 of 2 tenants/)
  await addMailDomain(several.database, { tenant_id: other.tenant_id, domain: 'second.example' })
  assert.equal(await said(), undefined)
})
