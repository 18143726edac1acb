import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import type { Database } from '../../src/db/transaction.ts'
import type { Statement } from '../../src/kernel/context.ts'
import type { Answer } from '../support/hostile-provider.ts'
import { openLogoutStage, type SignedIn } from '../support/logout-stage.ts'
import { rewrittenDatabase } from '../support/rewritten-database.ts'
import { until } from '../support/wait.ts'

/** Logout tokens while the provider, the database or the settings fail or change. */
const faults = { in: undefined as RegExp | undefined, afterEnding: false, clockReads: 0 }

/** Fails the statements that `faults.in` matches, and the connection after the sessions were ended. */
function faulty(statement: Statement): Statement {
  if (statement.text === 'select clock_timestamp() as now') faults.clockReads += 1
  if (faults.in?.test(statement.text)) throw new Error('the database is gone')
  return statement
}

function through(database: Database): Database {
  const rewritten = rewrittenDatabase(database, faulty)
  return {
    ...rewritten,
    tenant(tenant_id) {
      const tx = rewritten.tenant(tenant_id)
      return {
        ...tx,
        async interactive(work) {
          const result = await tx.interactive(work)
          if (faults.afterEnding) throw new Error('the connection is lost after the commit')
          return result
        },
      }
    },
  }
}

const { house, tenant, provider, operators, send, isAlive, audit } = await openLogoutStage(through, true)
beforeEach(() => {
  Object.assign(faults, { in: undefined, afterEnding: false, clockReads: 0 })
})

const failing = (good: Answer): Answer => ({ ...good, status: 500 })

suite('a logout token whose check or work fails', () => {
  test('because the provider’s keys cannot be fetched can be sent again (O12)', async () => {
    const of = await tenant()
    const { id, realm, signIn, logoutToken, configure } = await provider(of)
    const anna = await signIn('anna')
    // A changed client has nothing of the provider in its cache.
    await configure({ client_secret: 'another secret' })
    const token = logoutToken({ sub: 'anna' })
    for (const answer of [{ discovery: failing }, { jwks: failing }, { jwks: () => 'cut' as const }]) {
      realm.misdeed = { answer }
      const reply = await send(id, token)
      assert.deepEqual([reply.status, reply.body.code], [503, 'unavailable'], reply.text)
      assert.match(String(reply.body.message), /send the token again/)
      assert.ok(await isAlive(anna))
    }
    assert.deepEqual(await audit(of), [])
    realm.misdeed = {}
    assert.equal((await send(id, token)).status, 200)
    assert.ok(!(await isAlive(anna)))
  })

  test('because the database fails first can be sent again', async () => {
    const { id, signIn, logoutToken } = await provider(await tenant())
    const anna = await signIn('anna')
    const token = logoutToken({ sub: 'anna' })
    for (const statement of [
      /select tenant_id from sign_in_setting/,
      /into logout_token/,
      /^delete from user_session/,
    ]) {
      faults.in = statement
      assert.equal((await send(id, token)).status, 500)
    }
    faults.in = undefined
    assert.ok(await isAlive(anna))
    assert.equal((await send(id, token)).status, 200)
    assert.ok(!(await isAlive(anna)))
  })

  test('because the database fails before it is noted as obeyed can be sent again', async () => {
    const of = await tenant()
    const { id, signIn, logoutToken } = await provider(of)
    const anna = await signIn('anna')
    const token = logoutToken({ sub: 'anna' })
    faults.in = /update logout_token/
    assert.equal((await send(id, token)).status, 500)
    assert.ok(!(await isAlive(anna)))
    faults.in = undefined
    assert.equal((await send(id, token)).status, 200)
    assert.equal((await send(id, token)).status, 400)
    const signOuts = (await audit(of)).filter(({ type }) => type === 'auth.signed_out')
    assert.equal(signOuts.length, 1)
  })

  test('in one of several tenants ends the sessions in the others when it is sent again', async () => {
    const [one, other] = [await tenant(), await tenant()]
    const sessions = [await operators.signIn('ida', {}, one), await operators.signIn('ida', {}, other)]
    const token = operators.logoutToken({ sub: 'ida' })
    faults.afterEnding = true
    assert.equal((await send('global', token)).status, 500)
    assert.equal((await Promise.all(sessions.map(isAlive))).filter(Boolean).length, 1)
    faults.afterEnding = false
    assert.equal((await send('global', token)).status, 200)
    assert.deepEqual(await Promise.all(sessions.map(isAlive)), [false, false])
  })
})

