import assert from 'node:assert/strict'
import { mock, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import type { Misdeed, Realm, Step, Worse } from '../support/hostile-provider.ts'
import { assertSecretKept, claiming, openHostileStage } from '../support/hostile-stage.ts'
import type { Reply, TestTenant } from '../support/house.ts'
import { anna, claimsOf, type Finish, own, redirect_uri, signInWays } from '../support/sign-in-stage.ts'
import type { Json } from '../support/token-forge.ts'
import { until } from '../support/wait.ts'

/** A slow provider, and the caching of a provider's data. */
const stage = await openHostileStage()
const { set, assertComesToNothing, assertUnavailable, people, tenant, house, evil } = stage

/** Leaves the address to the userinfo endpoint, so that it is called. */
const terse: Misdeed = claiming({ email: undefined })

suite('a slow provider', () => {
  const slow: [Step, Worse][] = [
    ['token', 'hang'],
    ['token', 'drip'],
    ['jwks', 'hang'],
    ['jwks', 'drip'],
    ['userinfo', 'hang'],
    ['userinfo', 'drip'],
  ]
  test('is waited for with a deadline, at each step (O12, O14, S1)', async () => {
    const attempts = slow.map(async ([step, worse]) => {
      const of = await house.tenant(`of a ${step} that does ${worse}`)
      const { realm, walk, finish } = await set(
        { ...(step === 'userinfo' && terse), answer: { [step]: () => worse } },
        of,
      )
      const before = await people(of)
      await assertUnavailable(await finish(await walk('anna', anna, of)), of)
      assert.equal(await people(of), before)
      assertSecretKept(realm)
    })
    await Promise.all(attempts)
  })

  test('is waited for with a deadline before a sign-in begins (O12, O14, S1)', async () => {
    const { begin } = await set({ answer: { discovery: () => 'drip' } })
    assert.equal((await begin()).status, 503)
  })

  test('holds up at most thirty-two sign-ins, while others continue, and later works again (O14)', async () => {
    const busy = await house.tenant('of a busy provider')
    const { realm, walk, finish } = await set({ answer: { token: () => 'hang' } }, busy)
    const answers: Finish[] = []
    for (let n = 0; n < 40; n += 1) answers.push(await walk(`anna-${n}`, anna, busy))
    const replies = Promise.all(answers.map((answer) => finish(answer)))
    const other = await set({})
    const reply = await other.finish(await other.walk('quick', { ...anna, email: 'quick@example.com' }))
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(new Set((await replies).map(({ status }) => status)), new Set([503]))
    assert.equal(realm.countOf('token'), 32)
    realm.misdeed.answer = {}
    assert.ok(claimsOf(await finish(await walk('anna', anna, busy))).sub)
  })

  test('frees its slot after half an answer or another protocol (O14)', async () => {
    const { realm, walk, finish } = await set({})
    for (let n = 0; n < 33; n += 1) {
      realm.misdeed.answer = { token: () => (n % 2 === 0 ? 'switch' : 'cut') }
      await assertUnavailable(await finish(await walk('again', anna)))
    }
    realm.misdeed.answer = {}
    const reply = await finish(await walk('again', { ...anna, email: 'again@example.com' }))
    assert.equal(reply.status, 200, reply.text)
  })
})

suite('trials of issuers that hang', () => {
  let trying: (() => void)[] = []
  const hangs: Misdeed = { meanwhile: () => new Promise<void>((done) => trying.push(done)) }
  const hanging = evil.realm(hangs)
  const put = ({ owner, tenant_id }: TestTenant, { issuer }: Realm, headers = {}) => {
    const body = { issuer, client_id: own.client_id, client_secret: own.client_secret, redirect_uris: [redirect_uri] }
    return house.call({ method: 'PUT', url: '/v1/settings/sign-in', token: owner.token, tenant_id, body, headers })
  }
  /** Does something while the tenants try the issuer; returns the answers to the trials, which are faults. */
  async function meanwhile(tenants: TestTenant[], work: () => Promise<void>, headers = {}): Promise<Reply[]> {
    trying = []
    hanging.misdeed = hangs
    const replies = tenants.map((of) => put(of, hanging, headers))
    await until('the issuers are being tried', async () => trying.length === tenants.length)
    await work()
    hanging.misdeed = { answer: { discovery: (good) => ({ ...good, status: 503 }) } }
    for (const done of trying) done()
    return Promise.all(replies)
  }
  /** A trial has a deadline, so on a slow machine it may be over before the work begins: then again. */
  const untilRefused = (tenants: TestTenant[], of: TestTenant) =>
    until('another trial is refused', async () => {
      const replies: Reply[] = []
      await meanwhile(tenants, async () => {
        replies.push(await put(of, evil.realm()))
      })
      return replies[0]?.status === 503 && /other issuers are being tried/.test(replies[0].text)
    })

  test('take no place of a sign-in or of another tenant, and hold no connection (O14, S1)', async () => {
    const of = await house.tenant('that tries')
    const other = await house.tenant('that tries too')
    const { walk, finish } = await set({}, of)
    const key = { 'idempotency-key': newId() }
    const work = async () => {
      assert.deepEqual([house.database.load().busy, house.database.load().waiting], [0, 0])
      assert.equal((await finish(await walk('anna', anna, of))).status, 200)
      assert.equal((await put(other, evil.realm())).status, 200)
    }
    const [reply] = await meanwhile([of], work, key)
    assert.deepEqual([reply?.status, reply?.body.code], [400, 'invalid_input'], reply?.text)
    hanging.misdeed = {}
    const saved = await put(of, hanging, key)
    assert.equal(saved.status, 200, 'the answer to the trial is not kept')
    await put(of, evil.realm())
    hanging.misdeed = { answer: { discovery: (good) => ({ ...good, status: 404 }) } }
    assert.deepEqual((await put(of, hanging, key)).body, saved.body, 'a call that was answered makes no trial')
    const third = await house.tenant('that tries twice')
    await untilRefused([third], third)
  })

  test('are at most eight (O14, S1)', async () => {
    const tenants: TestTenant[] = []
    for (let n = 0; n < 9; n += 1) tenants.push(await house.tenant(`number ${n} that tries`))
    await untilRefused(tenants.slice(1), tenants[0] ?? assert.fail())
  })
})

suite('the keys of a provider', () => {
  const odd: [string, (good: Json[]) => unknown, RegExp][] = [
    ['none', () => [], /key/],
    ['not a list', () => ({}), /keys/],
    ['null', () => null, /keys/],
    ['a list of texts', () => ['rsa-1'], /keys/],
    ['only shared secrets', () => [{ kty: 'oct', k: 'AAAA', kid: 'rsa-1', alg: 'RS256' }], /key/],
    ['without their moduli', (good) => good.map(({ n: _, ...key }) => key), /provider: /],
  ]
  for (const [name, keys, why] of odd) test(`are refused: ${name} (O12)`, () => assertComesToNothing({ keys }, why))

  test('are fetched once for many sign-ins, and again for an unknown key id, at most every ten seconds (O12, O23)', async () => {
    const { realm, walk, finish } = await set({})
    const unknownKey = async () => finish(await walk('kept', anna))
    const fetches = () => [realm.countOf('jwks'), realm.countOf('discovery')]
    // The clock that ages keys stands still, so that a slow machine does not let ten seconds pass.
    const start = Date.now() - 10_001
    mock.timers.enable({ apis: ['Date'], now: start })
    try {
      for (let n = 0; n < 5; n += 1)
        assert.equal((await finish(await walk('kept', { ...anna, email: 'kept@example.com' }))).status, 200)
      realm.misdeed.header = (good) => ({ ...good, kid: 'another' })
      await assertUnavailable(await unknownKey())
      assert.deepEqual(fetches(), [1, 1])
      mock.timers.setTime(start + 10_001)
      await stage.assertRefused(await unknownKey(), /no applicable key/)
      for (let n = 0; n < 5; n += 1) await assertUnavailable(await unknownKey())
      assert.deepEqual(fetches(), [2, 1])
    } finally {
      mock.timers.reset()
    }
  })

  test('and its metadata are cached only for a tenant’s current provider (O12)', async () => {
    const first = evil.realm()
    const ways = signInWays(house, first, () => tenant)
    for (const change of [1, 2]) {
      await ways.configure()
      const tried = first.countOf('discovery')
      assert.equal((await ways.begin()).status, 302)
      assert.equal((await ways.begin()).status, 302)
      assert.equal(first.countOf('discovery') - tried, 1, `after change ${change}`)
      assert.equal((await (await set({})).begin()).status, 302)
    }
  })
})
