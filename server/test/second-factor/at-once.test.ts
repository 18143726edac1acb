import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Reply } from '../support/house.ts'
import { locksAreWaitedFor } from '../support/lock.ts'
import { factorsUrl, type Member, openFactorStage } from '../support/second-factor-stage.ts'

/** Calls of one user that have all read what there is, and then wait for the same lock. */
const stage = await openFactorStage()
const { house, member, finish, withPassword, withFactor, challenge, addApp, addPasskey, as, forgetUse } = stage
const tenant = await house.tenant('at once')

/** Holds the user's row until all the calls wait for it. */
async function together(user: Member, calls: readonly (() => Promise<Reply>)[]): Promise<number[]> {
  let replies: Promise<Reply>[] = []
  await house.database.tenant(tenant.tenant_id).interactive(async (inside) => {
    await inside.write([
      sql`select from tenant_user where tenant_id = ${tenant.tenant_id} and id = ${user.id} for update`,
    ])
    replies = calls.map((call) => call())
    await locksAreWaitedFor(house, calls.length)
  })
  return (await Promise.all(replies)).map(({ status }) => status).sort()
}
const strongSessions = async ({ id }: Member) =>
  (await house.asSuperuser(`select id from user_session where user_id = $1 and 'mfa' = any(amr)`, [id])).length
const tryWith = async (user: Member, proof: object) => {
  const { challenge: text } = await challenge(user)
  return () => finish({ challenge: text, ...proof })
}

suite('of calls that were checked together, one signs in', () => {
  test('with one challenge and two proofs', async () => {
    const { user, codes } = await addApp(await withPassword(await member(tenant)))
    const { challenge: text } = await challenge(user)
    const calls = [0, 1].map((nth) => () => finish({ challenge: text, recovery_code: codes[nth] }))
    assert.deepEqual(await together(user, calls), [200, 401])
    assert.equal(await strongSessions(user), 1)
  })

  test('with one code of an app, in two sign-ins (A22)', async () => {
    const { user, app } = await addApp(await withPassword(await member(tenant)))
    await forgetUse(user)
    const totp = app.code()
    assert.deepEqual(await together(user, [await tryWith(user, { totp }), await tryWith(user, { totp })]), [200, 401])
    assert.equal(await strongSessions(user), 1)
  })

  test('with one recovery code, in two sign-ins (A22)', async () => {
    const { user, codes } = await addApp(await withPassword(await member(tenant)))
    const [recovery_code] = codes
    const calls = [await tryWith(user, { recovery_code }), await tryWith(user, { recovery_code })]
    assert.deepEqual(await together(user, calls), [200, 401])
    assert.equal(await strongSessions(user), 1)
  })

  test('with a passkey and its copy, which have counted alike (A22)', async () => {
    const { user, authenticator } = await addPasskey(await withPassword(await member(tenant)))
    const calls: (() => Promise<Reply>)[] = []
    for (const _ of ['the passkey', 'its copy']) {
      const { challenge: text, passkey } = await challenge(user)
      const signed = authenticator.sign(passkey ?? {}, { counter: 7 })
      calls.push(() => finish({ challenge: text, passkey: signed }))
    }
    assert.deepEqual(await together(user, calls), [200, 401])
    assert.equal(await strongSessions(user), 1)
  })
})

test('of calls that begin the last of ten factors together, one does', async () => {
  const { user, codes } = await addApp(await withPassword(await member(tenant)))
  const strong = await withFactor(user, { recovery_code: codes[0] })
  const begin = () => as(strong, 'POST', factorsUrl, { kind: 'totp' })
  for (let nth = 1; nth < 9; nth += 1) assert.equal((await begin()).status, 201)
  assert.deepEqual(await together(user, [begin, begin]), [201, 422])
})
