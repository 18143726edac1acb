import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import pg from 'pg'
import { guideSql } from '../../../test/support/guide-sql.ts'
import {
  configOf,
  inputOf,
  letMakeLogins,
  makeLogin,
  noTx,
  openingOf,
  setUpByGuide,
} from '../../../test/support/postgresql-stage.ts'
import { startTargetPostgres, type TargetPostgres, targetVersions } from '../../../test/support/target-postgres.ts'
import type { Driver } from '../driver.ts'
import { postgresql } from './postgresql.ts'

const patient = new AbortController().signal
const anHourOn = () => new Date(Date.now() + 3_600_000)
const password = 'her own'

// Of the 150 connections of the 18, 47 are left to people, so that the test opens few.
const settings = { superuser_reserved_connections: '100', reserved_connections: '3' }
const servers = await Promise.all(targetVersions.map((major) => startTargetPostgres(major, settings)))

for (const server of servers) {
  const { major } = server
  after(server.stop)

  suite(`on PostgreSQL ${major} a holder who opens as many connections as the server lets them`, async () => {
    await setUpByGuide(server)
    // The right to make logins is the one to open and close them, too.
    await letMakeLogins(server)
    tryToTakeAll(server)
  })
}

function tryToTakeAll(server: TargetPostgres): void {
  const { major } = server
  const before16 = major < 16 && 'it needs 16 or later'

  const alter = (login: string, how: string) => server.asSuperuser(`alter role ${pg.escapeIdentifier(login)} ${how}`)
  const newLogin = async (managed: boolean) => {
    const login = await makeLogin(server, managed, password)
    await alter(login, 'connection limit -1')
    return login
  }
  const open = (more: Record<string, unknown> = {}) => {
    const driver = postgresql.open(openingOf(configOf(server, more)))
    after(() => driver.close())
    return driver
  }
  const given = async (driver: Driver, login: string) => {
    const planned = await driver.plan(noTx, inputOf(login), patient)
    await driver.grant(noTx, planned.target, anHourOn(), patient)
    await driver.close()
    return { target: planned.target, login: planned.recorded_as ?? login }
  }
  /** How many connections the login got, and the server's words to the one that it refused. */
  const takeAll = async (login: string) => {
    for (let count = 0; ; count += 1) {
      try {
        await server.signIn(login, password)
      } catch (error) {
        return { count, refusal: (error as Error).message }
      }
    }
  }
  /** By a driver that has no connection yet, as after a while without work. */
  const ends = async ({ target }: Awaited<ReturnType<typeof given>>, more: Record<string, unknown> = {}) => {
    const driver = open(more)
    await driver.revoke(noTx, target, patient)
    assert.equal(await driver.verify(noTx, target, null, patient), 'absent')
  }
  const refused = { kind: 'permanent', message: /could take all connections/ }

  test('loses access at its end: a login with the guide’s limit', async () => {
    await server.asSuperuser(guideSql(major, 'login'))
    await alter('ada@example.com', `password '${password}'`)
    const access = await given(open(), 'ada@example.com')
    assert.deepEqual(await takeAll(access.login), {
      count: 20,
      refusal: 'too many connections for role "ada@example.com"',
    })
    await ends(access)
  })

  test('loses access at its end: a managed login without a limit, which gets one', async () => {
    const managing = { manages_logins: true }
    const access = await given(open(managing), await newLogin(true))
    assert.equal((await takeAll(access.login)).count, 20)
    await ends(access, managing)
  })

  test('loses access at its end: a login that Sallyport made', { skip: before16 }, async () => {
    const making = { makes_logins: true }
    const access = await given(open(making), 'grace@example.com')
    await alter(access.login, `password '${password}'`)
    assert.equal((await takeAll(access.login)).count, 20)
    await ends(access, making)
  })

  test('loses access at its end: a person with as many logins as Sallyport makes', { skip: before16 }, async () => {
    const making = { makes_logins: true }
    const all: Awaited<ReturnType<typeof given>>[] = []
    const giveAnother = () => given(open(making), `grace${all.length}@example.com`)
    const noneLeft = /made when another ends/
    let refusal: unknown
    while (refusal === undefined) {
      const last = await giveAnother().catch((error: unknown) => {
        refusal = error
      })
      if (last !== undefined) all.push(last)
    }
    assert.match((refusal as Error).message, noneLeft)
    // One that can sign in no more, and is dropped later, takes none.
    const first = all[0]?.login ?? ''
    await alter(first, 'nologin')
    await ends(await giveAnother(), making)
    await alter(first, 'login')
    let count = 0
    for (const { login } of all) {
      await alter(login, `password '${password}'`)
      count += (await takeAll(login)).count
    }
    assert.equal(count, 43)
    for (const access of all) await ends(access, making)
  })

  test('loses access at its end, also if the limit was lifted meanwhile; nothing more is given', async () => {
    const access = await given(open(), await makeLogin(server, false, password))
    await alter(access.login, 'connection limit -1')
    await assert.rejects(open().grant(noTx, access.target, anHourOn(), patient), refused)
    await ends(access)
  })

  test('is given nothing without a limit, as the health check says, except by a managed login', async () => {
    const login = await newLogin(true)
    await alter(login, 'login')
    const listed = { login_from: 'list', logins: { [login]: login } }
    const failing = async (more: Record<string, unknown>) =>
      (await open(more).health(noTx, patient)).filter(({ ok }) => !ok).map(({ message }) => message)
    const [said, ...others] = await failing(listed)
    assert.match(said ?? '', refused.message)
    assert.deepEqual(others, [])
    assert.deepEqual(await failing({ ...listed, manages_logins: true }), [])
  })

  test('is given nothing if the database has no more connections than the login', async () => {
    const login = await makeLogin(server, false)
    await server.asSuperuser('alter database shop connection limit 16')
    try {
      const message = /could take all connections .* connection limit 6`/
      await assert.rejects(open().plan(noTx, inputOf(login), patient), { kind: 'permanent', message })
    } finally {
      await server.asSuperuser('alter database shop connection limit -1')
    }
  })

  test('loses access at its end without a limit, where connections are reserved for Sallyport', {
    skip: before16,
  }, async () => {
    for (const statement of guideSql(major, 'reserved').split(';\n').filter(Boolean)) {
      await server.asSuperuser(statement)
    }
    const access = await given(open(), await newLogin(false))
    assert.match((await takeAll(access.login)).refusal, /reserved for roles with privileges of the "pg_use_reserved/)
    await ends(access)
    const other = await newLogin(false)
    await server.asSuperuser(`grant pg_use_reserved_connections to ${pg.escapeIdentifier(other)}`)
    await assert.rejects(open().plan(noTx, inputOf(other), patient), refused)
  })
}
