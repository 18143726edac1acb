import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { factorsUrl, type Member, openFactorStage } from '../support/second-factor-stage.ts'

const stage = await openFactorStage()
const {
  house,
  member,
  login,
  finish,
  withPassword,
  withFactor,
  challenge,
  addApp,
  addPasskey,
  as,
  eventsOf,
  forgetUse,
} = stage
const tenant = await house.tenant('signing in')

const withApp = async () => addApp(await withPassword(await member(tenant)))
const withKey = async (counts = true) => addPasskey(await withPassword(await member(tenant)), counts)
const amrOf = async (by: { user: Member; token: string }) => {
  const sessions = (await as(by, 'GET', '/v1/users/me/sessions')).body.data as { current: boolean; amr: string[] }[]
  return sessions.find(({ current }) => current)?.amr
}
const lastSignIn = async (user: Member) => (await eventsOf(user)).filter(({ type }) => type === 'auth.signed_in').at(-1)

suite('a sign-in', () => {
  test('with the right password asks a user with a second factor for it, and gives no token', async () => {
    const by = await withApp()
    const reply = await login(by.user)
    assert.deepEqual([reply.status, reply.body.code], [401, 'second_factor_required'])
    const { challenge: text, ...details } = reply.body.details as Record<string, unknown>
    assert.match(String(text), /^[\w-]{86}$/)
    assert.deepEqual(details, { expires_in: 300, methods: ['totp', 'recovery_code'] })
    const before = (await eventsOf(by.user)).filter(({ type }) => type === 'auth.signed_in')
    assert.equal(before.length, 1, 'only that of the set-up')
  })

  test('offers what the user has, and the passkeys that may sign', async () => {
    const { user, authenticator } = await withKey()
    const offered = await challenge(user)
    assert.deepEqual(offered.methods, ['passkey', 'recovery_code'])
    const { allowCredentials, rpId } = offered.passkey as { allowCredentials: { id: string }[]; rpId: string }
    assert.deepEqual([allowCredentials.map(({ id }) => id), rpId], [[authenticator.id], 'localhost'])
    const strong = await withFactor(user, { passkey: authenticator.sign(offered.passkey ?? {}) }).catch(() => undefined)
    assert.equal(strong, undefined, 'the answer to another challenge')
  })

  test('says nothing of a second factor to those without the password (D1)', async () => {
    const [one, other] = [await withApp(), await member(tenant)]
    const unknown = { ...other, email: 'nobody@example.com' }
    const replies = [
      await login(one.user, 'wrong'),
      await login(other, 'wrong'),
      await login(unknown),
      await login(unknown, 'wrong'),
    ]
    for (const { status, text } of replies) assert.deepEqual([status, text], [401, replies[0]?.text])
    assert.equal(replies[0]?.body.code, 'unauthenticated')
    assert.equal((await login(other)).status, 200)
  })

  test('says nothing of it for a deactivated or suspended user, either (D1)', async () => {
    const { user } = await withApp()
    const wrong = await login(user, 'wrong')
    for (const [bend, back] of [
      ['active = false', 'active = true'],
      [`suspended_until = now() + interval '1 day'`, 'suspended_until = null'],
    ]) {
      await house.asSuperuser(`update tenant_user set ${bend} where id = $1`, [user.id])
      const { status, text } = await login(user)
      assert.deepEqual([status, text], [401, wrong.text])
      await house.asSuperuser(`update tenant_user set ${back} where id = $1`, [user.id])
    }
  })

  test('does not ask for a factor that nobody confirmed', async () => {
    const by = await withPassword(await member(tenant))
    await stage.begin(by, 'totp')
    assert.equal((await login(by.user)).status, 200)
  })
})

suite('a right password that waits for the second factor', () => {
  const asked = async (user: Member) =>
    (await eventsOf(user)).filter(({ type }) => type === 'auth.second_factor_required')

  test('is in the audit log with the address, and not as an act of the user', async () => {
    const { user } = await withApp()
    await login(user, 'wrong')
    assert.deepEqual(await asked(user), [])
    await challenge(user)
    const of = { type: 'auth.second_factor_required', actor_id: null, data: { source_ip: '127.0.0.1' } }
    assert.deepEqual(await asked(user), [of])
    assert.equal((await eventsOf(user)).filter(({ type }) => type === 'auth.signed_in').length, 1, 'that of the set-up')
  })

  test('is there before its second factor, and is followed by it', async () => {
    const { user, codes } = await withApp()
    await withFactor(user, { recovery_code: codes[0] })
    const types = (await eventsOf(user)).map(({ type }) => type)
    assert.deepEqual(types.slice(-2), ['auth.second_factor_required', 'auth.signed_in'])
  })

  test('does not fill the audit log: of many there is a sample', async () => {
    const { user } = await withApp()
    for (let times = 0; times < 40; times += 1) await challenge(user)
    assert.deepEqual(
      (await asked(user)).map(({ data }) => data.times),
      [...Array(20).fill(undefined), 32],
    )
  })

  test('is not there for a user without a second factor', async () => {
    const user = await member(tenant)
    await withPassword(user)
    assert.deepEqual(await asked(user), [])
  })
})

