import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Misdeed } from '../support/hostile-provider.ts'
import { openHostileStage } from '../support/hostile-stage.ts'
import type { TestTenant } from '../support/house.ts'
import { claimsOf } from '../support/sign-in-stage.ts'

/** What a tenant trusts in the claims of its provider. */
const { set, house, people, assertRefused, refusals } = await openHostileStage()

suite('a first sign-in with an unverified address', () => {
  const vera = { email: 'vera@ops.corp.example', email_verified: false, name: 'Vera' }
  const allow = async (of: TestTenant) => {
    const { asOwner } = await set({}, of)
    const reply = await asOwner('PUT', '/v1/settings/auth.allow_unverified_email', { value: 'true' })
    assert.equal(reply.status, 200, reply.text)
  }

  test('creates no user (O21)', async () => {
    const { walk, finish } = await set({})
    for (const email_verified of [false, undefined, null, 'true', 1]) {
      const before = await people()
      const reply = await finish(await walk('vera', { ...vera, email_verified }))
      await assertRefused(reply, /address_not_verified/)
      assert.equal(await people(), before)
    }
  })

  test('creates one without roles, where the tenant allows it, until the provider verifies the address (O21)', async () => {
    const of = await house.tenant('that allows unverified addresses')
    await allow(of)
    const { walk, finish, asOwner } = await set({}, of)
    const { sub } = claimsOf(await finish(await walk('vera', vera)))
    const shown = async () => {
      const { roles, email_verified } = (await asOwner('GET', `/v1/users/${sub}`)).body
      return { roles, email_verified }
    }
    assert.deepEqual(await shown(), { roles: [], email_verified: false })
    for (const claims of [vera, { ...vera, email: 'vera@other.example', email_verified: true }]) {
      assert.equal(claimsOf(await finish(await walk('vera', claims))).sub, sub)
      assert.deepEqual(await shown(), { roles: [], email_verified: false })
    }
    await finish(await walk('vera', { ...vera, email_verified: true }))
    assert.deepEqual(await shown(), { roles: [], email_verified: true })
  })

  test('links no prepared user, even where the tenant allows it (O21)', async () => {
    const of = await house.tenant('that allows them, with a prepared user')
    await allow(of)
    const { walk, finish, asOwner } = await set({}, of)
    const body = { email: vera.email, name: 'Vera', roles: ['admin'], auth_provider: 'oidc' }
    assert.equal((await asOwner('POST', '/v1/users', body)).status, 201)
    await assertRefused(await finish(await walk('vera', vera)), /address_not_verified/, of)
  })
})

suite('an address counts as verified', () => {
  const claims: [string, object, object, boolean][] = [
    ['if the claim says so', {}, { email_verified: true }, true],
    ['not without a claim', {}, {}, false],
    ['never, if the tenant says so', { email_trust: 'never' }, { email_verified: true }, false],
    ['always, if the tenant says so', { email_trust: 'always' }, {}, true],
    [
      'always, if the tenant says so, whatever the claim says',
      { email_trust: 'always' },
      { email_verified: false },
      true,
    ],
    ['by Entra’s claim', {}, { xms_edov: true }, true],
    ['by Entra’s claim as a text', {}, { xms_edov: '1' }, true],
    ['by Entra’s claim as a number', {}, { xms_edov: 1 }, true],
    ['not by Entra’s claim that denies it', {}, { xms_edov: false }, false],
    ['not by Entra’s claim that denies it as a text', {}, { xms_edov: '0' }, false],
    ['not by Entra’s claim against the usual one', {}, { email_verified: false, xms_edov: true }, false],
  ]
  for (const [n, [name, change, claim, verified]] of claims.entries()) {
    test(`${name} (O10)`, async () => {
      const of = await house.tenant(name)
      const { walk, finish, configure } = await set({}, of)
      await configure(change)
      const reply = await finish(await walk(`edith-${n}`, { email: 'edith@example.com', ...claim }))
      if (verified) assert.equal(reply.status, 200, reply.text)
      else await assertRefused(reply, /address_not_verified/, of)
    })
  }
})