suite('the process that obeys a logout token', () => {
  // Without the database's notices, of which the process gets its own too.
  const notices = (change: 'disable' | 'enable') =>
    house.asSuperuser(`alter table user_session ${change} trigger user_session_gone`)
  before(() => notices('disable'))
  after(() => notices('enable'))

  for (const afterEnding of [false, true]) {
    const when = afterEnding ? ', even if its connection is lost after the commit' : ''
    test(`refuses the tokens of the session at once${when}`, async () => {
      const { id, signIn, logoutToken } = await provider(await tenant())
      const anna = await signIn('anna')
      await until('the process keeps credentials', async () => house.app.followsChanges())
      assert.ok(await isAlive(anna))
      faults.afterEnding = afterEnding
      assert.equal((await send(id, logoutToken({ sub: 'anna' }))).status, afterEnding ? 500 : 200)
      assert.ok(!(await isAlive(anna)))
    })
  }
})

suite('a logout token whose provider changes', () => {
  test('to another client is for that client alone (O13)', async () => {
    const { id, signIn, logoutToken, configure } = await provider(await tenant())
    const anna = await signIn('anna')
    await configure({ client_id: 'another' })
    assert.equal((await send(id, logoutToken({ sub: 'anna' }))).status, 400)
    assert.ok(await isAlive(anna))
    assert.equal((await send(id, logoutToken({ sub: 'anna', aud: 'another' }))).status, 200)
    assert.ok(!(await isAlive(anna)))
  })

  test('or is disabled while its keys are fetched is obeyed (O13)', async () => {
    const { id, realm, signIn, logoutToken, configure } = await provider(await tenant())
    const anna = await signIn('anna')
    await configure({ client_secret: 'another secret' })
    realm.misdeed = { meanwhile: async (step) => step === 'jwks' && configure({ enabled: false }) }
    assert.equal((await send(id, logoutToken({ sub: 'anna' }))).status, 200)
    assert.ok(!(await isAlive(anna)))
  })
})

suite('many logout tokens at once', () => {
  const atOnce = 64

  test('are all obeyed, and take no places of sign-ins (O14)', async () => {
    const { id, realm, signIn, logoutToken, configure } = await provider(await tenant())
    const names = Array.from({ length: atOnce }, (_, n) => `user-${n}`)
    const sessions: SignedIn[] = []
    for (const name of names) sessions.push(await signIn(name))
    await configure({ client_secret: 'another secret' })
    const { promise, resolve: letGo } = Promise.withResolvers<void>()
    realm.received.length = 0
    realm.misdeed = { meanwhile: (step) => (step === 'jwks' ? promise : Promise.resolve()) }
    faults.clockReads = 0
    const replies = Promise.all(names.map((sub) => send(id, logoutToken({ sub }))))
    await until('all tokens wait for the keys', async () => faults.clockReads === atOnce && realm.countOf('jwks') > 0)
    const begin = new URLSearchParams({
      tenant: sessions[0]?.tenant_id ?? '',
      redirect_uri: 'https://app.example.com/back',
    })
    const begun = await house.call({ method: 'GET', url: `/v1/auth/authorize?${begin}` })
    assert.equal(begun.status, 302, begun.text)
    letGo()
    assert.deepEqual(
      (await replies).map(({ status }) => status),
      names.map(() => 200),
    )
    assert.equal(realm.countOf('jwks'), 1)
    for (const session of sessions) assert.ok(!(await isAlive(session)))
  })
})
