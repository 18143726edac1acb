import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type pg from 'pg'
import { hours, madeLoginsStage, patient } from '../../../test/support/made-logins-stage.ts'
import { inputOf, noTx } from '../../../test/support/postgresql-stage.ts'
import { newId } from '../../kernel/id.ts'
import type { Plan, PlanInput } from '../driver.ts'
import { nameOfMade } from './made-login.ts'
import { markOf } from './made-mark.ts'

suite('the name of a made login', () => {
  const first_grant_id = '019f4a3b-5c6d-7e8f-9a0b-1c2d3e4f5a6b'
  const names: [email: string, person: string][] = [
    ['ada@example.com', 'ada'],
    ['Ada.Lovelace+db@example.com', 'ada_lovelace_db'],
    ['4da@example.com', 'u_4da'],
    ['pg_ada@example.com', 'u_pg_ada'],
    ['ädä@example.com', 'd'],
    ['"; drop role x; --"@example.com', 'drop_role_x'],
    [`${'a'.repeat(64)}@example.com`, 'a'.repeat(22)],
    ['…@example.com', 'u'],
  ]
  for (const [email, person] of names) {
    test(`of ${email} is safe anywhere`, () => {
      const user = { id: newId(), email, name: 'Ada', external_id: null }
      const name = nameOfMade({ user, first_grant_id })
      assert.equal(name, `${person}_019f4a3b5c6d7e8f9a0b1c2d3e4f5a6b`)
      assert.match(name, /^[a-z][a-z0-9_]{1,54}$/)
    })
  }
})

