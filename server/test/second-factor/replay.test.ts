import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { totpCodesOf } from '../../src/users/sign-in-failure.ts'
import type { Reply } from '../support/house.ts'
import { type Challenge, type Member, openFactorStage } from '../support/second-factor-stage.ts'
import { totpApp } from '../support/totp-app.ts'

/** A proof counts once (A22), and wrong ones are counted. */
const stage = await openFactorStage()
const { house, member, login, finish, withPassword, challenge, addApp, addPasskey, as, forgetUse, eventsOf } = stage
const tenant = await house.tenant('replays')
const theirs = await house.tenant('another')

const withApp = async (of = tenant) => addApp(await withPassword(await member(of)))
const withKey = async (counts = true) => addPasskey(await withPassword(await member(tenant)), counts)
const isRefused = ({ status, body, text }: Reply) =>
  assert.deepEqual([status, body.code], [401, 'unauthenticated'], text)
const tryWith = async (user: Member, proof: object) =>
  finish({ challenge: (await challenge(user)).challenge, ...proof })
const statuses = (replies: Reply[]) => replies.map(({ status }) => status).sort()
const causesOf = async (user: Member) =>
  (await eventsOf(user)).filter(({ type }) => type === 'auth.refused').map(({ data }) => data.cause)

suite('a code of an app', () => {
  test('that confirmed the app does not sign in (A22)', async () => {
    const by = await withPassword(await member(tenant))
    const { id, totp } = await stage.begin(by, 'totp')
    const app = totpApp(totp.secret)
    const code = app.code()
    assert.equal((await stage.confirm(by, id, { totp: code })).status, 200)
    isRefused(await tryWith(by.user, { totp: code }))
    assert.deepEqual(await causesOf(by.user), ['second_factor_used'])
  })

  test('signs in once (A22)', async () => {
    const { user, app } = await withApp()
    await forgetUse(user)
    const totp = app.code()
    assert.equal((await tryWith(user, { totp })).status, 200)
    isRefused(await tryWith(user, { totp }))
  })

  test('signs in once when it is sent in many sign-ins at once (A22)', async () => {
    const { user, app } = await withApp()
    await forgetUse(user)
    const totp = app.code()
    const challenges: Challenge[] = []
    for (let times = 0; times < 5; times += 1) challenges.push(await challenge(user))
    const replies = await Promise.all(challenges.map((one) => finish({ challenge: one.challenge, totp })))
    assert.deepEqual(statuses(replies), [200, 401, 401, 401, 401])
  })

  test('is of no use after a later one was used, although its time is not over (A22)', async () => {
    const { user, app } = await withApp()
    await forgetUse(user)
    // Both before the next period begins, or the clock of the second is further ahead than one period.
    const [earlier, later] = [app.code(-1), app.code()]
    assert.equal((await tryWith(user, { totp: later })).status, 200)
    isRefused(await tryWith(user, { totp: earlier }))
  })

  test('of one user does not sign in another, of this tenant or another (A22)', async () => {
    const [one, colleague, foreigner] = [await withApp(), await withApp(), await withApp(theirs)]
    for (const { user } of [one, colleague, foreigner]) await forgetUse(user)
    for (const other of [colleague, foreigner]) isRefused(await tryWith(one.user, { totp: other.app.code() }))
  })
})

