import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { after, suite, test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { configOf, inputOf, makeLogin, noTx, openingOf, setUpByGuide } from '../../../test/support/postgresql-stage.ts'
import { argumentsOf, trickyWords } from '../../../test/support/shell.ts'
import { startTargets } from '../../../test/support/target-postgres.ts'
import type { Connect } from '../connect.ts'
import { connectTo } from './connect.ts'
import { postgresql } from './postgresql.ts'
import { readSettings } from './postgresql-config.ts'

const run = promisify(execFile)
const config = {
  host: 'db.example.com',
  database: 'shop',
  user: 'sallyport',
  password: 'not to be shown',
  resource_ids: [],
  roles: {},
}
const access = { role: 'app_readonly', login: 'ada@example.com', needs_set_role: false }
const connectWith = (more: object, whose: Partial<typeof access> = {}) =>
  connectTo(readSettings({ ...config, ...more }), { ...access, ...whose })
const commandOf = (...args: Parameters<typeof connectWith>) => connectWith(...args).commands[0]?.text

const certificate = `-----BEGIN CERTIFICATE-----\nMIIB+DCC\nAZ+gAwIB\n-----END CERTIFICATE-----`

const psql = '/usr/bin/psql'
const noPsql = existsSync(psql) ? false : 'psql is not installed'
const servers = await startTargets()
after(() => Promise.all(servers.map((server) => server.stop())))
for (const server of servers) await setUpByGuide(server)
const signal = new AbortController().signal

suite('how to connect to a server', () => {
  test('names the server, the database, the login and the role, and has a line for psql', () => {
    const { commands, fields, files, postgresql: data } = connectWith({})
    const line =
      "psql 'host=db.example.com port=5432 dbname=shop user=ada@example.com sslmode=verify-full sslrootcert=system'"
    assert.deepEqual(commands, [{ label: 'psql, 16 or later', text: line }])
    const place = {
      host: 'db.example.com',
      port: 5432,
      database: 'shop',
      login: 'ada@example.com',
      role: 'app_readonly',
    }
    assert.deepEqual(data, place)
    assert.deepEqual(
      fields.map(({ label }) => label),
      ['Host', 'Port', 'Database', 'Login', 'Role', 'TLS'],
    )
    assert.deepEqual(files, [])
  })

  test('has the certificates that the server’s is checked against, if they are not too many', () => {
    const { files, commands } = connectWith({ ca: `${certificate}\n` })
    assert.deepEqual(files[0]?.lines, certificate.split('\n'))
    assert.equal(files[0]?.path, '~/.postgresql/root.crt')
    assert.match(commands[0]?.text ?? '', /sslmode=verify-full'$/)
    assert.deepEqual(connectWith({ ca: Array.from({ length: 50 }, () => certificate).join('\n') }).files, [])
  })

  test('demands no TLS where the config does without', () => {
    assert.equal(commandOf({ tls: 'off' }), "psql 'host=db.example.com port=5432 dbname=shop user=ada@example.com'")
  })

  test('says when the role must be set, and sets it by its quoted name', () => {
    const field = connectWith({}, { needs_set_role: true, role: 'app "x"; --' }).fields.at(-1)
    assert.deepEqual(field, { label: 'After the sign-in', value: 'set role "app ""x""; --";' })
  })

  for (const word of trickyWords.filter((word) => word !== '')) {
    test(`psql gets one argument for a login and a database named ${JSON.stringify(word)}`, () => {
      const [psql, conninfo, ...rest] = argumentsOf(commandOf({ database: word, tls: 'off' }, { login: word }) ?? '')
      assert.deepEqual([psql, rest], ['psql', []])
      assert.match(conninfo ?? '', /^host=db\.example\.com port=5432 dbname=/)
    })
  }

  for (const word of ['a\nb', 'a\u0007b', 'a\u202eb']) {
    test(`has no line for psql if a name is ${JSON.stringify(word)}`, () => {
      for (const connect of [connectWith({ database: word }), connectWith({}, { login: word })]) {
        assert.deepEqual([connect.commands, connect.postgresql], [[], undefined])
      }
    })
  }
})

/** What the line for psql prints, with this statement. */
async function printed(connect: Connect | null, statement: string): Promise<string> {
  const line = `${connect?.commands[0]?.text} -X -A -t -q -c '${statement}'`
  const { stdout } = await run('/bin/sh', ['-c', line], { env: { PATH: '/usr/bin:/bin', PGPASSWORD: 'her own' } })
  return stdout
}

for (const server of servers) {
  suite(`the line for psql on PostgreSQL ${server.major}`, { skip: noPsql }, () => {
    const names = [
      "o'brien \\ x",
      '-c',
      '$(touch owned)',
      'a=b host=elsewhere',
      'postgres://elsewhere/',
      '"; drop',
      'é ☃',
    ]
    for (const name of names) {
      test(`signs in to a database and as a login named ${JSON.stringify(name)}`, async () => {
        const [login, database] = [pg.escapeIdentifier(name), pg.escapeIdentifier(`${name} db`)]
        await server.asSuperuser(`create role ${login} login connection limit 20 password 'her own'`)
        await server.asSuperuser(`create database ${database}`)
        const logins = { login_from: 'list', logins: { 'ada@example.com': name } }
        const driver = postgresql.open(openingOf(configOf(server, { database: `${name} db`, ...logins })))
        const { connect } = await driver.plan(noTx, inputOf('ada@example.com'), signal)
        await driver.close()
        assert.equal(await printed(connect, 'select current_user, current_database()'), `${name}|${name} db\n`)
      })
    }

    test('uses the role that was given, after what it says to do first', async () => {
      for (const inherits of ['inherit', 'noinherit']) {
        const login = await makeLogin(server, false)
        await server.asSuperuser(`alter role ${pg.escapeIdentifier(login)} ${inherits}`)
        const driver = postgresql.open(openingOf(configOf(server)))
        const { connect, target } = await driver.plan(noTx, inputOf(login), signal)
        await driver.grant(noTx, target, new Date(Date.now() + 3_600_000), signal)
        await driver.close()
        const first = connect?.fields.find(({ label }) => label === 'After the sign-in')?.value ?? ''
        assert.equal(first !== '', inherits === 'noinherit' && server.major < 16)
        assert.equal(await printed(connect, `${first} select number from orders`), '42\n')
      }
    })
  })
}
