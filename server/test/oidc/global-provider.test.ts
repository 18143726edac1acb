import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
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
const { tenant, configure, finish, assertRefused, usersOf, makeOidcUser, walkElsewhere, house } = stage

suite('a sign-in by the global provider', () => {
  test('finds the user of the account, or the one invited user with that address, in the only tenant', async () => {
    const id = await makeOidcUser('gina@example.com')
    const gina = { email: 'gina@example.com', email_verified: true }
    const first = await finish(await walkElsewhere('gina', gina, { nonce: 'of the portal' }))
    assert.equal(first.status, 200, first.text)
    assert.deepEqual([claimsOf(first).sub, claimsOf(first).tid], [id, tenant().tenant_id])
    const second = await finish(await walkElsewhere('gina', { email: 'gina@other.example' }))
    assert.equal(claimsOf(second).sub, id)
    await makeOidcUser('gina@example.com', await house.tenant('a later one'))
    assert.equal(claimsOf(await finish(await walkElsewhere('gina', gina))).sub, id)
  })

  test('creates no user if no claim names the tenant, and refuses an ambiguous address', async () => {
    const hugo = { email: 'hugo@example.com', email_verified: true }
    await assertRefused(await finish(await walkElsewhere('hugo', hugo)))
    await makeOidcUser('hugo@example.com')
    await makeOidcUser('hugo@example.com', await house.tenant('the other'))
    await assertRefused(await finish(await walkElsewhere('hugo', hugo)))
    assert.deepEqual(await usersOf(), [{ email: 'hugo@example.com', issuer: null, subject: null }])
  })

  test('links no user by an unverified address, nor one invited for the tenant’s own provider', async () => {
    const ida = { email: 'ida@example.com', email_verified: true }
    await makeOidcUser('ida@example.com')
    await assertRefused(await finish(await walkElsewhere('ida', { ...ida, email_verified: false })))
    await configure()
    await assertRefused(await finish(await walkElsewhere('ida', ida)), 'other_provider')
  })

  test('accepts only its own redirect addresses, and a code once', async () => {
    await makeOidcUser('jo@example.com')
    const begun = await walkElsewhere('jo', { email: 'jo@example.com', email_verified: true })
    const before = idp.requestedPaths.length
    await assertRefused(await finish({ ...begun, redirect_uri }))
    await assertRefused(await finish({ ...begun, iss: 'https://evil.example' }))
    assert.equal(idp.requestedPaths.length, before)
    assert.equal((await finish(begun)).status, 200)
    await assertRefused(await finish(begun))
  })

  test('is refused if no provider is configured (O3)', async () => {
    const without = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
    const body = await walkElsewhere('kim', anna)
    const before = idp.requestedPaths.length
    await assertRefused(await without.call({ method: 'POST', url: '/v1/auth/callback', body }))
    assert.equal(idp.requestedPaths.length, before)
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
    assert.equal((await finishNamed('max', max)).status, 200, 'without the claim it is the only tenant')
  })
})