suite('a recovery code', () => {
  test('signs in once, and the others go on (A22)', async () => {
    const { user, codes } = await withApp()
    for (const recovery_code of codes) {
      assert.equal((await tryWith(user, { recovery_code })).status, 200)
      isRefused(await tryWith(user, { recovery_code }))
      await house.asSuperuser('delete from sign_in_failure')
    }
  })

  test('signs in once when it is sent in two sign-ins at once (A22)', async () => {
    const { user, codes } = await withApp()
    const challenges = [await challenge(user), await challenge(user), await challenge(user)]
    const replies = await Promise.all(
      challenges.map((one) => finish({ challenge: one.challenge, recovery_code: codes[0] })),
    )
    assert.deepEqual(statuses(replies), [200, 401, 401])
  })

  test('is of no use to another user, of this tenant or another (A22)', async () => {
    const [one, colleague, foreigner] = [await withApp(), await withApp(), await withApp(theirs)]
    for (const other of [colleague, foreigner]) isRefused(await tryWith(one.user, { recovery_code: other.codes[0] }))
    assert.equal((await tryWith(colleague.user, { recovery_code: colleague.codes[0] })).status, 200)
  })

  test('of before is of no use once they were replaced; the new ones are shown once', async () => {
    const { user, codes } = await withApp()
    const strong = await stage.withFactor(user, { recovery_code: codes[0] })
    const reply = await as(strong, 'POST', '/v1/users/me/recovery-codes')
    assert.equal(reply.status, 201, reply.text)
    const fresh = reply.body.recovery_codes as string[]
    assert.equal(new Set([...fresh, ...codes]).size, 20)
    isRefused(await tryWith(user, { recovery_code: codes[1] }))
    assert.equal((await tryWith(user, { recovery_code: fresh[0] })).status, 200)
    assert.ok((await eventsOf(user)).some(({ type }) => type === 'user.recovery_codes_replaced'))
  })

  test('is replaced by two calls at once: the codes of one of them count, all ten', async () => {
    const { user, codes } = await withApp()
    const strong = await stage.withFactor(user, { recovery_code: codes[0] })
    const replies = await Promise.all([0, 1].map(() => as(strong, 'POST', '/v1/users/me/recovery-codes')))
    assert.deepEqual(statuses(replies), [201, 201])
    const counted: number[] = []
    for (const { body } of replies) {
      const [recovery_code] = body.recovery_codes as string[]
      counted.push((await tryWith(user, { recovery_code })).status)
    }
    assert.deepEqual(counted.sort(), [200, 401])
    assert.equal((await as(strong, 'GET', '/v1/users/me/second-factors')).body.recovery_codes_left, 9)
  })
})

suite('a signature of a passkey', () => {
  test('signs in once, and not in another sign-in (A22)', async () => {
    for (const counts of [true, false]) {
      const { user, authenticator } = await withKey(counts)
      const [one, other] = [await challenge(user), await challenge(user)]
      const passkey = authenticator.sign(one.passkey ?? {})
      isRefused(await finish({ challenge: other.challenge, passkey }))
      const twice = await Promise.all([0, 1].map(() => finish({ challenge: one.challenge, passkey })))
      assert.deepEqual(statuses(twice), [200, 401])
      isRefused(await finish({ challenge: one.challenge, passkey }))
    }
  })

  test('of a copy of the key, whose count is behind, does not sign in (A22)', async () => {
    const { user, authenticator } = await withKey()
    const sign = async (bent = {}) => {
      const offered = await challenge(user)
      return finish({ challenge: offered.challenge, passkey: authenticator.sign(offered.passkey ?? {}, bent) })
    }
    assert.equal((await sign({ counter: 10 })).status, 200)
    for (const counter of [10, 9, 0]) isRefused(await sign({ counter }))
    assert.equal((await sign({ counter: 11 })).status, 200)
  })

  test('by another user’s passkey does not sign in (A22)', async () => {
    const [one, other] = [await withKey(), await withKey()]
    const offered = await challenge(one.user)
    isRefused(await finish({ challenge: offered.challenge, passkey: other.authenticator.sign(offered.passkey ?? {}) }))
    const forged = {
      ...other.authenticator.sign(offered.passkey ?? {}),
      id: one.authenticator.id,
      rawId: one.authenticator.id,
    }
    isRefused(await finish({ challenge: offered.challenge, passkey: forged }))
  })
})

