import assert from 'node:assert/strict'
import { beforeEach, mock, suite, test } from 'node:test'
import { openIdentityProvider } from '../support/identity-provider.ts'
import {
  anna,
  answerOf,
  claimsOf,
  openProviderOfAll,
  openSignInStage,
  own,
  redirect_uri,
} from '../support/sign-in-stage.ts'

/** Sign-in by a tenant's own provider, end to end over HTTP. */
const idp = await openProviderOfAll()
const stage = await openSignInStage(idp)
const { tenant, asOwner, configure, begin, finish, walk, signIn, causes, assertRefused, usersOf, makeOidcUser, house } =
  stage

suite('a sign-in by the tenant’s own provider', () => {
  beforeEach(() => configure())

  test('begins with PKCE by S256, a nonce and a state', async () => {
    const location = new URL(String((await begin()).headers.location))
    assert.equal(location.origin, idp.issuer)
    const params = Object.fromEntries(location.searchParams)
    assert.deepEqual(
      [params.response_type, params.client_id, params.redirect_uri, params.scope, params.code_challenge_method],
      ['code', own.client_id, redirect_uri, 'openid email profile', 'S256'],
    )
    assert.match(params.code_challenge ?? '', /^[\w-]{43}$/)
    assert.match(params.nonce ?? '', /^[\w-]{43}$/)
    assert.ok(params.state?.startsWith(`${tenant().tenant_id}.`))
  })

  test('creates the user the first time, and then finds them by the account, whatever their address is', async () => {
    const first = await signIn('anna-1')
    assert.equal(first.status, 200, first.text)
    const { sub, tid } = claimsOf(first)
    assert.equal(tid, tenant().tenant_id)
    const me = await asOwner('GET', `/v1/users/${sub}`)
    const { email, name, roles, auth_provider, email_verified } = me.body
    assert.deepEqual(
      [email, name, roles, auth_provider, email_verified],
      ['anna@example.com', 'Anna', ['user'], 'oidc', true],
    )
    const token = String(first.body.token)
    const mine = await house.call({ method: 'GET', url: '/v1/requests', token, tenant_id: tid })
    assert.equal(mine.status, 200)
    const second = await signIn('anna-1', { email: 'anna@married.example', email_verified: true, name: 'Anna B' })
    assert.equal(claimsOf(second).sub, sub)
    assert.deepEqual(await usersOf(), [{ email: 'anna@example.com', issuer: idp.issuer, subject: 'anna-1' }])
    const events = await house.asSuperuser<{ type: string; subject_id: string }>(
      `select type, subject_id from event where tenant_id = $1 and type in ('user.created', 'auth.signed_in')
        and subject_id = $2 order by seq`,
      [tenant().tenant_id, sub],
    )
    assert.deepEqual(
      events.map((event) => event.type),
      ['user.created', 'auth.signed_in', 'auth.signed_in'],
    )
  })

  test('creates one user if several first sign-ins are concurrent', async () => {
    const walks = [await walk('anna-2'), await walk('anna-2'), await walk('anna-2'), await walk('anna-2')]
    const replies = await Promise.all(walks.map((answer) => finish(answer)))
    assert.deepEqual(new Set(replies.map((reply) => reply.status)), new Set([200]))
    assert.equal(new Set(replies.map((reply) => claimsOf(reply).sub)).size, 1)
    assert.equal((await usersOf()).length, 1)
  })

  test('links the user who was invited with that address, if the provider has verified the address (O10)', async () => {
    const id = await makeOidcUser('Anna@Example.com')
    assert.equal(claimsOf(await signIn('anna-3')).sub, id)
    assert.equal(claimsOf(await signIn('anna-3', { email: 'other@example.com' })).sub, id)
    await assertRefused(await signIn('anna-3b'), 'address_taken')
  })

  for (const email_verified of [false, undefined, 'true', 1]) {
    test(`links no user if email_verified is ${JSON.stringify(email_verified)} (O10)`, async () => {
      await makeOidcUser(anna.email)
      await assertRefused(await signIn('anna-4', { ...anna, email_verified }), 'address_not_verified')
      assert.deepEqual(await usersOf(), [{ email: anna.email, issuer: null, subject: null }])
    })
  }

  test('never links a local user, even by a verified address (O10)', async () => {
    await assertRefused(await signIn('mallory', { ...anna, email: 'owner@example.com' }), 'address_taken')
  })

  test('creates no user without an address', async () => {
    await assertRefused(await signIn('nameless', { name: 'Nameless' }), 'no_address')
  })

  test('is refused to a deactivated user, linked or not (O13)', async () => {
    const { sub } = claimsOf(await signIn('anna-5'))
    await house.asSuperuser('update tenant_user set active = false where id = $1', [sub])
    await assertRefused(await signIn('anna-5'), 'inactive')
    const waiting = await makeOidcUser('bob@example.com')
    await house.asSuperuser('update tenant_user set active = false where id = $1', [waiting])
    await assertRefused(await signIn('bob', { ...anna, email: 'bob@example.com' }), 'inactive')
  })

  test('is refused to a suspended user, linked or not, until the suspension ends (O13, P35)', async () => {
    const suspend = (id: unknown, by: string) =>
      house.asSuperuser(`update tenant_user set suspended_until = now() + $2::interval where id = $1`, [id, by])
    const { sub } = claimsOf(await signIn('carl'))
    await suspend(sub, '1 hour')
    await assertRefused(await signIn('carl'), 'suspended')
    await suspend(sub, '-1 second')
    assert.equal(claimsOf(await signIn('carl')).sub, sub)
    const waiting = await makeOidcUser('dora@example.com')
    const dora = { ...anna, email: 'dora@example.com' }
    await suspend(waiting, '1 hour')
    await assertRefused(await signIn('dora', dora), 'suspended')
    await suspend(waiting, '-1 second')
    assert.equal(claimsOf(await signIn('dora', dora)).sub, waiting)
  })

  test('is refused to a deleted user until they are created again', async () => {
    const { sub } = claimsOf(await signIn('anna-6'))
    await house.asSuperuser('update tenant_user set active = false, deleted_at = now() where id = $1', [sub])
    await assertRefused(await signIn('anna-6'), 'unknown_user')
    const recreated = await makeOidcUser(anna.email)
    assert.equal(claimsOf(await signIn('anna-6')).sub, recreated)
  })

  test('is refused if the provider was disabled or changed since it began (O13)', async () => {
    const begun = await walk('anna-7')
    await configure({ enabled: false })
    await assertRefused(await finish(begun), 'provider_disabled')
    assert.equal((await begin()).status, 404)
    await configure()
    const again = await walk('anna-7')
    await configure({ client_id: 'another' })
    await assertRefused(await finish(again), 'provider_changed')
  })

  test('works right after the provider has changed its key (O12, O23)', async () => {
    // Keys are fetched at most every ten seconds: the first sign-in was ten seconds ago.
    mock.timers.enable({ apis: ['Date'], now: Date.now() - 10_001 })
    const rotating = await openIdentityProvider([{ ...own, pkce: true }])
    await configure({ issuer: rotating.issuer })
    const signInAgain = async () => {
      const begun = await begin()
      return finish(answerOf(await rotating.signIn(String(begun.headers.location), 'anna-8', anna)))
    }
    try {
      assert.equal((await signInAgain()).status, 200)
    } finally {
      mock.timers.reset()
    }
    await rotating.rotateKey('second')
    assert.equal((await signInAgain()).status, 200)
    const fetches = () => rotating.requestedPaths.filter((path) => path === '/jwks').length
    const fetched = fetches()
    assert.equal((await signInAgain()).status, 200)
    assert.equal(fetches(), fetched)
  })

  test('answers 503 if the provider is unavailable, and the audit log has that cause (O14)', async () => {
    const begun = await walk('anna-9')
    idp.state.down = true
    const reply = await finish(begun)
    assert.deepEqual([reply.status, reply.body.code], [503, 'unavailable'])
    assert.deepEqual(await causes(), ['provider_unavailable'])
  })
})