suite('a person is identified', () => {
  test('by oid, where the tenant says so, whatever their `sub` is (O11)', async () => {
    const of = await house.tenant('with Entra')
    const { walk, finish, configure } = await set({}, of)
    await configure({ subject_claim: 'oid' })
    const ida = { email: 'ida@example.com', xms_edov: true, oid: 'b0a1' }
    const { sub } = claimsOf(await finish(await walk('ida-in-one-app', ida)))
    assert.equal(claimsOf(await finish(await walk('ida-in-another-app', ida))).sub, sub)
    await assertRefused(await finish(await walk('ida-in-one-app', { ...ida, oid: 'b0a2' })), /address_taken/, of)
  })

  for (const oid of [undefined, null, '', 7, ['b0a1'], 'x'.repeat(256), 'a\0b']) {
    test(`not without a valid oid: ${JSON.stringify(oid)?.slice(0, 20)} (O8)`, async () => {
      const of = await house.tenant('with Entra, and without oid')
      const { walk, finish, configure } = await set({}, of)
      await configure({ subject_claim: 'oid' })
      const claims = { email: 'ira@example.com', xms_edov: true, oid }
      await assertRefused(await finish(await walk('ira', claims)), /the subject \(`oid`\)/, of)
    })
  }
})

test('a provider’s name for a person contains no characters that reorder or break a line', async () => {
  const { walk, finish, asOwner } = await set({})
  const name = '\u202eAda\u2066 Love\u2028lace\u200f'
  const { sub } = claimsOf(await finish(await walk('ada', { email: 'ada@example.com', email_verified: true, name })))
  assert.equal((await asOwner('GET', `/v1/users/${sub}`)).body.name, 'Ada Love lace')
})

suite('refusals are all kept, up to a hundred in an hour, and then counted:', () => {
  const vera = { email: 'vera@example.com', email_verified: true }
  const unverified = { ...vera, email_verified: false }
  const denied: Misdeed = { answer: { token: (good) => ({ ...good, status: 400 }) } }
  const down: Misdeed = { answer: { token: (good) => ({ ...good, status: 503 }) } }

  test('the 128th is the next one (O13)', async () => {
    const of = await house.tenant('of one state')
    const { walk, finish } = await set({}, of)
    const used = await walk('vera', vera)
    for (let n = 0; n <= 200; n += 1) await finish(used)
    const rows = await house.asSuperuser<{ times: number | null }>(
      `select (data -> 'times')::integer as times from event
        where tenant_id = $1 and type = 'auth.refused' order by seq`,
      [of.tenant_id],
    )
    assert.deepEqual(
      rows.map((row) => row.times),
      [...Array(100).fill(null), 128],
    )
  })

  test('neither strangers nor a provider nor its outages hide the others (O13)', async () => {
    const of = await house.tenant('of many refusals')
    const { realm, walk, finish, configure } = await set({}, of)
    const refused = async (claims: object, why: RegExp, change: object = {}) => {
      await finish({ ...(await walk('vera', claims)), ...change })
      const last = (await refusals(of)).at(-1)
      assert.match(`${last?.cause}: ${last?.reason}`, why)
    }
    const flood = async (change: object) => {
      for (let n = 0; n <= 100; n += 1) await finish({ ...(await walk('vera', vera)), ...change })
    }
    await flood({ redirect_uri: 'https://evil.example' })
    await refused(unverified, /^address_not_verified/)
    await flood({ code: 'made up' })
    realm.misdeed = denied
    await refused(vera, /^provider: (?!invalid_grant)/)
    await flood({})
    realm.misdeed = down
    await refused(vera, /^provider_unavailable/)
    await flood({})
    realm.misdeed = {}
    await refused(unverified, /^address_not_verified/)
    realm.misdeed = { meanwhile: async (step) => step === 'token' && configure({ enabled: false }) }
    await refused(vera, /^provider_disabled/)
  })
})
