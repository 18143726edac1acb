import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { openDatabase } from '../../src/db/transaction.ts'
import { systemActor } from '../../src/kernel/context.ts'
import { findSignInSetting, providerIsStill } from '../../src/settings/sign-in-setting-store.ts'
import { insertProviderUser, linkUser, noteSignIn } from '../../src/users/provider-user-store.ts'
import { openHostileStage } from '../support/hostile-stage.ts'
import type { Reply, TestTenant } from '../support/house.ts'
import { locksAreWaitedFor } from '../support/lock.ts'
import { aSession } from '../support/session.ts'
import { anna } from '../support/sign-in-stage.ts'

/** A tenant's sign-in settings that change during a sign-in. */
const { set, house, people, assertRefused } = await openHostileStage()

suite('a setting that changes while a sign-in is under way', () => {
  const changes: [string, object, string][] = [
    ['to another client', { client_id: 'another' }, 'provider_changed'],
    ['to less trust', { email_trust: 'never' }, 'provider_changed'],
    ['and is disabled', { enabled: false }, 'provider_disabled'],
  ]
  for (const [name, change, cause] of changes) {
    test(`${name}: no user is signed in (O13)`, async () => {
      const of = await house.tenant(`whose setting changes ${name}`)
      const { realm, walk, finish, configure } = await set({}, of)
      const answer = await walk('anna', anna, of)
      const before = await people(of)
      realm.misdeed = { meanwhile: async (step) => step === 'token' && configure(change) }
      await assertRefused(await finish(answer), new RegExp(cause), of)
      assert.equal(await people(of), before)
    })
  }
})

suite('a first sign-in', () => {
  const account = { issuer: 'https://id.example.com', subject: 'anna', ...anna }
  /** Both ways to begin, each undefined if it is refused. */
  async function begin(of: TestTenant, version: string | undefined) {
    const ctx = { tx: house.database.tenant(of.tenant_id), actor: systemActor, request_id: 'test' }
    const provider = providerIsStill(ctx.tx, version)
    const [user] = await house.asSuperuser<{ id: string }>(
      `select id from tenant_user where tenant_id = $1 and auth_provider = 'oidc' and subject is null`,
      [of.tenant_id],
    )
    return {
      linked: await linkUser(ctx, account, { id: String(user?.id), verifies: true, directory_id: null }, provider),
      made: await insertProviderUser(ctx, { ...account, subject: 'ben', email: 'ben@example.com' }, provider),
    }
  }
  const prepared = async (name: string) => {
    const of = await house.tenant(name)
    const ways = await set({}, of)
    const { version } = (await findSignInSetting(house.database.tenant(of.tenant_id))) ?? assert.fail()
    const body = { email: anna.email, name: 'Anna', roles: ['user'], auth_provider: 'oidc' }
    assert.equal((await ways.asOwner('POST', '/v1/users', body)).status, 201)
    return { of, version, ...ways }
  }
  const nothing = { linked: undefined, made: undefined }

  test('neither links nor creates a user once the provider has changed or is disabled (O13)', async () => {
    const { of, version, configure } = await prepared('that changes between reading and writing')
    await configure({ email_trust: 'never' })
    assert.deepEqual(await begin(of, version), nothing)
    await configure({ enabled: false })
    assert.deepEqual(await begin(of, String(BigInt(version) + 2n)), nothing)
    await configure({ enabled: true })
    const { linked, made } = await begin(of, String(BigInt(version) + 3n))
    assert.ok(linked && made)
  })

  test('by the global provider does neither while the tenant’s own is enabled (O22)', async () => {
    const { of, configure } = await prepared('with a provider of its own')
    assert.deepEqual(await begin(of, undefined), nothing)
    await configure({ enabled: false })
    const { linked, made } = await begin(of, undefined)
    assert.ok(linked && made)
  })

  test('that waits for its user comes before a change of the settings (O13)', async () => {
    const { of, walk, finish, configure } = await prepared('that waits')
    const answer = await walk('anna', anna, of)
    const beside = openDatabase(house.service, { writes: 1, long: 1 })
    const calls: Promise<Reply>[] = []
    await beside.tenant(of.tenant_id).interactive(async (inside) => {
      await inside.write([sql`select from tenant_user where tenant_id = ${of.tenant_id} for update`])
      calls.push(finish(answer))
      await locksAreWaitedFor(house, 1)
      calls.push(configure({ enabled: false }))
      await locksAreWaitedFor(house, 2)
    })
    const [signedIn, changed] = (await Promise.all(calls)).map(({ status }) => status)
    // The user was linked in time. The session begins after that, and perhaps after the change.
    assert.ok([200, 401].includes(Number(signedIn)))
    assert.equal(changed, 200)
    await beside.close()
    const events = await house.asSuperuser<{ type: string }>(
      `select type from event where tenant_id = $1 and type in ('user.linked', 'setting.updated') order by xid, seq`,
      [of.tenant_id],
    )
    assert.deepEqual(
      events.map(({ type }) => type),
      ['setting.updated', 'user.linked', 'setting.updated'],
    )
  })

  test('of a known user begins no session once the provider has changed (O13)', async () => {
    const { of, version, configure } = await prepared('with a known user')
    const { linked } = await begin(of, version)
    const ctx = { tx: house.database.tenant(of.tenant_id), actor: systemActor, request_id: 'test' }
    const session = aSession()
    const signIn = () =>
      noteSignIn(
        ctx,
        { user_id: String(linked), verifies: true },
        { data: {}, session, provider: providerIsStill(ctx.tx, version) },
      )
    await configure({ email_trust: 'never' })
    assert.equal(await signIn(), undefined)
    const stored = () => house.asSuperuser('select id from user_session where id = $1', [session.id])
    assert.deepEqual(await stored(), [])
    await house.asSuperuser('update sign_in_setting set version = $2 where tenant_id = $1', [of.tenant_id, version])
    assert.ok((await signIn())?.now instanceof Date)
    assert.equal((await stored()).length, 1)
  })
})