suite('on PostgreSQL 18 with logins that Sallyport makes', async () => {
  const { server, driver } = await madeLoginsStage()

  const plan = (input: PlanInput) => driver.plan(noTx, input, patient)
  const give = async ({ target }: Plan, end = hours(1)) => void (await driver.grant(noTx, target, end, patient))
  const verify = ({ target }: Plan, end: Date | null) => driver.verify(noTx, target, end, patient)
  const loginOf = ({ recorded_as }: Plan) => recorded_as ?? ''
  const rolesLike = async (name: string) =>
    (
      await server.asSuperuser<{ name: string }>('select rolname as name from pg_roles where rolname like $1', [name])
    ).map((row) => row.name)
  const signIn = async (login: string) => {
    await server.asSuperuser(`alter role ${login} password 'known'`)
    return server.signIn(login, 'known')
  }
  const read = async (client: pg.Client) => (await client.query('select number from orders')).rows

  test('the health check passes', async () => {
    const checks = await driver.health(noTx, patient)
    assert.deepEqual(
      checks.filter(({ ok }) => !ok),
      [],
    )
  })

  test('a grant makes a login without a password, which ends by itself a minute after its end', async () => {
    const planned = await plan(inputOf('ada@example.com'))
    assert.match(loginOf(planned), /^ada_[0-9a-f]{32}$/)
    const end = hours(1)
    await give(planned, end)
    const [row] = await server.asSuperuser(
      `select rolpassword is null as no_password, extract(epoch from rolvaliduntil - $2)::int as grace,
        rolcanlogin as can_login,
        rolcreaterole or rolsuper or rolcreatedb or rolreplication or rolbypassrls as is_powerful
        from pg_authid where rolname = $1`,
      [loginOf(planned), end],
    )
    assert.deepEqual(row, { no_password: true, grace: 60, can_login: true, is_powerful: false })
    assert.equal(await verify(planned, end), 'held')
    assert.equal(await verify(planned, hours(3)), 'ends_early')
    assert.deepEqual(await read(await signIn(loginOf(planned))), [{ number: 42 }])
  })

  test('an extension goes on with the login, and two grants of one user have two', async () => {
    const input = inputOf('ada@example.com')
    const [first, extended, other] = [
      await plan(input),
      await plan({ ...input, grant_id: newId() }),
      await plan(inputOf('ada@example.com')),
    ]
    assert.equal(first.key, extended.key)
    assert.notEqual(first.key, other.key)
    await give(first, hours(1))
    const client = await signIn(loginOf(first))
    await give(extended, hours(2))
    assert.deepEqual(await read(client), [{ number: 42 }])
    assert.equal(await verify(extended, hours(2)), 'held')
  })

  test('a login whose limit of connections was lifted gets it again with an extension', async () => {
    const planned = await plan(inputOf('ada@example.com'))
    await give(planned)
    await server.asSuperuser(`alter role ${loginOf(planned)} connection limit -1`)
    await give(planned, hours(2))
    const limit = 'select rolconnlimit as "limit" from pg_roles where rolname = $1'
    assert.deepEqual(await server.asSuperuser(limit, [loginOf(planned)]), [{ limit: 20 }])
  })

  test('the end drops the login, and closes its connections', async () => {
    const planned = await plan(inputOf('ada@example.com'))
    await give(planned)
    const client = await signIn(loginOf(planned))
    await client.query(`begin; alter role current_user password 'another'`)
    assert.deepEqual(await driver.revoke(noTx, planned.target, patient), { done: true })
    assert.deepEqual(await driver.revoke(noTx, planned.target, patient), { done: true })
    await assert.rejects(client.query('select 1'))
    assert.deepEqual(await rolesLike(loginOf(planned)), [])
    assert.equal(await verify(planned, null), 'absent')
    assert.equal(await verify(planned, hours(1)), 'absent')
  })

  test('a role of its name that Sallyport did not make is not taken over, and not dropped', async () => {
    const planned = await plan(inputOf('eve@example.com'))
    await server.asSuperuser(`create role ${loginOf(planned)} login`)
    const refused = { kind: 'permanent', message: /that Sallyport did not make/ }
    await assert.rejects(plan({ ...inputOf('eve@example.com'), first_grant_id: firstOf(planned) }), refused)
    await assert.rejects(give(planned), refused)
    assert.deepEqual(await driver.revoke(noTx, planned.target, patient), { done: true })
    assert.deepEqual(await rolesLike(loginOf(planned)), [loginOf(planned)])
    await server.asSuperuser(`drop role ${loginOf(planned)}`)
  })

  test('its user can change neither its end nor its mark nor its rights, and grant it to nobody', async () => {
    const planned = await plan(inputOf('ada@example.com'))
    await give(planned)
    const login = loginOf(planned)
    const client = await signIn(login)
    for (const statement of [
      `alter role ${login} valid until 'infinity'`,
      `alter role ${login} createrole`,
      `comment on role ${login} is 'mine'`,
      `grant ${login} to app_readonly`,
      'grant app_readonly to sallyport',
      'create role another',
    ]) {
      await assert.rejects(client.query(statement), /permission denied/, statement)
    }
    await client.query(`alter role ${login} password 'own'`)
    assert.equal(await verify(planned, hours(0.9)), 'held')
    await driver.revoke(noTx, planned.target, patient)
    await assert.rejects(server.signIn(login, 'own'), /password authentication failed/)
  })

  test('a renamed login is found and dropped', async () => {
    const planned = await plan(inputOf('ada@example.com'))
    await give(planned)
    await server.asSuperuser(`alter role ${loginOf(planned)} rename to "renamed; ""x"""`)
    assert.equal(await verify(planned, hours(0.5)), 'held')
    await driver.revoke(noTx, planned.target, patient)
    assert.deepEqual(await rolesLike('renamed%'), [])
    assert.equal(await verify(planned, null), 'absent')
  })

  test('a list shows each made login, also one that lost its role, and no other', async () => {
    const [held, gone, bare] = [
      await plan(inputOf('ada@example.com')),
      await plan(inputOf('ada@example.com')),
      await plan(inputOf('ada@example.com')),
    ]
    for (const one of [held, gone, bare]) await give(one)
    await driver.revoke(noTx, gone.target, patient)
    const known = [held, bare].map(({ key, target }) => ({ key, target }))
    await server.asSuperuser(`set role sallyport; revoke app_readonly from ${loginOf(bare)}; reset role`)
    await server.asSuperuser(`create role lookalike login; comment on role lookalike is '${markOf('lookalike')}';
      create role maker; grant lookalike to maker with admin option`)
    assert.ok(driver.discover !== null)
    const keys: string[] = []
    for await (const page of driver.discover(noTx, [], patient)) keys.push(...page.map(({ key }) => key))
    assert.ok(keys.includes(held.key) && keys.includes(bare.key))
    const heldKeys: string[] = []
    for await (const page of driver.discover(noTx, known, patient)) heldKeys.push(...page.map(({ key }) => key))
    assert.ok(heldKeys.includes(held.key) && !heldKeys.includes(bare.key))
    assert.ok(!keys.includes(gone.key))
    assert.ok(!keys.some((key) => key.includes('lookalike')))
    const strays: object[] = []
    for await (const page of driver.discover(noTx, [], patient)) strays.push(...page.map(({ target }) => target))
    for (const target of strays) await driver.revoke(noTx, target as Plan['target'], patient)
    assert.deepEqual(await rolesLike('ada_%'), [])
    await server.asSuperuser('drop role lookalike; drop role maker')
  })

  test('a server before 16, or without createrole, is refused by the health check and by the plan', async () => {
    await server.asSuperuser('alter role sallyport nocreaterole')
    try {
      const failing = (await driver.health(noTx, patient)).filter(({ ok }) => !ok)
      assert.match(failing[0]?.message ?? '', /alter role "sallyport" createrole/)
      await assert.rejects(plan(inputOf('ada@example.com')), { kind: 'permanent', message: /may not make logins/ })
    } finally {
      await server.asSuperuser('alter role sallyport createrole')
    }
  })
})

function firstOf({ recorded_as = '' }: Plan): string {
  const hex = recorded_as.slice(-32)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
