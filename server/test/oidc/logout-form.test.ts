import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openLogoutStage, sendForm } from '../support/logout-stage.ts'

/** The form in which a provider sends a logout token, and what is kept of the refused ones. */
const { house, tenant, provider, isAlive, audit } = await openLogoutStage()

const form = 'application/x-www-form-urlencoded'

suite('a logout token comes in a form', async () => {
  const { id, signIn, logoutToken } = await provider(await tenant())
  const anna = await signIn('anna')
  const token = () => logoutToken({ sub: 'anna' })
  const post = (body: string, type?: string, headers: Record<string, string> = {}) => {
    const url = `/v1/auth/back-channel-logout/${id}`
    return house.call({
      ...{ method: 'POST', url, body },
      headers: { ...(type !== undefined && { 'content-type': type }), ...headers },
    })
  }

  const types = [
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/jwt',
    'application/logout+jwt',
    `${form}2`,
    `${form}; charset=iso-8859-1`,
    `${form}, application/json`,
  ]
  for (const type of types) {
    test(`so that ${type} is refused`, async () => {
      for (const body of [`logout_token=${token()}`, JSON.stringify({ logout_token: token() })]) {
        const reply = await post(body, type)
        assert.deepEqual([reply.status, reply.body.code], [415, 'unsupported_media_type'], reply.text)
      }
    })
  }

  test('that is not encoded again', async () => {
    const reply = await post(`logout_token=${token()}`, form, { 'content-encoding': 'gzip' })
    assert.equal(reply.status, 415)
  })

  const faulty: [name: string, body: () => string][] = [
    ['an empty body', () => ''],
    ['an empty token', () => 'logout_token='],
    ['only other fields', () => 'token=x'],
    ['the token twice', () => `logout_token=${token()}&logout_token=${token()}`],
    ['the token twice, once with another spelling', () => `logout_token=${token()}&%6cogout_token=x`],
    ['another field twice', () => `logout_token=${token()}&a=1&a=2`],
    ['a name in other letters', () => `Logout_Token=${token()}`],
    ['a token in a list', () => `logout_token[]=${token()}`],
    ['a token of too many characters', () => `logout_token=${'x'.repeat(20_001)}`],
    ['too many fields', () => `logout_token=${token()}&${Array.from({ length: 100 }, (_, n) => `f${n}=1`).join('&')}`],
    ['NUL', () => `logout_token=${token()}&a=%00`],
    ['a name that means something to JavaScript', () => '__proto__[logout_token]=x&__proto__=x&constructor=x'],
  ]
  for (const [name, body] of faulty) {
    test(`and is refused with ${name}`, async () => {
      const reply = await post(body(), form)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], reply.text)
    })
  }

  test('of at most a mebibyte', async () => {
    assert.equal((await post(`logout_token=${token()}&more=${'x'.repeat(1024 * 1024)}`, form)).status, 413)
  })

  test('and none of these ended a session', async () => assert.ok(await isAlive(anna)))

  test('in which other fields are ignored, whatever is in them', async () => {
    const more = 'a=1&b=%F0%9F%98%80&toString=x&c'
    const reply = await post(`${more}&logout_token=${token()}&d=`, `${form}; charset=UTF-8`)
    assert.deepEqual([reply.status, reply.text], [200, '{}'])
    assert.ok(!(await isAlive(anna)))
  })

  test('and by no other method', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const reply = await house.app.server.inject({
        method: method as 'GET',
        url: `/v1/auth/back-channel-logout/${id}`,
      })
      assert.ok([404, 405].includes(reply.statusCode), `${method} ${reply.statusCode}`)
    }
  })
})

suite('of the refused logout tokens', () => {
  test('a hundred in an hour are kept for each tenant; then they are counted', async () => {
    const [busy, other] = [await tenant(), await tenant()]
    const [{ id }, quiet] = [await provider(busy), await provider(other)]
    for (let n = 0; n < 130; n += 1) assert.equal((await sendForm(house, id, { logout_token: `no ${n}` })).status, 400)
    const kept = await audit(busy)
    assert.equal(kept.length, 101)
    assert.equal(kept.at(-1)?.data.times, 128)
    for (const { type, data } of kept) {
      const { cause, reason } = data
      assert.deepEqual([type, cause, reason], ['auth.refused', 'logout_token', 'the logout token is not a JWT'])
    }
    assert.equal((await sendForm(house, quiet.id, { logout_token: 'no' })).status, 400)
    assert.equal((await audit(other)).length, 1)
  })
})
