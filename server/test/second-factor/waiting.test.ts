import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Member, openFactorStage, password } from '../support/second-factor-stage.ts'

/** How many sign-ins of one user may wait for the second factor, from one source and in all. */
const stage = await openFactorStage({ TRUST_PROXY: 'true' })
const { house, member, finish, withPassword, addApp } = stage
const tenant = await house.tenant('waiting')

/** A user with an app, and their recovery codes. */
async function ready(): Promise<{ user: Member; codes: string[] }> {
  return addApp(await withPassword(await member(tenant)))
}

/** Begins a sign-in from this address; returns its challenge. */
async function begun({ email, tenant_id }: Member, address: string): Promise<string> {
  const body = { email, password }
  const headers = { 'x-forwarded-for': address }
  const reply = await house.call({ method: 'POST', url: '/v1/auth/login', tenant_id, body, headers })
  assert.equal(reply.body.code, 'second_factor_required', reply.text)
  return String((reply.body.details as { challenge: string }).challenge)
}

/** Whether the challenge can still be finished; it then signs in. */
const waits = async (text: string, recovery_code = '') =>
  (await finish({ challenge: text, recovery_code })).status === 200

const sourcesOf = async ({ id }: Member) =>
  (
    await house.asSuperuser<{ source: string }>('select source from sign_in_challenge where user_id = $1 order by id', [
      id,
    ])
  ).map(({ source }) => source)

suite('of the sign-ins of a user that wait for the second factor', () => {
  test('five of one source wait, and the oldest ends with the sixth', async () => {
    const { user, codes } = await ready()
    const made: string[] = []
    for (let times = 0; times < 6; times += 1) made.push(await begun(user, '192.0.2.1'))
    assert.deepEqual(await sourcesOf(user), Array(5).fill('192.0.2.1'))
    assert.equal(await waits(String(made[0]), codes[0]), false)
    for (const nth of [1, 5]) assert.ok(await waits(String(made[nth]), codes[nth]))
  })

  test('a network of IPv6 is one source', async () => {
    const { user, codes } = await ready()
    const first = await begun(user, '2001:db8:1:2::1')
    for (let host = 2; host < 7; host += 1) await begun(user, `2001:db8:1:2::${host}`)
    assert.deepEqual(await sourcesOf(user), Array(5).fill('2001:db8:1:2::/64'))
    assert.equal(await waits(first, codes[0]), false)
  })

  test('the user’s own goes on, however many somebody else begins from twenty addresses (D4)', async () => {
    const { user, codes } = await ready()
    const own = await begun(user, '192.0.2.1')
    for (let times = 0; times < 6; times += 1) {
      for (let host = 1; host <= 20; host += 1) await begun(user, `198.51.100.${host}`)
    }
    assert.equal((await sourcesOf(user)).length, 100)
    assert.ok(await waits(own, codes[0]))
  })

  test('a hundred wait in all: of more sources, the oldest end', async () => {
    const { user, codes } = await ready()
    const made: string[] = []
    for (let host = 1; host <= 101; host += 1) made.push(await begun(user, `198.51.100.${host}`))
    assert.equal((await sourcesOf(user)).length, 100)
    assert.equal(await waits(String(made[0]), codes[0]), false)
    for (const [nth, code] of [codes[1], codes[2]].entries()) assert.ok(await waits(String(made[1 + 99 * nth]), code))
  })

  test('another user’s do not count', async () => {
    const [one, other] = [await ready(), await ready()]
    const own = await begun(one.user, '192.0.2.1')
    for (let times = 0; times < 6; times += 1) await begun(other.user, '192.0.2.1')
    assert.ok(await waits(own, one.codes[0]))
  })
})
