import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Statement, Tx } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { sessionsEnd } from '../../src/sessions/session-store.ts'
import type { Reply } from '../support/house.ts'
import { aLockIsWaitedFor, locksAreWaitedFor } from '../support/lock.ts'
import { type AppUser, type Member, openFactorStage, password } from '../support/second-factor-stage.ts'

const stage = await openFactorStage()
const { house, member, login, finish, withPassword, challenge, addApp, forgetUse, as, eventsOf } = stage
const tenant = await house.tenant('challenges')
const theirs = await house.tenant('another')

/** A user whose next code counts. */
async function ready(of = tenant): Promise<AppUser> {
  const by = await addApp(await withPassword(await member(of)))
  await forgetUse(by.user)
  return by
}
const isRefused = ({ status, body, text }: Reply) =>
  assert.deepEqual([status, body.code], [401, 'unauthenticated'], text)
const sessionsOf = async ({ id }: Member) =>
  (await house.asSuperuser<{ amr: string[] }>('select amr from user_session where user_id = $1', [id])).map(
    ({ amr }) => amr,
  )
const causesOf = async (user: Member) =>
  (await eventsOf(user)).filter(({ type }) => type === 'auth.refused').map(({ data }) => data.cause)

suite('a challenge', () => {
  test('is over after five minutes', async () => {
    const { user, app } = await ready()
    const { challenge: text } = await challenge(user)
    const age = (seconds: number) =>
      house.asSuperuser(
        'update sign_in_challenge set expires_at = expires_at - make_interval(secs => $2) where user_id = $1',
        [user.id, seconds],
      )
    const [row] = await house.asSuperuser<{ left: number }>(
      'select extract(epoch from expires_at - clock_timestamp())::float8 as left from sign_in_challenge where user_id = $1',
      [user.id],
    )
    assert.ok(Number(row?.left) <= 300 && Number(row?.left) > 240)
    await age(300)
    isRefused(await finish({ challenge: text, totp: app.code() }))
    await age(-300)
    assert.equal((await finish({ challenge: text, totp: app.code() })).status, 200)
  })

  test('signs in once, also when two calls finish it at once with two proofs', async () => {
    const { user, app, codes } = await ready()
    const { challenge: text } = await challenge(user)
    const proofs = [{ totp: app.code() }, { recovery_code: codes[0] }, { recovery_code: codes[1] }]
    const replies = await Promise.all(proofs.map((proof) => finish({ challenge: text, ...proof })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 401, 401])
    isRefused(await finish({ challenge: text, recovery_code: codes[2] }))
    assert.equal((await sessionsOf(user)).filter((amr) => amr.includes('mfa')).length, 1)
  })

  test('is tried at most five times, also at once', async () => {
    const { user, app, codes } = await ready()
    const { challenge: text } = await challenge(user)
    const wrong = await Promise.all(
      [0, 1, 2, 3, 4, 5, 6].map((nth) => finish({ challenge: text, totp: app.wrong(nth) })),
    )
    for (const reply of wrong) isRefused(reply)
    assert.equal((await causesOf(user)).length, 5, 'the sixth and seventh were not even tried')
    isRefused(await finish({ challenge: text, totp: app.code() }))
    isRefused(await finish({ challenge: text, recovery_code: codes[0] }))
    const another = await challenge(user)
    for (const nth of [0, 1, 2, 3]) isRefused(await finish({ challenge: another.challenge, totp: app.wrong(nth) }))
    assert.equal((await finish({ challenge: another.challenge, totp: app.code() })).status, 200, 'the fifth counts')
  })

  test('that was altered, or made up, is refused like any other', async () => {
    const { user, codes } = await ready()
    const { challenge: text } = await challenge(user)
    const bytes = Buffer.from(text, 'base64url')
    const bent = [0, 15, 16, 31, 32, 63].map((at) => {
      const copy = Buffer.from(bytes)
      copy[at] = (copy[at] ?? 0) ^ 1
      return copy.toString('base64url')
    })
    const last = text.at(-1) === 'A' ? 'B' : 'A'
    const made = [
      ...bent,
      `${text.slice(0, -1)}${last}`,
      text.slice(1),
      `${text}A`,
      `${text}=`,
      '',
      'a'.repeat(200),
      newId(),
    ]
    const replies: Reply[] = []
    for (const one of made) replies.push(await finish({ challenge: one, recovery_code: codes[0] }))
    for (const reply of replies) {
      isRefused(reply)
      assert.equal(reply.text, replies[0]?.text)
    }
    assert.equal((await finish({ challenge: text, recovery_code: codes[0] })).status, 200)
  })

  test('of another tenant, or of another user, does not sign in with this user’s codes (A22)', async () => {
    const [one, colleague, foreigner] = [await ready(), await ready(), await ready(theirs)]
    for (const other of [colleague, foreigner]) {
      const { challenge: text } = await challenge(other.user)
      isRefused(await finish({ challenge: text, recovery_code: one.codes[0] }))
      isRefused(await finish({ challenge: text, totp: one.app.code() }))
      // With the other tenant's id in it.
      const bytes = Buffer.from(text, 'base64url')
      Buffer.from(one.user.tenant_id.replaceAll('-', ''), 'hex').copy(bytes)
      isRefused(await finish({ challenge: bytes.toString('base64url'), recovery_code: one.codes[0] }))
    }
    const { challenge: text } = await challenge(one.user)
    assert.equal((await finish({ challenge: text, recovery_code: one.codes[0] })).status, 200)
  })
})

