import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { openDatabase } from '../../src/db/transaction.ts'
import type { Reply } from '../support/house.ts'
import { aLockIsWaitedFor } from '../support/lock.ts'
import { openLogoutStage } from '../support/logout-stage.ts'
import type { Json } from '../support/token-forge.ts'

/** Logout tokens, and changes of the issuer, that come while a sign-in is under way or after it. */
const { house, tenant, provider, operators, send, isAlive, audit } = await openLogoutStage()

type Stage = Awaited<ReturnType<typeof provider>>

/** Runs `meanwhile` while the service redeems a code of `account`. Returns what the sign-in then answers. */
async function signInDuring(
  { realm, trySignIn }: Stage,
  account: string,
  claims: object,
  meanwhile: () => Promise<unknown>,
) {
  let pending: (() => Promise<unknown>) | undefined = meanwhile
  realm.misdeed = {
    meanwhile: async (step) => {
      if (step !== 'token') return
      const work = pending
      pending = undefined
      await work?.()
    },
  }
  const reply = await trySignIn(account, claims)
  realm.misdeed = {}
  assert.equal(pending, undefined, 'the provider was asked')
  return reply
}

const sessionsOf = async (tenant_id: string) =>
  (await house.asSuperuser('select id from user_session where tenant_id = $1 and provider is not null', [tenant_id]))
    .length

suite('a logout token during the exchange of a code (O16)', () => {
  const reaching: [string, Json, Json][] = [
    ['names the person', {}, { sub: 'anna' }],
    ['names the person, whose session has a name', { sid: 'a' }, { sub: 'anna' }],
    ['names the person and the session', { sid: 'a' }, { sub: 'anna', sid: 'a' }],
    ['names the session alone', { sid: 'a' }, { sid: 'a' }],
    ['names another session of the person, and the provider gave this one no name', {}, { sub: 'anna', sid: 'b' }],
  ]
  for (const [name, claims, named] of reaching) {
    test(`that ${name} ends the sign-in`, async () => {
      const of = await tenant()
      const stage = await provider(of)
      const reply = await signInDuring(stage, 'anna', claims, async () => {
        assert.equal((await send(stage.id, stage.logoutToken(named))).status, 200)
      })
      assert.deepEqual([reply.status, reply.body.code], [401, 'invalid_authorization_code'], reply.text)
      assert.equal(await sessionsOf(of.tenant_id), 0)
      assert.deepEqual(
        (await audit(of)).map(({ type, data }) => [type, data.cause]),
        [
          ['auth.signed_out', 'provider'],
          ['auth.refused', 'signed_out'],
        ],
      )
      assert.ok(await isAlive(await stage.signIn('anna', claims)), 'the next sign-in')
    })
  }

  const missing: [string, Json, Json][] = [
    ['another person', {}, { sub: 'ben' }],
    ['another session of the person', { sid: 'a' }, { sub: 'anna', sid: 'b' }],
    ['another session alone', { sid: 'a' }, { sid: 'b' }],
    ['a session alone, and this one has no name', {}, { sid: 'a' }],
    ['another person’s session by the same name', { sid: 'a' }, { sub: 'ben', sid: 'a' }],
  ]
  for (const [name, claims, named] of missing) {
    test(`that names ${name} ends nothing`, async () => {
      const stage = await provider(await tenant())
      const reply = await signInDuring(stage, 'anna', claims, async () => {
        assert.equal((await send(stage.id, stage.logoutToken(named))).status, 200)
      })
      assert.equal(reply.status, 200, reply.text)
    })
  }

  test('of another tenant’s provider ends nothing', async () => {
    const [one, other] = [await provider(await tenant()), await provider(await tenant())]
    const reply = await signInDuring(one, 'anna', {}, async () => {
      assert.equal((await send(other.id, other.logoutToken({ sub: 'anna' }))).status, 200)
    })
    assert.equal(reply.status, 200, reply.text)
  })

  test('of the global provider ends the sign-in too', async () => {
    const of = await tenant()
    operators.realm.misdeed = {
      meanwhile: async (step) => step === 'token' && send('global', operators.logoutToken({ sub: 'ida' })),
    }
    await assert.rejects(operators.signIn('ida', {}, of), /invalid_authorization_code/)
    operators.realm.misdeed = {}
    assert.ok(await isAlive(await operators.signIn('ida', {}, of)))
  })
})

suite('the sign-in settings that name another issuer (O13)', () => {
  test('end the sessions by the former one, and say so once', async () => {
    const of = await tenant()
    const before = await provider(of)
    const sessions = [await before.signIn('anna'), await before.signIn('ben')]
    const { token, user_id } = of.owner
    await provider(of)
    assert.deepEqual(await Promise.all(sessions.map(isAlive)), [false, false])
    assert.ok(await isAlive({ token, user_id, tenant_id: of.tenant_id }), 'a session by a password')
    assert.deepEqual(await audit(of), [
      {
        ...{ type: 'auth.signed_out', subject_id: of.tenant_id },
        data: { cause: 'provider_changed', provider: before.id },
      },
    ])
  })

  test('end none while the issuer stays, whatever else changes', async () => {
    const before = await provider(await tenant())
    const session = await before.signIn('anna')
    for (const change of [{ client_id: 'another' }, { enabled: false }, { enabled: true }])
      await before.configure(change)
    assert.ok(await isAlive(session))
  })

  test('end the sessions of this tenant alone', async () => {
    const [one, other] = [await tenant(), await tenant()]
    const [mine, theirs] = [await provider(one), await provider(other)]
    const sessions = [await mine.signIn('anna'), await theirs.signIn('anna')]
    await provider(one)
    assert.deepEqual(await Promise.all(sessions.map(isAlive)), [false, true])
  })

  test('end nothing where another change comes first (R1)', async () => {
    const of = await tenant()
    const stage = await provider(of)
    const session = await stage.signIn('anna')
    const beside = openDatabase(house.service, { writes: 1, long: 1 })
    const replies: Promise<Reply>[] = []
    const { body: read } = await stage.asOwner('GET', '/v1/settings/sign-in')
    const late = { ...read, enabled: false, issuer: 'https://late.example.com', client_secret: 'new' }
    await beside.tenant(of.tenant_id).interactive(async (inside) => {
      await inside.write([
        sql`update sign_in_setting set version = version + 1, issuer = 'https://first.example.com'
          where tenant_id = ${of.tenant_id}`,
      ])
      replies.push(stage.asOwner('PUT', '/v1/settings/sign-in', late))
      await aLockIsWaitedFor(house, inside)
    })
    const [reply] = await Promise.all(replies)
    assert.deepEqual([reply?.status, reply?.body.code], [409, 'version_conflict'], reply?.text)
    await beside.close()
    assert.ok(await isAlive(session))
    assert.deepEqual(await audit(of), [])
  })

  test('keep the session of the caller, who can correct a mistake', async () => {
    const of = await tenant()
    const before = await provider(of)
    const [admin, other] = [await before.signIn('anna'), await before.signIn('anna')]
    await house.asSuperuser(
      `insert into user_role (tenant_id, user_id, role_id) values ($1, $2, 'admin') on conflict do nothing`,
      [of.tenant_id, admin.user_id],
    )
    const { body } = await house.call({ method: 'GET', url: '/v1/settings/sign-in', ...admin })
    const changed = { ...body, enabled: false, issuer: 'https://next.example.com', client_secret: 'new' }
    const reply = await house.call({ method: 'PUT', url: '/v1/settings/sign-in', ...admin, body: changed })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual([await isAlive(admin), await isAlive(other)], [true, false])
  })
})
