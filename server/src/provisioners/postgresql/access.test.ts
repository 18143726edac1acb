import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import pg from 'pg'
import {
  configOf,
  inputOf,
  letManageLogins,
  makeLogin,
  noTx,
  openingOf,
  setUpByGuide,
} from '../../../test/support/postgresql-stage.ts'
import { startTargets, type TargetPostgres } from '../../../test/support/target-postgres.ts'
import { until } from '../../../test/support/wait.ts'
import type { Plan, PlanInput } from '../driver.ts'
import { postgresql } from './postgresql.ts'

const patient = new AbortController().signal
const hours = (count: number) => new Date(Date.now() + count * 3_600_000)
const password = 'her own'

const servers = await startTargets()

for (const server of servers) {
  const { major } = server
  after(server.stop)

  suite(`on PostgreSQL ${major} with unmanaged logins`, () => {
    before(() => setUpByGuide(server))
    tryAccess(server, false)
  })
  suite(`on PostgreSQL ${major} with managed logins`, () => {
    before(() => letManageLogins(server))
    tryAccess(server, true)
  })
}

function tryAccess(server: TargetPostgres, managed: boolean): void {
  const { major } = server
  const driver = postgresql.open(openingOf(configOf(server, { manages_logins: managed })))
  after(() => driver.close())

  const plan = (input: PlanInput) => driver.plan(noTx, input, patient)
  const give = async ({ target }: Plan, end = hours(1)) => void (await driver.grant(noTx, target, end, patient))
  const revoke = ({ target }: Plan) => driver.revoke(noTx, target, patient)
  const verify = ({ target }: Plan, end: Date | null) => driver.verify(noTx, target, end, patient)
  const given = async (login: string, more: Partial<PlanInput> = {}) => {
    const planned = await plan(inputOf(login, more))
    await give(planned)
    return planned
  }
  const newLogin = () => makeLogin(server, managed, password)
  const signIn = (login: string) => server.signIn(login, password)
  const read = async (client: pg.Client) => (await client.query('select number from orders')).rows
  const isRefused = (login: string) =>
    managed
      ? assert.rejects(signIn(login), /is not permitted to log in/)
      : signIn(login).then((client) => assert.rejects(read(client), /permission denied for table orders/))
  /** Waits until the server has ended the connection. */
  const isCut = (client: pg.Client) =>
    until('the connection is gone', () =>
      client.query('select 1').then(
        () => false,
        () => true,
      ),
    )

  test('a user with a granted role can read; after the end they cannot, and their connections are closed', async () => {
    const login = await newLogin()
    await isRefused(login)
    const planned = await given(login)
    const [one, other] = [await signIn(login), await signIn(login)]
    const ended = new Promise<pg.DatabaseError>((resolve) =>
      one.on('error', (error) => resolve(error as pg.DatabaseError)),
    )
    assert.deepEqual(await read(one), [{ number: 42 }])
    assert.deepEqual(await read(other), [{ number: 42 }])
    await revoke(planned)
    assert.equal((await ended).code, '57P01')
    await Promise.all([isCut(one), isCut(other)])
    assert.equal(await verify(planned, null), 'absent')
    await isRefused(login)
  })

  test('the end also closes sessions that set the role or are in the middle of a query', async () => {
    const login = await newLogin()
    const planned = await given(login)
    const [became, reading, waiting] = [await signIn(login), await signIn(login), await signIn(login)]
    // From version 16 the user cannot set the role.
    if (major >= 16) await assert.rejects(became.query('set role app_readonly'), /permission denied to set role/)
    else await became.query('set role app_readonly')
    await reading.query('begin; declare all_orders cursor for select * from orders')
    const sleeping = assert.rejects(waiting.query('select number, pg_sleep(600) from orders'), /terminating connection/)
    await until('it sleeps', async () => {
      const rows = await server.asSuperuser(`select 1 from pg_stat_activity where wait_event = 'PgSleep'`)
      return rows.length > 0
    })
    await revoke(planned)
    await sleeping
    await Promise.all([isCut(became), isCut(reading)])
  })

  test('the end of one role leaves the other role of the same login', async () => {
    const login = await newLogin()
    const [reading, writing] = [await given(login), await given(login, { action: 'write' })]
    assert.notEqual(reading.key, writing.key)
    await revoke(reading)
    assert.equal(await verify(reading, null), 'absent')
    assert.equal(await verify(writing, hours(1)), 'held')
    const client = await signIn(login)
    await client.query('insert into orders values (43)')
    await assert.rejects(read(client), /permission denied/)
    await revoke(writing)
    await isCut(client)
    assert.equal(await verify(writing, null), 'absent')
    await server.asSuperuser('delete from orders where number = 43')
  })

  test('a connection opened during the end gets no access', async () => {
    const login = await newLogin()
    const planned = await given(login)
    let isOver = false
    const clients: pg.Client[] = []
    const knocking = Array.from({ length: 3 }, async () => {
      while (!isOver) {
        await signIn(login).then(
          (client) => clients.push(client),
          () => undefined,
        )
      }
    })
    await until('some are connected', async () => clients.length > 3)
    await revoke(planned)
    if (managed) {
      const open = 'select 1 from pg_stat_activity where usename = $1'
      assert.deepEqual(await server.asSuperuser(open, [login]), [])
    }
    isOver = true
    await Promise.all(knocking)
    for (const client of clients) await assert.rejects(read(client))
    assert.equal(await verify(planned, null), 'absent')
    await Promise.allSettled(clients.map((client) => client.end()))
  })

  test('a revocation succeeds only when the last connection is gone', async () => {
    const login = await newLogin()
    const planned = await given(login)
    const client = await signIn(login)
    const [row] = await server.asSuperuser<{ pid: number }>('select pid from pg_stat_activity where usename = $1', [
      login,
    ])
    const pid = row?.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    let isRevoked = false
    const revoking = revoke(planned).then(() => {
      isRevoked = true
    })
    try {
      await until('the role is revoked', async () => {
        const holds = 'select 1 from pg_auth_members where member = $1::regrole and roleid = $2::regrole'
        return (await server.asSuperuser(holds, [pg.escapeIdentifier(login), 'app_readonly'])).length === 0
      })
      for (let check = 0; check < 20; check += 1) {
        const rows = await server.asSuperuser('select 1 from pg_stat_activity where usename = $1', [login])
        assert.equal(rows.length, 1)
      }
      assert.equal(isRevoked, false)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await revoking
    await isCut(client)
  })

  test('a login that was renamed after the grant loses its access at the end', async () => {
    const login = await newLogin()
    const planned = await given(login)
    const renamed = `renamed ${login}`
    await server.asSuperuser(
      `alter role ${pg.escapeIdentifier(login)} rename to ${pg.escapeIdentifier(renamed)};
        alter role ${pg.escapeIdentifier(renamed)} password '${password}'`,
    )
    const client = await signIn(renamed)
    assert.deepEqual(await read(client), [{ number: 42 }])
    assert.equal(await verify(planned, null), 'held')
    await revoke(planned)
    await isCut(client)
    assert.equal(await verify(planned, null), 'absent')
    await isRefused(renamed)
  })

  test('a user with an open transaction cannot delay the end', async () => {
    const login = await newLogin()
    const planned = await given(login)
    const client = await signIn(login)
    await client.query(`begin; alter role current_user password 'another'`)
    await revoke(planned)
    await isCut(client)
    assert.equal(await verify(planned, null), 'absent')
    await isRefused(login)
  })

  if (managed) {
    test('the login’s password expires at the server 60 seconds after the latest end', async () => {
      const login = await newLogin()
      const [reading, writing] = [await plan(inputOf(login)), await plan(inputOf(login, { action: 'write' }))]
      const [early, late] = [hours(1), hours(2)]
      await give(reading, late)
      await give(writing, early)
      const [row] = await server.asSuperuser<{ grace: string }>(
        'select extract(epoch from rolvaliduntil - $2)::int::text as grace from pg_roles where rolname = $1',
        [login, late],
      )
      assert.equal(row?.grace, '60')
      assert.equal(await verify(reading, late), 'held')
      assert.equal(await verify(reading, hours(3)), 'ends_early')
      await revoke(reading)
      await revoke(writing)
    })

    test('a login that another role enabled, or granted the role to, is not taken over', async () => {
      const login = await newLogin()
      const name = pg.escapeIdentifier(login)
      await server.asSuperuser(`alter role ${name} login`)
      await assert.rejects(plan(inputOf(login)), {
        kind: 'transient',
        message: /can log in, but Sallyport did not enable it/,
      })
      await server.asSuperuser(`alter role ${name} nologin; grant app_readonly to ${name}`)
      await assert.rejects(plan(inputOf(login)), { kind: 'permanent', message: /by another role's grant/ })
      await server.asSuperuser(`alter role ${name} login`)
      assert.equal((await plan(inputOf(login))).held, true)
    })
    return
  }

  test('a foreign grant stays, with its connections', async () => {
    const login = await newLogin()
    await server.asSuperuser(`grant app_readonly to ${pg.escapeIdentifier(login)}`)
    const client = await signIn(login)
    const planned = await plan(inputOf(login))
    assert.equal(planned.held, true)
    assert.equal(await verify(planned, hours(1)), 'held')
    assert.equal(await verify(planned, null), 'absent')
    assert.deepEqual(await read(client), [{ number: 42 }])
  })

  test('a foreign grant made during our grant stays when ours ends', {
    skip: major < 16 && 'one grant a role before 16',
  }, async () => {
    const login = await newLogin()
    const planned = await given(login)
    await server.asSuperuser(`grant app_readonly to ${pg.escapeIdentifier(login)}`)
    await revoke(planned)
    assert.equal(await verify(planned, null), 'absent')
    assert.deepEqual(await read(await signIn(login)), [{ number: 42 }])
  })

  test('connections opened after the end are left open', async () => {
    const login = await newLogin()
    const planned = await given(login)
    await revoke(planned)
    const client = await signIn(login)
    assert.equal(await verify(planned, null), 'absent')
    await assert.rejects(read(client), /permission denied/)
    assert.equal((await client.query('select 1 as one')).rows.length, 1)
  })
}
