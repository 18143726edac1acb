import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Misdeed } from '../support/hostile-provider.ts'
import { openLogoutStage, type SignedIn } from '../support/logout-stage.ts'

/** What a provider says of how and when a user signed in there. */
const { house, tenant, provider, operators } = await openLogoutStage()

type Shown = { amr: string[]; auth_time: string; created_at: string; current: boolean }

/** The session of this token, as its user sees it. */
async function sessionOf({ token, tenant_id }: SignedIn): Promise<Shown> {
  const reply = await house.call({ method: 'GET', url: '/v1/users/me/sessions', token, tenant_id })
  assert.equal(reply.status, 200, reply.text)
  const current = (reply.body.data as Shown[]).find((session) => session.current)
  return current ?? assert.fail('the list lacks the session of the call')
}

const earlier = Math.floor(Date.now() / 1000) - 3_600
const asShown = (seconds: number) => new Date(seconds * 1000).toISOString()

suite('the proof of a sign-in by a provider', () => {
  test('is listed with the session', async () => {
    const { signIn } = await provider(await tenant())
    const { amr, auth_time } = await sessionOf(await signIn('anna', { amr: ['pwd', 'otp'], auth_time: earlier }))
    assert.deepEqual([amr, new Date(auth_time).toISOString()], [['pwd', 'otp'], asShown(earlier)])
  })

  test('is listed of the global provider alike', async () => {
    const signedIn = await operators.signIn('gina', { amr: ['hwk'], auth_time: earlier }, await tenant())
    const { amr, auth_time } = await sessionOf(signedIn)
    assert.deepEqual([amr, new Date(auth_time).toISOString()], [['hwk'], asShown(earlier)])
  })

  test('says nothing of the methods and the moment of the sign-in here, where the provider says nothing', async () => {
    const { signIn } = await provider(await tenant())
    const { amr, auth_time, created_at } = await sessionOf(await signIn('anna'))
    assert.deepEqual(amr, [])
    assert.ok(Date.parse(auth_time) <= Date.parse(created_at))
    assert.ok(Date.parse(auth_time) > earlier * 1000)
  })

  // The library refuses an identity token whose `auth_time` is no number.
  for (const auth_time of [253_402_300_800, 1e300]) {
    test(`is of this moment if \`auth_time\` is ${auth_time}`, async () => {
      const { signIn } = await provider(await tenant())
      const session = await sessionOf(await signIn('anna', { auth_time }))
      assert.ok(Date.parse(session.auth_time) <= Date.parse(session.created_at))
      assert.ok(Date.parse(session.auth_time) > earlier * 1000)
    })
  }

  test('is never of the future, so that it does not count as fresh for longer', async () => {
    const { signIn } = await provider(await tenant())
    const { auth_time, created_at } = await sessionOf(await signIn('anna', { auth_time: earlier + 360_000 }))
    assert.ok(Date.parse(auth_time) <= Date.parse(created_at))
  })

  const methods: [claim: unknown, shown: string[]][] = [
    ['pwd', []],
    [null, []],
    [{ 0: 'pwd' }, []],
    [
      ['pwd', 7, null, '', 'two words', 'x'.repeat(101), '\u202e', ['mfa'], 'urn:example:mfa'],
      ['pwd', 'urn:example:mfa'],
    ],
    [Array.from({ length: 30 }, (_, n) => `m${n}`), Array.from({ length: 20 }, (_, n) => `m${n}`)],
  ]
  for (const [amr, shown] of methods) {
    test(`lists ${JSON.stringify(shown).slice(0, 30)} if \`amr\` is ${JSON.stringify(amr)?.slice(0, 30)}`, async () => {
      const { signIn } = await provider(await tenant())
      assert.deepEqual((await sessionOf(await signIn('anna', { amr }))).amr, shown)
    })
  }

  test('is read from the identity token alone: a user may edit what the user info says', async () => {
    const said = { amr: ['mfa'], auth_time: earlier, sid: 'of the user info' }
    const misdeed: Misdeed = {
      claims: ({ email: _, ...good }) => good,
      userinfo: (good) => ({ ...good, ...said }),
    }
    const { signIn, realm } = await provider(await tenant(), misdeed)
    const signedIn = await signIn('anna')
    assert.equal(realm.countOf('userinfo'), 1)
    const { amr, auth_time } = await sessionOf(signedIn)
    assert.deepEqual(amr, [])
    assert.ok(Date.parse(auth_time) > earlier * 1000)
  })
})
