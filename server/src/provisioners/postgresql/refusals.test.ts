import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import {
  configOf,
  inputOf,
  letManageLogins,
  makeLogin,
  noTx,
  openingOf,
  ownPassword,
  setUpByGuide,
} from '../../../test/support/postgresql-stage.ts'
import { startTargets, targetDatabase } from '../../../test/support/target-postgres.ts'
import type { PlanInput } from '../driver.ts'
import { postgresql } from './postgresql.ts'
import { loginOf, readSettings } from './postgresql-config.ts'

const patient = new AbortController().signal
const anHourOn = () => new Date(Date.now() + 3_600_000)

/** Roles that give more than the use of a database, each with the SQL that creates it. */
const powerful: [name: string, sql: string][] = [
  ['is a superuser', 'create role app_x superuser'],
  ['may create roles', 'create role app_x createrole'],
  ['bypasses row security', 'create role app_x bypassrls'],
  ['may replicate', 'create role app_x replication'],
  ['leads to a superuser through another role', 'create role app_x; create role y in role postgres; grant y to app_x'],
  ['may run programs on the server', 'create role app_x in role pg_execute_server_program'],
  ['may end connections', 'create role app_x in role pg_signal_backend'],
  // A holder could grant the other role on, and that grant would outlive the access.
  ['may grant another role', 'create role app_x; create role y; grant y to app_x with admin option'],
  // A member could grant what the role owns to themselves, or to all roles.
  ['owns an object', 'create role app_x; create schema owned_by_x authorization app_x'],
  ['leads to Sallyport’s own role', 'create role app_x in role sallyport'],
]

const servers = await startTargets()

