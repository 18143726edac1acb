import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import type { Misdeed } from '../support/hostile-provider.ts'
import { claiming, openHostileStage } from '../support/hostile-stage.ts'
import { anna, answerOf, openProviderOfAll, openSignInStage, redirect_uri } from '../support/sign-in-stage.ts'

/** A sign-in that must be recent at the provider, such as after the answer `sign_in_again`. */
const idp = await openProviderOfAll()
const stage = await openSignInStage(idp)
const { house, tenant, configure, finish, assertRefused } = stage

const authorize = (max_age?: string, tenant_id = tenant().tenant_id, at = house) => {
  const query = new URLSearchParams({ tenant: tenant_id, redirect_uri, ...(max_age !== undefined && { max_age }) })
  return at.call({ method: 'GET', url: `/v1/auth/authorize?${query}` })
}
const locationOf = async (max_age?: string) => String((await authorize(max_age)).headers.location)
const seconds = () => Math.floor(Date.now() / 1000)

suite('a sign-in with `max_age`', () => {
  beforeEach(() => configure())

  test('asks the provider for it, and without it asks for none', async () => {
    for (const max_age of ['0', '3600', '86400']) {
      assert.equal(new URL(await locationOf(max_age)).searchParams.get('max_age'), max_age)
    }
    assert.ok(!new URL(await locationOf()).searchParams.has('max_age'))
  })

  test('is begun with a whole number of seconds, up to a day', async () => {
    for (const max_age of ['-1', '86401', '1.5', 'x', '', '1e3', '99999999999999999999']) {
      const reply = await authorize(max_age)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], max_age)
    }
  })

  test('is finished when the user signed in there just now; the session says when', async () => {
    const reply = await finish(answerOf(await idp.signIn(await locationOf('600'), 'anna', { ...anna })))
    assert.equal(reply.status, 200, reply.text)
    const by = { token: String(reply.body.token), tenant_id: tenant().tenant_id }
    const { body } = await house.call({ method: 'GET', url: '/v1/users/me/sessions', ...by })
    const [session] = body.data as { auth_time: string }[]
    assert.ok(Math.abs(Date.parse(session?.auth_time ?? '') / 1000 - seconds()) < 600)
  })

  test('is refused when the browser leaves it out on the way: the provider does not say when it was', async () => {
    const url = new URL(await locationOf('600'))
    url.searchParams.delete('max_age')
    await assertRefused(await finish(answerOf(await idp.signIn(url.href, 'anna', { ...anna }))), 'provider')
  })
})

suite('an identity token for a sign-in with `max_age`', async () => {
  const { set, assertRefused: assertRefusedFor, tenant: of, house: there, refusals } = await openHostileStage()

  const cases: [string, Misdeed, boolean][] = [
    ['with a sign-in of this moment', { claims: (good) => ({ ...good, auth_time: seconds() }) }, true],
    ['with a sign-in of ten minutes ago', { claims: (good) => ({ ...good, auth_time: seconds() - 500 }) }, true],
    ['with an older sign-in', { claims: (good) => ({ ...good, auth_time: seconds() - 900 }) }, false],
    ['that does not say when the sign-in was', claiming({ auth_time: undefined }), false],
    ['with a time that is a text', { claims: (good) => ({ ...good, auth_time: String(seconds()) }) }, false],
    ['with a time that is null', claiming({ auth_time: null }), false],
    ['with a negative time', claiming({ auth_time: -1 }), false],
  ]
  for (const [name, misdeed, isTaken] of cases) {
    test(`${isTaken ? 'is taken' : 'is refused'} ${name} (O8)`, async () => {
      const { realm, finish: end } = await set(misdeed)
      // Each signs in for the first time, at a provider of their own.
      const account = `anna-${new URL(realm.issuer).pathname.slice(1)}`
      const begun = await authorize('600', of.tenant_id, there)
      const reply = await end(
        answerOf(
          await realm.signIn(String(begun.headers.location), account, { ...anna, email: `${account}@example.com` }),
        ),
      )
      if (isTaken) return assert.equal(reply.status, 200, `${reply.text} ${JSON.stringify(await refusals(of))}`)
      await assertRefusedFor(reply, /auth_time|too much time has elapsed/)
    })
  }
})
