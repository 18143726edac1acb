import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Reply } from '../support/house.ts'
import { anna, asGlobal, claimsOf, openProviderOfAll, openSignInStage, own } from '../support/sign-in-stage.ts'
import { until } from '../support/wait.ts'

/** Sign-out between the service and a certified provider, which calls the service over HTTP. */
const idp = await openProviderOfAll()
const clientOfAll = asGlobal(idp).OIDC_CLIENT_ID ?? ''
const stage = await openSignInStage(idp, { ...asGlobal(idp), OIDC_TENANT_CLAIM: 'tid' })
const { house, tenant, configure, signIn, finish, walkElsewhere } = stage
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })

const backChannel = (provider: string) => `${address}/v1/auth/back-channel-logout/${provider}`
const endSession = (client_id: string) => `${idp.issuer}/session/end?${new URLSearchParams({ client_id })}`

const use = (reply: Reply) => {
  assert.equal(reply.status, 200, reply.text)
  const as = { token: String(reply.body.token), tenant_id: claimsOf(reply).tid }
  return house.call({ method: 'GET', url: '/v1/users/me/sessions', ...as })
}
const isRefused = (session: Reply) =>
  until('the service refuses the token', async () => (await use(session)).status === 401)

/** A tenant whose provider announces sign-outs to the service. */
async function announceToTenant(backchannel_logout_session_required: boolean): Promise<void> {
  const { id } = (await configure()).body
  const backchannel_logout_uri = backChannel(String(id))
  idp.announceLogouts(own.client_id, { backchannel_logout_uri, backchannel_logout_session_required })
}
const announceToAll = (backchannel_logout_session_required: boolean) => {
  const backchannel_logout_uri = backChannel('global')
  idp.announceLogouts(clientOfAll, { backchannel_logout_uri, backchannel_logout_session_required })
}

const signInGlobally = async (account: string, email: string) =>
  finish(await walkElsewhere(account, { email, email_verified: true, tid: tenant().tenant_id }))

suite('a sign-out at a certified provider', () => {
  test('signs the person out of the tenant', async () => {
    await announceToTenant(false)
    const [session, other] = [await signIn('anna-1'), await signIn('ben-1', { ...anna, email: 'ben@example.com' })]
    assert.equal((await use(session)).status, 200)
    await idp.signOut(endSession(own.client_id), 'anna-1')
    await isRefused(session)
    assert.equal((await use(other)).status, 200)
  })

  test('ends only the session that the provider names, where it names sessions', async () => {
    await announceToTenant(true)
    const [before, session] = [await signIn('anna-2'), await signIn('anna-2')]
    await idp.signOut(endSession(own.client_id), 'anna-2')
    await isRefused(session)
    assert.equal((await use(before)).status, 200)
  })

  test('signs the person out of every tenant, by the global provider', async () => {
    announceToAll(false)
    const session = await signInGlobally('gina-1', 'gina@example.com')
    assert.equal((await use(session)).status, 200)
    await idp.signOut(endSession(clientOfAll), 'gina-1')
    await isRefused(session)
  })

  test('ends only the session that the global provider names', async () => {
    announceToAll(true)
    const before = await signInGlobally('gina-2', 'gina@example.com')
    const session = await signInGlobally('gina-2', 'gina@example.com')
    await idp.signOut(endSession(clientOfAll), 'gina-2')
    await isRefused(session)
    assert.equal((await use(before)).status, 200)
  })
})

suite('a sign-out here', () => {
  const signOut = (session: Reply) => {
    const as = { token: String(session.body.token), tenant_id: claimsOf(session).tid }
    return house.call({ method: 'POST', url: '/v1/auth/logout', ...as })
  }

  test('returns where to sign out of the provider too, which then ends the other sessions', async () => {
    await announceToTenant(false)
    const [other, session] = [await signIn('anna-3'), await signIn('anna-3')]
    const reply = await signOut(session)
    const { provider_logout_url } = reply.body
    assert.equal(provider_logout_url, endSession(own.client_id))
    assert.deepEqual([(await use(session)).status, (await use(other)).status], [401, 200])
    await idp.signOut(String(provider_logout_url), 'anna-3')
    await isRefused(other)
  })

  test('returns the same of the global provider', async () => {
    const session = await signInGlobally('gina-3', 'gina@example.com')
    assert.equal((await signOut(session)).body.provider_logout_url, endSession(clientOfAll))
    assert.equal((await use(session)).status, 401)
  })
})