for (const server of servers) {
  const { major } = server
  after(server.stop)

  suite(`on PostgreSQL ${major} a grant is refused`, () => {
    before(() => setUpByGuide(server))
    const driver = postgresql.open(openingOf(configOf(server, { roles: { read: 'app_readonly', more: 'app_x' } })))
    after(() => driver.close())
    const plan = (input: PlanInput, by = driver) => by.plan(noTx, input, patient)

    for (const [name, sql] of powerful) {
      test(`of a role that ${name}`, async () => {
        const login = await makeLogin(server, false)
        await server.asSuperuser(sql)
        try {
          const refused = { kind: 'permanent', message: /gives more than the use of a database/ }
          await assert.rejects(plan(inputOf(login, { action: 'more' })), refused)
          const unhealthy = (await driver.health(noTx, patient)).filter(({ ok }) => !ok)
          assert.match(unhealthy.map(({ message }) => message).join(), /gives more than the use of a database/)
        } finally {
          await server.asSuperuser('drop schema if exists owned_by_x; drop role app_x; drop role if exists y')
        }
      })
    }

    test('of a role that became powerful after the plan', async () => {
      const { target } = await plan(inputOf(await makeLogin(server, false)))
      await server.asSuperuser('alter role app_readonly createrole')
      await assert.rejects(driver.grant(noTx, target, anHourOn(), patient), /gives more than the use of a database/)
      await server.asSuperuser('alter role app_readonly nocreaterole')
    })

    test('of a role that Sallyport may not grant, or that does not exist', async () => {
      const input = inputOf(await makeLogin(server, false), { action: 'more' })
      await assert.rejects(plan(input), { kind: 'permanent', message: /the server has no role `app_x`/ })
      await server.asSuperuser('create role app_x; grant app_x to sallyport')
      await assert.rejects(plan(input), { kind: 'permanent', message: /may not grant `app_x`/ })
      await server.asSuperuser('drop role app_x')
    })

    const logins: [name: string, make: (login: string) => string, message: RegExp][] = [
      ['is a superuser', (login) => `alter role "${login}" superuser`, /is a superuser or may make roles/],
      ['may create roles', (login) => `alter role "${login}" createrole`, /is a superuser or may make roles/],
      ['others may act as', (login) => `create role worn_${major} in role "${login}"`, /may act as/],
      [
        'could take all connections',
        (login) => `alter role "${login}" connection limit -1`,
        /run `alter role "[^"]+" connection limit 20`, or .* run `grant pg_use_reserved_connections to "sallyport"`/,
      ],
      ['cannot log in', (login) => `alter role "${login}" nologin`, /cannot log in/],
      ['does not exist', (login) => `alter role "${login}" rename to "another ${login}"`, /has no login/],
    ]
    for (const [name, make, message] of logins) {
      test(`to a login that ${name}`, async () => {
        const login = await makeLogin(server, false)
        const { target } = await plan(inputOf(login))
        await server.asSuperuser(make(login))
        await assert.rejects(plan(inputOf(login)), { kind: 'permanent', message })
        await assert.rejects(driver.grant(noTx, target, anHourOn(), patient), { kind: 'permanent', message })
      })
    }

    test('to the role that Sallyport itself signs in as', async () => {
      const config = configOf(server, { login_from: 'list', logins: { 'ada@example.com': 'sallyport' } })
      const listed = postgresql.open(openingOf(config))
      await assert.rejects(plan(inputOf('ada@example.com'), listed), /that Sallyport itself signs in as/)
      await listed.close()
    })

    test('to a login whose name PostgreSQL would truncate', async () => {
      const name = 'a'.repeat(59)
      await server.asSuperuser(`create role "${name}@exa" login`)
      await assert.rejects(plan(inputOf(`${name}@example.com`)), { kind: 'permanent', message: /has no login/ })
    })

    test('by a provisioner that signs in as a superuser', async () => {
      await server.asSuperuser(`create role too_much login superuser password '${ownPassword}'`)
      const mighty = postgresql.open(openingOf(configOf(server, { user: 'too_much' })))
      const input = inputOf(await makeLogin(server, false))
      await assert.rejects(plan(input, mighty), { kind: 'permanent', message: /is a superuser/ })
      await mighty.close()
    })

    test('on another server’s resource, or for an action without a role', async () => {
      const login = await makeLogin(server, false)
      const elsewhere = { resource: { type: 'cloud_db_instance', id: 'arn:aws:rds:eu-west-1:123456789012:db:other' } }
      await assert.rejects(plan(inputOf(login, elsewhere)), { kind: 'permanent', message: /resource_ids/ })
      await assert.rejects(plan(inputOf(login, { action: 'drop' })), { kind: 'permanent', message: /`drop`/ })
    })

    test('of a role that no action maps to any more', async () => {
      const { target } = await plan(inputOf(await makeLogin(server, false)))
      const narrowed = postgresql.open(openingOf(configOf(server, { roles: { more: 'app_x' } })))
      await assert.rejects(narrowed.grant(noTx, target, anHourOn(), patient), /no action of the provisioner maps to/)
      await narrowed.revoke(noTx, target, patient)
      await narrowed.close()
    })
  })

  suite(`on PostgreSQL ${major} a driver with a changed config`, () => {
    const driver = postgresql.open(openingOf(configOf(server)))
    after(() => driver.close())

    const others: [name: string, config: () => Record<string, unknown>, message: RegExp][] = [
      ['at another server', () => configOf(server, { host: 'localhost' }), /now connects to localhost/],
      ['as another role', () => configOf(server, { user: 'sallyport_2' }), /signs in as `sallyport_2`/],
    ]
    for (const [name, config, message] of others) {
      test(`does not report access granted ${name} as absent`, async () => {
        const { target } = await driver.plan(noTx, inputOf(await makeLogin(server, false)), patient)
        await driver.grant(noTx, target, anHourOn(), patient)
        await server.asSuperuser(
          `drop role if exists sallyport_2; create role sallyport_2 login password '${ownPassword}'`,
        )
        const other = postgresql.open(openingOf(config()))
        await assert.rejects(other.verify(noTx, target, null, patient), message)
        await assert.rejects(other.revoke(noTx, target, patient), message)
        await assert.rejects(other.grant(noTx, target, anHourOn(), patient), message)
        await other.close()
        assert.equal(await driver.verify(noTx, target, null, patient), 'held')
        await driver.revoke(noTx, target, patient)
      })
    }

    test('revokes access granted by its role under an older name', async () => {
      const { target } = await driver.plan(noTx, inputOf(await makeLogin(server, false)), patient)
      await driver.grant(noTx, target, anHourOn(), patient)
      await server.asSuperuser(
        `alter role sallyport rename to sallyport_3; alter role sallyport_3 password '${ownPassword}'`,
      )
      const renamed = postgresql.open(openingOf(configOf(server, { user: 'sallyport_3' })))
      assert.equal(await renamed.verify(noTx, target, null, patient), 'held')
      await renamed.revoke(noTx, target, patient)
      assert.equal(await renamed.verify(noTx, target, null, patient), 'absent')
      await renamed.close()
      await server.asSuperuser(
        `alter role sallyport_3 rename to sallyport; alter role sallyport password '${ownPassword}'`,
      )
    })
  })

  suite(`on PostgreSQL ${major} with managed logins`, () => {
    test('a login that Sallyport may not enable is refused, and fails the health check', async () => {
      const login = await makeLogin(server, false)
      await server.asSuperuser(`alter role "${login}" nologin`)
      const more = { manages_logins: true, login_from: 'list', logins: { [login]: login } }
      const driver = postgresql.open(openingOf(configOf(server, more)))
      await assert.rejects(driver.plan(noTx, inputOf(login), patient), /may not enable and disable/)
      const checks = await driver.health(noTx, patient)
      assert.deepEqual(
        checks.filter(({ ok }) => !ok).map(({ what }) => what),
        [`the login \`${login}\` of \`${login}\``],
      )
      await letManageLogins(server)
      await driver.close()
    })
  })
}

suite('a person’s login', () => {
  const base = { host: 'db.example.com', database: targetDatabase, roles: {} }
  const cases: [name: string, config: Record<string, unknown>, email: string, login: string | undefined][] = [
    ['is their address, in lower case', {}, 'Ada@Example.com', 'ada@example.com'],
    ['is the part before the @', { login_from: 'local_part', email_domain: 'Example.com' }, 'Ada@example.COM', 'ada'],
    [
      'is missing for another domain',
      { login_from: 'local_part', email_domain: 'example.com' },
      'ada@evil.com',
      undefined,
    ],
    [
      'is missing for a subdomain',
      { login_from: 'local_part', email_domain: 'example.com' },
      'ada@x.example.com',
      undefined,
    ],
    ['comes from the list', { login_from: 'list', logins: { 'ADA@example.com': 'ada_l' } }, 'ada@example.com', 'ada_l'],
    [
      'is missing if the list does not name the user',
      { login_from: 'list', logins: { 'eve@example.com': 'eve' } },
      'ada@example.com',
      undefined,
    ],
  ]
  for (const [name, more, email, login] of cases) {
    test(name, () => assert.equal(loginOf(readSettings({ ...base, ...more }), email), login))
  }
})
