import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { assertSecretKept, claiming, openHostileStage } from '../support/hostile-stage.ts'
import { claimsOf } from '../support/sign-in-stage.ts'

/** The account that a user gets by the provider's claims. */
const { set, house, tenant, people, assertRefused } = await openHostileStage()

async function waiting(name: string, auth_provider = 'oidc'): Promise<{ id: string; email: string }> {
  const email = `${name}@example.com`
  const local = auth_provider === 'local' && { password: 'a long enough password' }
  const { asOwner } = await set({})
  const reply = await asOwner('POST', '/v1/users', { email, name, roles: ['user'], auth_provider, ...local })
  assert.equal(reply.status, 201, reply.text)
  return { id: String(reply.body.id), email }
}
const rolesOf = async (id: string) => {
  const rows = await house.asSuperuser<{ role_id: string }>(
    'select role_id from user_role where tenant_id = $1 and user_id = $2 order by role_id',
    [tenant.tenant_id, id],
  )
  return rows.map((row) => row.role_id)
}

suite('an address does not link a user', () => {
  const verified: unknown[] = [false, undefined, null, 'true', 'false', 1, 0, [], [true], {}, 'yes']
  for (const [n, email_verified] of verified.entries()) {
    test(`if email_verified is ${JSON.stringify(email_verified)}, in the token or in userinfo (O10)`, async () => {
      const { email } = await waiting(`waits-${n}`)
      const claims = { email, email_verified }
      for (const misdeed of [
        claiming(claims),
        {
          ...claiming({ email: undefined, email_verified: true }),
          userinfo: (good: object) => ({ ...good, ...claims }),
        },
      ]) {
        const { realm, walk, finish } = await set(misdeed)
        const before = await people()
        await assertRefused(await finish(await walk(`stranger-${n}`, { email })), /address_not_verified/)
        assert.equal(await people(), before)
        assertSecretKept(realm)
      }
    })
  }

  const odd: unknown[] = [
    undefined,
    null,
    7,
    '',
    'root',
    ['anna@example.com'],
    'a@example.com,b@example.com',
    'a@example.com\0',
  ]
  for (const email of odd) {
    test(`if it is ${JSON.stringify(email)}, and creates none (O10)`, async () => {
      const { walk, finish } = await set(claiming({ email, email_verified: true }))
      const before = await people()
      await assertRefused(await finish(await walk('odd', {})), /no_address/)
      assert.equal(await people(), before)
    })
  }

  test('who has a password, in any spelling of the address (O10)', async () => {
    const { email } = await waiting('local', 'local')
    for (const written of [email, email.toUpperCase(), 'ｌocal@example.com', 'local@EXAMPLE.com']) {
      const { walk, finish } = await set({})
      const before = await people()
      await assertRefused(await finish(await walk('thief', { email: written, email_verified: true })), /address_taken/)
      assert.equal(await people(), before)
    }
  })

  test('who has another account at this provider or another one (O10)', async () => {
    const { id, email } = await waiting('linked')
    const claims = { email, email_verified: true }
    const first = await set({})
    assert.equal(claimsOf(await first.finish(await first.walk('linked', claims))).sub, id)
    const before = await people()
    await assertRefused(await first.finish(await first.walk('LINKED', claims)), /address_taken/)
    assert.equal(await people(), before)
    // The sessions by the first provider end.
    const second = await set({})
    const beforeSecond = await people()
    await assertRefused(await second.finish(await second.walk('linked', claims)), /address_taken/)
    assert.equal(await people(), beforeSecond)
  })
})

suite('a similar address', () => {
  const pairs: [string, string][] = [
    ['paul@fußball.example', 'paul@fussball.example'],
    ['paul@fussball.example', 'paul@fußball.example'],
    ['cfo@straße.example', 'cfo@strasse.example'],
    ['jım@example.com', 'jim@example.com'],
    ['jim@example.com', 'jım@example.com'],
    ['ｊane@example.com', 'jane@example.com'],
  ]
  for (const [verified, prepared] of pairs) {
    test(`links nobody: ${verified} is not ${prepared} (O20)`, async () => {
      const of = await house.tenant('with similar addresses')
      const { walk, finish, asOwner } = await set({}, of)
      const body = { email: prepared, name: 'Prepared', roles: ['admin'], auth_provider: 'oidc' }
      assert.equal((await asOwner('POST', '/v1/users', body)).status, 201)
      const before = await people(of)
      const reply = await finish(await walk('similar', { email: verified, email_verified: true }))
      await assertRefused(reply, /address_similar/, of)
      assert.equal(await people(of), before)
    })
  }

  test('links, if only the domain is written in another form; the audit log names subject and address (O20)', async () => {
    const of = await house.tenant('with one address in two forms')
    const { realm, walk, finish, asOwner } = await set({}, of)
    const body = { email: 'Paul@xn--fuball-cta.example', name: 'Paul', roles: ['user'], auth_provider: 'oidc' }
    const { id } = (await asOwner('POST', '/v1/users', body)).body
    const email = 'paul@fußball.example'
    assert.equal(claimsOf(await finish(await walk('pa\u2028ul\u202e', { email, email_verified: true }))).sub, id)
    const [event] = await house.asSuperuser<{ data: object }>(
      `select data from event where tenant_id = $1 and type = 'user.linked'`,
      [of.tenant_id],
    )
    assert.deepEqual(event?.data, { issuer: realm.issuer, subject: 'pa ul', email })
  })
})

suite('later claims of a provider', () => {
  const grand = {
    groups: ['admin', 'Administrators', 'owner'],
    roles: ['admin'],
    wids: ['62e90394-69f5-4237-9190-012177145e10'],
    is_owner: true,
    scope: 'users:write',
    _claim_names: { groups: 'src1' },
    _claim_sources: { src1: { endpoint: 'https://169.254.169.254/groups' } },
  }
  test('give no role: neither group names, nor three hundred of them, nor a link to them (O11)', async () => {
    const many = Array.from({ length: 300 }, (_, n) => (n === 299 ? 'admin' : `group-${n}`))
    for (const [n, claims] of [grand, { ...grand, groups: many }, { ...grand, groups: undefined }].entries()) {
      const { walk, finish } = await set(claiming(claims))
      const reply = await finish(await walk('grand', { email: `grand-${n}@example.com`, email_verified: true }))
      assert.deepEqual(await rolesOf(claimsOf(reply).sub), ['user'])
    }
  })

  test('change neither the user’s address nor their rights, even with another user’s address (O11)', async () => {
    const { email } = await waiting('chief', 'local')
    const { walk, finish } = await set({})
    const first = claimsOf(await finish(await walk('moves', { email: 'moves@example.com', email_verified: true }))).sub
    for (const next of ['moved@example.com', email, 'owner@example.com', undefined]) {
      const reply = await finish(await walk('moves', { email: next, email_verified: true, ...grand }))
      assert.equal(claimsOf(reply).sub, first)
    }
    assert.deepEqual(await rolesOf(first), ['user'])
    const [row] = await house.asSuperuser<{ email: string }>('select email from tenant_user where id = $1', [first])
    assert.equal(row?.email, 'moves@example.com')
  })

  test('with another sub and the same address are refused (O11)', async () => {
    const { walk, finish } = await set({})
    const claims = { email: 'same@example.com', email_verified: true }
    assert.equal((await finish(await walk('same-1', claims))).status, 200)
    const before = await people()
    await assertRefused(await finish(await walk('same-2', claims)), /address_taken/)
    assert.equal(await people(), before)
  })
})
