import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openLogoutStage, type SignedIn } from '../support/logout-stage.ts'

/** Whose sessions a provider’s logout token ends. */
const { house, tenant, provider, operators, send, isAlive, audit, evil } = await openLogoutStage()

/** Sends the token to the provider’s address and asserts that it is obeyed. */
async function obeyed(id: string, token: string): Promise<void> {
  const reply = await send(id, token)
  assert.deepEqual([reply.status, reply.body], [200, {}], reply.text)
}

const allAlive = (...all: SignedIn[]) => Promise.all(all.map(isAlive))

suite('a logout token ends', () => {
  test('every session of the person that it names, and those of nobody else', async () => {
    const { id, signIn, logoutToken } = await provider(await tenant())
    const [one, two, other] = [await signIn('anna'), await signIn('anna', { sid: 's' }), await signIn('ben')]
    await obeyed(id, logoutToken({ sub: 'anna' }))
    assert.deepEqual(await allAlive(one, two, other), [false, false, true])
  })

  test('the session that it names alone, and those of which the provider gave no name (O16)', async () => {
    const { id, signIn, logoutToken } = await provider(await tenant())
    const sessions = [await signIn('anna', { sid: 'a' }), await signIn('anna', { sid: 'b' }), await signIn('anna')]
    const others = [await signIn('ben', { sid: 'c' }), await signIn('ben')]
    await obeyed(id, logoutToken({ sub: 'anna', sid: 'a' }))
    assert.deepEqual(await allAlive(...sessions, ...others), [false, true, false, true, true])
  })

  test('a session by its name alone (O16)', async () => {
    const { id, signIn, logoutToken } = await provider(await tenant())
    const sessions = [await signIn('anna', { sid: 'a' }), await signIn('anna', { sid: 'b' }), await signIn('anna')]
    await obeyed(id, logoutToken({ sid: 'a' }))
    assert.deepEqual(await allAlive(...sessions), [false, true, true])
  })

  test('nothing of a session of another person (O16)', async () => {
    const { id, signIn, logoutToken } = await provider(await tenant())
    const sessions = [await signIn('anna', { sid: 'a' }), await signIn('ben', { sid: 'b' })]
    await obeyed(id, logoutToken({ sub: 'anna', sid: 'b' }))
    await obeyed(id, logoutToken({ sub: 'eve' }))
    await obeyed(id, logoutToken({ sid: 'anna' }))
    await obeyed(id, logoutToken({ sub: 'a' }))
    assert.deepEqual(await allAlive(...sessions), [true, true])
  })

  test('only sessions by this provider: those of passwords live on', async () => {
    const of = await tenant()
    const { id, logoutToken } = await provider(of)
    const { token, user_id } = of.owner
    await obeyed(id, logoutToken({ sub: user_id }))
    assert.ok(await isAlive({ token, tenant_id: of.tenant_id, user_id }))
  })

  test('the sessions of the person by `sub`, also where another claim names the account', async () => {
    const { id, signIn, logoutToken, configure } = await provider(await tenant())
    await configure({ subject_claim: 'oid' })
    const session = await signIn('pairwise', { oid: 'of-anna' })
    await obeyed(id, logoutToken({ sub: 'of-anna' }))
    assert.ok(await isAlive(session))
    await obeyed(id, logoutToken({ sub: 'pairwise' }))
    assert.ok(!(await isAlive(session)))
  })

  test('the sessions of a provider that is disabled meanwhile (O13)', async () => {
    const { id, signIn, logoutToken, configure } = await provider(await tenant())
    const session = await signIn('anna')
    await configure({ enabled: false })
    await obeyed(id, logoutToken({ sub: 'anna' }))
    assert.ok(!(await isAlive(session)))
  })

  test('nothing of the provider that the tenant had before, which may use the same names (O13)', async () => {
    const of = await tenant()
    const before = await provider(of)
    const sessions = [await before.signIn('anna', { sid: 'a' }), await before.signIn('ben')]
    // A session by the former issuer that its change did not end.
    await house.asSuperuser(
      `update user_session set provider = 'aside' where tenant_id = $1 and provider is not null`,
      [of.tenant_id],
    )
    const next = await provider(of)
    assert.equal(next.id, before.id)
    await house.asSuperuser(`update user_session set provider = $2 where tenant_id = $1 and provider = 'aside'`, [
      of.tenant_id,
      next.id,
    ])
    assert.equal((await send(next.id, before.logoutToken({ sub: 'anna' }))).status, 400)
    await obeyed(next.id, next.logoutToken({ sub: 'anna' }))
    await obeyed(next.id, next.logoutToken({ sid: 'a' }))
    assert.deepEqual(await allAlive(...sessions), [true, true])
  })

  test('sessions that live, and says so once for each user, without their names at the provider', async () => {
    const of = await tenant()
    const { id, signIn, logoutToken } = await provider(of)
    const { user_id } = await signIn('anna', { sid: 'secret-sid' })
    await signIn('anna')
    await obeyed(id, logoutToken({ sub: 'anna' }))
    await obeyed(id, logoutToken({ sub: 'anna' }))
    const expected = { type: 'auth.signed_out', subject_id: user_id, data: { cause: 'provider', provider: id } }
    assert.deepEqual(await audit(of), [expected])
  })
})