suite('a sign-in is finished', () => {
  test('by a code of the app: the session and the event say so', async () => {
    const { user, app } = await withApp()
    await forgetUse(user)
    const strong = await withFactor(user, { totp: app.code() })
    assert.deepEqual(await amrOf(strong), ['pwd', 'otp', 'mfa'])
    const event = await lastSignIn(user)
    assert.deepEqual([event?.actor_id, event?.data.second_factor], [user.id, 'totp'])
    assert.deepEqual(Object.keys(event?.data ?? {}).sort(), ['second_factor', 'sid', 'source_ip'])
  })

  test('by a passkey that counts, or one that is synced: the session says which', async () => {
    for (const [counts, means] of [
      [true, 'hwk'],
      [false, 'swk'],
    ] as const) {
      const { user, authenticator } = await withKey(counts)
      for (let times = 0; times < 2; times += 1) {
        const { challenge: text, passkey } = await challenge(user)
        const reply = await finish({ challenge: text, passkey: authenticator.sign(passkey ?? {}) })
        assert.equal(reply.status, 200, reply.text)
        assert.deepEqual(await amrOf({ user, token: String(reply.body.token) }), ['pwd', means, 'mfa'])
        assert.equal((await lastSignIn(user))?.data.second_factor, 'passkey')
      }
    }
  })

  test('by a recovery code, typed in any way, and shows when the app was used', async () => {
    const { user, codes } = await withApp()
    const strong = await withFactor(user, { recovery_code: ` ${codes[3]?.toUpperCase().replaceAll('-', ' ')}` })
    assert.deepEqual(await amrOf(strong), ['pwd', 'otp', 'mfa'])
    assert.equal((await lastSignIn(user))?.data.second_factor, 'recovery_code')
    const { data, recovery_codes_left } = (await as(strong, 'GET', factorsUrl)).body
    assert.deepEqual([recovery_codes_left, (data as { last_used_at: null }[])[0]?.last_used_at], [9, null])
  })

  test('by one of several apps and passkeys, whichever the user has at hand', async () => {
    const first = await withApp()
    await forgetUse(first.user)
    const strong = await withFactor(first.user, { totp: first.app.code() })
    const [second, key] = [await addApp(strong), await addPasskey(strong)]
    assert.deepEqual([second.codes, key.codes], [[], []], 'only the first comes with recovery codes')
    await forgetUse(first.user)
    for (const app of [first.app, second.app]) await withFactor(first.user, { totp: app.code() })
    const { challenge: text, passkey, methods } = await challenge(first.user)
    assert.deepEqual(methods, ['passkey', 'totp', 'recovery_code'])
    assert.equal((await finish({ challenge: text, passkey: key.authenticator.sign(passkey ?? {}) })).status, 200)
    const used = (await as(strong, 'GET', factorsUrl)).body.data as { last_used_at: string | null }[]
    assert.deepEqual(
      used.map(({ last_used_at }) => last_used_at !== null),
      [true, true, true],
    )
  })

  test('by exactly one proof', async () => {
    const { user, app, codes } = await withApp()
    await forgetUse(user)
    const { challenge: text } = await challenge(user)
    const [totp, recovery_code] = [app.code(), codes[0]]
    for (const proofs of [{}, { totp, recovery_code }, { totp, passkey: {} }, { totp, recovery_code, passkey: {} }]) {
      const reply = await finish({ challenge: text, ...proofs })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], reply.text)
    }
    assert.equal((await finish({ challenge: text, totp })).status, 200, 'nothing was used up')
  })

  test('by nothing of a wrong shape, and never with a fault of the service', async () => {
    const { user } = await withKey()
    const bad = [null, 0, '', 'a', 'é', 'a'.repeat(10_000), [], {}, { id: {} }, { id: 'a', response: null }, true]
    for (const value of bad) {
      const { challenge: text } = await challenge(user)
      for (const name of ['totp', 'passkey', 'recovery_code']) {
        const { status, text: said } = await finish({ challenge: text, [name]: value })
        assert.ok([400, 401].includes(status), said)
      }
      assert.ok([400, 401].includes((await finish({ challenge: value, totp: '123456' })).status))
      await house.asSuperuser('delete from sign_in_failure')
    }
  })

  test('without a tenant in a header: the challenge names it; another named one changes nothing', async () => {
    const { user, codes } = await withApp()
    const { challenge: text } = await challenge(user)
    const body = { challenge: text, recovery_code: codes[0] }
    const other = (await house.tenant('not asked')).tenant_id
    const reply = await house.call({ method: 'POST', url: '/v1/auth/second-factor', tenant_id: other, body })
    assert.equal(reply.status, 200, reply.text)
    assert.equal((await as({ user, token: String(reply.body.token) }, 'GET', factorsUrl)).status, 200)
  })
})