suite('ten wrong codes of an app in 15 minutes', () => {
  /** Sends wrong codes, each five in a sign-in of their own. */
  async function guesses(
    user: Member,
    wrong: (nth: number) => object,
    count: number,
    atOnce: boolean,
  ): Promise<Reply[]> {
    const sent: (() => Promise<Reply>)[] = []
    for (let nth = 0; nth < count; nth += 5) {
      const { challenge: text } = await challenge(user)
      for (let one = nth; one < Math.min(nth + 5, count); one += 1)
        sent.push(() => finish({ challenge: text, ...wrong(one) }))
    }
    if (atOnce) return Promise.all(sent.map((send) => send()))
    const replies: Reply[] = []
    for (const send of sent) replies.push(await send())
    return replies
  }
  const count = (replies: Reply[], status: number) => replies.filter((reply) => reply.status === status).length
  const countedOf = (user: Member) =>
    house.asSuperuser('select failures from sign_in_failure where account_hash = $1', [totpCodesOf(user.id)])

  for (const atOnce of [false, true]) {
    test(`are all that is checked, ${atOnce ? 'also when more are sent at once' : 'one after another'} (A22)`, async () => {
      const { user, app } = await withApp()
      await forgetUse(user)
      const replies = await guesses(user, (nth) => ({ totp: app.wrong(nth) }), 15, atOnce)
      assert.deepEqual([count(replies, 401), count(replies, 429)], [10, 5])
      const right = await tryWith(user, { totp: app.code() })
      assert.deepEqual([right.status, right.body.code], [429, 'rate_limited'], right.text)
      assert.ok(Number(right.headers['retry-after']) > 0)
      // The password is another account, and a user’s other sign-ins are not ended.
      assert.equal((await login(user)).body.code, 'second_factor_required')
      await house.asSuperuser(`update sign_in_failure set began_at = began_at - interval '15 minutes'`)
      assert.equal((await tryWith(user, { totp: app.code() })).status, 200)
    })
  }

  test('are those of one user: another is not limited', async () => {
    const [one, other] = [await withApp(), await withApp()]
    await guesses(one.user, (nth) => ({ totp: one.app.wrong(nth) }), 11, false)
    assert.equal((await tryWith(other.user, { recovery_code: other.codes[0] })).status, 200)
  })

  test('do not include right ones', async () => {
    const { user, app } = await withApp()
    for (let times = 0; times < 12; times += 1) {
      await forgetUse(user)
      const reply = await tryWith(user, { totp: app.code() })
      assert.equal(reply.status, 200, reply.text)
    }
    assert.deepEqual(await countedOf(user), [{ failures: 0 }])
  })

  test('are a limit for codes of an app alone: a passkey and a recovery code still sign in (D4)', async () => {
    const by = await withApp()
    const { authenticator } = await addPasskey(await stage.withFactor(by.user, { recovery_code: by.codes[0] }))
    await guesses(by.user, (nth) => ({ totp: by.app.wrong(nth) }), 11, false)
    const limited = await tryWith(by.user, { totp: by.app.code() })
    assert.equal(limited.status, 429, limited.text)
    isRefused(await tryWith(by.user, { recovery_code: by.codes[0] }))
    assert.equal((await tryWith(by.user, { recovery_code: by.codes[1] })).status, 200)
    const offered = await challenge(by.user)
    isRefused(await finish({ challenge: offered.challenge, passkey: authenticator.sign({ challenge: 'x' }) }))
    const passkey = authenticator.sign(offered.passkey ?? {})
    assert.equal((await finish({ challenge: offered.challenge, passkey })).status, 200)
  })

  test('are not reached by wrong passkeys and recovery codes, which nobody can guess', async () => {
    const { user, app } = await withApp()
    await forgetUse(user)
    const proofs = [{ recovery_code: 'never made' }, { passkey: { id: 'made up' } }]
    const replies = await guesses(user, (nth) => proofs[nth % 2] ?? assert.fail(), 20, false)
    assert.equal(count(replies, 401), 20)
    assert.deepEqual(await countedOf(user), [])
    assert.equal((await tryWith(user, { totp: app.code() })).status, 200)
  })

  test('are not forgotten with a right one', async () => {
    const { user, app, codes } = await withApp()
    await guesses(user, (nth) => ({ totp: app.wrong(nth) }), 9, false)
    assert.equal((await tryWith(user, { recovery_code: codes[0] })).status, 200)
    const replies = await guesses(user, (nth) => ({ totp: app.wrong(nth) }), 2, false)
    assert.deepEqual(
      replies.map(({ status }) => status),
      [401, 429],
    )
  })
})

suite('the limit of an address', () => {
  test('counts wrong second factors, and not the question for one', async () => {
    const limited = await openFactorStage({ LIMIT_BY_SOURCE: 'on' })
    const of = await limited.house.tenant('limited')
    const { user, app } = await limited.addApp(await limited.withPassword(await limited.member(of)))
    let asked: Reply | undefined
    for (let times = 0; times < 110; times += 1) {
      asked = await limited.login(user)
      assert.equal(asked.body.code, 'second_factor_required', asked.text)
    }
    const answers: number[] = []
    for (let times = 0; times < 200 && !answers.includes(429); times += 1) {
      await limited.house.asSuperuser('delete from sign_in_failure')
      answers.push((await limited.finish({ challenge: 'made up', totp: app.wrong() })).status)
    }
    assert.ok(answers.includes(429) && answers.length > 5, String(answers.length))
  })
})