test('a logout token says nothing of sessions that have ended by themselves', async () => {
  const of = await tenant()
  const { id, signIn, logoutToken } = await provider(of)
  const { user_id } = await signIn('anna')
  await house.asSuperuser('update user_session set live_until = created_at where user_id = $1', [user_id])
  await obeyed(id, logoutToken({ sub: 'anna' }))
  assert.deepEqual(await audit(of), [])
})

suite('tenants with providers of their own', () => {
  test('share an issuer and its names, and are signed out of apart (O16)', async () => {
    const shared = evil.realm()
    const [one, other] = [await provider(await tenant(), {}, shared), await provider(await tenant(), {}, shared)]
    const sessions = [await one.signIn('anna', { sid: 's' }), await other.signIn('anna', { sid: 's' })]
    await obeyed(one.id, one.logoutToken({ sub: 'anna', sid: 's' }))
    assert.deepEqual(await allAlive(...sessions), [false, true])
  })

  test('are not reached by the global provider, nor it by them, even with the same issuer (O16)', async () => {
    const of = await tenant()
    const globally = await operators.signIn('anna', { sid: 's' }, of)
    const { id, signIn, logoutToken } = await provider(of, {}, operators.realm)
    const byOwn = await signIn('anna', { sid: 's', tid: of.tenant_id })
    assert.equal(byOwn.user_id, globally.user_id)
    await obeyed('global', operators.logoutToken({ sub: 'anna', sid: 's' }))
    await obeyed('global', operators.logoutToken({ sid: 's' }))
    assert.deepEqual(await allAlive(globally, byOwn), [false, true])
    await obeyed(id, logoutToken({ sub: 'anna', sid: 's' }))
    assert.ok(!(await isAlive(byOwn)))
  })

  test('nor the other way round', async () => {
    const of = await tenant()
    const globally = await operators.signIn('berta', { sid: 's' }, of)
    const { id, logoutToken } = await provider(of, {}, operators.realm)
    await obeyed(id, logoutToken({ sub: 'berta', sid: 's' }))
    await obeyed(id, logoutToken({ sid: 's' }))
    assert.ok(await isAlive(globally))
  })
})

suite('the global provider', () => {
  test('signs a person out of every tenant, and no other person (O16)', async () => {
    const tenants = [await tenant(), await tenant(), await tenant()] as const
    const [first, second, third] = tenants
    const email = (n: number) => ({ email: `clara${n}@example.com` })
    const sessions = [
      await operators.signIn('clara', email(1), first),
      await operators.signIn('clara', email(2), second),
    ]
    const others = [await operators.signIn('dora', {}, first), await operators.signIn('dora', {}, third)]
    await obeyed('global', operators.logoutToken({ sub: 'clara' }))
    assert.deepEqual(await allAlive(...sessions, ...others), [false, false, true, true])
    for (const [index, of] of tenants.entries()) {
      const causes = (await audit(of)).map(({ type, data }) => [type, data])
      const expected = [['auth.signed_out', { cause: 'provider', provider: 'global' }]]
      assert.deepEqual(causes, index < 2 ? expected : [])
    }
  })

  test('ends one session by its name, in whichever tenant it is (O16)', async () => {
    const [one, other] = [await tenant(), await tenant()]
    const sessions = [
      await operators.signIn('emil', { sid: 'e1' }, one),
      await operators.signIn('emil', { sid: 'e2' }, other),
      await operators.signIn('emil', { sid: 'e1' }, other),
    ]
    await obeyed('global', operators.logoutToken({ sid: 'e1' }))
    assert.deepEqual(await allAlive(...sessions), [false, true, false])
  })
})