/** What ends the sessions of a user also ends the sign-ins that wait for a second factor. */
const endings: Record<string, (user: Member) => Promise<Reply>> = {
  'was deactivated': (user) => byOwner('PATCH', `/v1/users/${user.id}`, { active: false }),
  'was suspended': (user) => byOwner('POST', `/v1/users/${user.id}/suspend`),
  'was deleted': (user) => byOwner('DELETE', `/v1/users/${user.id}`),
  'lost the second factors': (user) => byOwner('DELETE', `/v1/users/${user.id}/second-factors`),
}
const byOwner = (method: string, url: string, body?: unknown) =>
  house.call({
    method,
    url,
    token: tenant.owner.token,
    tenant_id: tenant.tenant_id,
    ...(body !== undefined && { body }),
  })

suite('a sign-in that waits for its second factor', () => {
  for (const [name, end] of Object.entries(endings)) {
    test(`comes to nothing when the user ${name} meanwhile`, async () => {
      const { user, app } = await ready()
      const { challenge: text } = await challenge(user)
      const reply = await end(user)
      assert.ok(reply.status < 300, reply.text)
      isRefused(await finish({ challenge: text, totp: app.code() }))
      assert.deepEqual(await sessionsOf(user), [])
    })
  }

  test('comes to nothing when the password was changed meanwhile, even for a user who is active again', async () => {
    const { user, app, codes } = await ready()
    const strong = await stage.withFactor(user, { recovery_code: codes[0] })
    const { challenge: text } = await challenge(user)
    const body = { current_password: password, new_password: 'another long enough password' }
    assert.equal((await as(strong, 'POST', '/v1/users/me/password', body)).status, 204)
    isRefused(await finish({ challenge: text, totp: app.code() }))
    assert.equal((await sessionsOf(user)).length, 1, 'the one that changed it')
  })
})

suite('a call that waits for a lock', () => {
  /** Sends the call while these statements are not committed yet, and returns its answer. */
  async function meanwhile(statements: readonly Statement[], call: () => Promise<Reply>): Promise<Reply> {
    const replies: Promise<Reply>[] = []
    await house.database.tenant(tenant.tenant_id).interactive(async (inside: Tx) => {
      await inside.write(statements)
      replies.push(call())
      await aLockIsWaitedFor(house, inside)
    })
    return (await Promise.all(replies))[0] ?? assert.fail('nothing was sent')
  }
  const whose = (id: string) => sql`tenant_id = ${tenant.tenant_id} and user_id = ${id}`
  const self = (id: string) => sql`tenant_id = ${tenant.tenant_id} and id = ${id}`
  const tx = house.database.tenant(tenant.tenant_id)

  const changes: Record<string, (id: string) => Statement[]> = {
    'is deactivated': (id) => [sql`update tenant_user set active = false where ${self(id)}`],
    'is suspended': (id) => [sql`update tenant_user set suspended_until = now() + interval '1 day' where ${self(id)}`],
    'gets another password': (id) => [sql`update user_password set hash = 'x' where ${whose(id)}`, sessionsEnd(tx, id)],
    'is signed out everywhere': (id) => [
      sql`select from tenant_user where ${self(id)} for no key update`,
      sessionsEnd(tx, id),
    ],
  }
  for (const [name, change] of Object.entries(changes)) {
    test(`does not sign in a user who ${name} meanwhile`, async () => {
      const { user, app } = await ready()
      const { challenge: text } = await challenge(user)
      isRefused(await meanwhile(change(user.id), () => finish({ challenge: text, totp: app.code() })))
      assert.equal((await sessionsOf(user)).filter((amr) => amr.includes('mfa')).length, 0)
      assert.ok(!(await eventsOf(user)).slice(2).some(({ type }) => type === 'auth.signed_in'))
    })
  }

  test('with a password alone does not sign in a user who sets up a second factor meanwhile (A22)', async () => {
    const user = await member(tenant)
    const confirmed = sql`insert into second_factor (tenant_id, id, user_id, kind, name, confirmed_at, sealed_secrets)
      values (${tenant.tenant_id}, ${newId()}, ${user.id}, 'totp', 'app', now(), 'x')`
    const change = [
      sql`select from tenant_user where ${self(user.id)} for no key update`,
      confirmed,
      sessionsEnd(tx, user.id),
    ]
    isRefused(await meanwhile(change, () => login(user)))
    assert.deepEqual(await sessionsOf(user), [])
    assert.deepEqual(await causesOf(user), ['changed_meanwhile'])
  })

  test('gives no challenge to a user who changes the password meanwhile', async () => {
    const { user } = await ready()
    isRefused(await meanwhile(changes['gets another password']?.(user.id) ?? [], () => login(user)))
    const left = await house.asSuperuser('select id from sign_in_challenge where user_id = $1', [user.id])
    assert.deepEqual(left, [])
    assert.ok(!(await eventsOf(user)).some(({ type }) => type === 'auth.second_factor_required'))
  })

  test('comes before or after a deactivation at the same moment, and leaves no session', async () => {
    for (let times = 0; times < 5; times += 1) {
      const { user, app } = await ready()
      const { challenge: text } = await challenge(user)
      const replies: Promise<Reply>[] = []
      await tx.interactive(async (inside) => {
        await inside.write([sql`select from tenant_user where ${self(user.id)} for update`])
        replies.push(endings['was deactivated']?.(user) ?? assert.fail(), finish({ challenge: text, totp: app.code() }))
        await locksAreWaitedFor(house, 2)
      })
      const [ended] = await Promise.all(replies)
      assert.equal(ended?.status, 200, ended?.text)
      assert.deepEqual(await sessionsOf(user), [])
    }
  })
})
