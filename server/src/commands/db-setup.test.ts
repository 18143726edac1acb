import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { dataFolder } from '../../test/support/data-folder.ts'
import { setupLines, startPasswordServer } from '../../test/support/password-server.ts'
import { startOn, startScript } from '../../test/support/sallyport.ts'
import { connectAlone } from '../db/client/connect.ts'

const { superuser, password, urlWith, adminUrl } = await startPasswordServer()

async function asSuperuser<Row extends Record<string, unknown>>(text: string, database = 'postgres'): Promise<Row[]> {
  const client = await connectAlone({ connectionString: urlWith(superuser, password, database) })
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

async function setUp(...args: string[]): Promise<{ code: number | null; output: string }> {
  const command = startScript('db:setup', args, {})
  return { code: await command.end(), output: command.output() }
}

/** Whether the address can be used. */
async function opens(connectionString: string): Promise<boolean> {
  const client = await connectAlone({ connectionString }).catch(() => undefined)
  await client?.end()
  return client !== undefined
}

/** What a setup could have changed. */
const stateOf = () =>
  asSuperuser(`select
    (select jsonb_agg(jsonb_build_array(rolname, rolpassword) order by rolname) from pg_authid) as passwords,
    (select jsonb_agg(jsonb_build_array(datname, datacl::text) order by datname) from pg_database) as databases`)

// At the top level, so that the service runs during all tests.
const first = await setUp(adminUrl)
const firstLines = setupLines(first.output)
const sallyport = await startOn(firstLines, await dataFolder(), {})

test('the first setup prints two lines with which the service starts', () => {
  assert.equal(first.code, 0, first.output)
  assert.equal(sallyport.exitCode(), undefined)
})

for (const database of ['sallyport', 'second']) {
  test(`another setup, of \`${database}\`, changes nothing and names the service that is there`, async () => {
    const before = await stateOf()
    const { code, output } = await setUp(adminUrl, database)
    assert.equal(code, 1)
    assert.match(output, /Nothing was changed/)
    assert.match(output, /database sallyport: \d+ migrations, the last one 0\d+_\w+; connections now: [1-9]/)
    assert.ok(output.includes(`\n    ${sallyport.base_url}, version `), output)
    assert.ok(output.includes(`, on ${hostname()}, seen `), output)
    assert.match(output, /--keep-passwords.+--new-passwords/s)
    assert.ok(!output.includes(password), 'the output has the password')
    assert.deepEqual(await stateOf(), before)
    assert.ok(await opens(firstLines.DATABASE_URL), 'the first service is shut out')
  })
}

test('with --keep-passwords it makes a second database for the same roles, and warns', async () => {
  const { code, output } = await setUp('--keep-passwords', adminUrl, 'second')
  assert.equal(code, 0, output)
  const { DATABASE_URL, DATABASE_OWNER_URL } = setupLines(output)
  assert.match(DATABASE_URL, /^postgres:\/\/sallyport_app:PASSWORD@[^/]+\/second$/)
  assert.match(DATABASE_OWNER_URL, /^postgres:\/\/sallyport_owner:PASSWORD@[^/]+\/second$/)
  assert.match(output, /No password was changed/)
  assert.match(output, /each service can open every one of these databases: second, sallyport\./)
  assert.ok(await opens(firstLines.DATABASE_URL))
  const second = DATABASE_URL.replace('PASSWORD', new URL(firstLines.DATABASE_URL).password)
  assert.ok(await opens(second), 'the password of the first does not open the second')
})

test('with --keep-passwords it repairs the grants of the same database', async () => {
  await asSuperuser('revoke connect on database sallyport from sallyport_app')
  assert.equal(await opens(firstLines.DATABASE_URL), false)
  const { code, output } = await setUp(adminUrl, '--keep-passwords')
  assert.equal(code, 0, output)
  assert.ok(await opens(firstLines.DATABASE_URL))
})

test('with --new-passwords it says which services need the new lines', async () => {
  const { code, output } = await setUp(adminUrl, '--new-passwords')
  assert.equal(code, 0, output)
  assert.match(output, /these services need the new lines/)
  assert.match(output, /database sallyport: .+database second: /s)
  assert.equal(await opens(firstLines.DATABASE_URL), false, 'the old password still opens')
  const { DATABASE_URL, DATABASE_OWNER_URL } = setupLines(output)
  assert.deepEqual([await opens(DATABASE_URL), await opens(DATABASE_OWNER_URL)], [true, true])
})

test('what keeps it from working is one sentence without a password', async () => {
  await asSuperuser(`create role weak login password 'weak-secret'`)
  await asSuperuser(`create role makes_roles login createrole password 'weak-secret'`)
  await asSuperuser(`create role cloud login createrole createdb password 'weak-secret'`)
  const cases: [string[], RegExp][] = [
    [[urlWith(superuser, 'wrong-secret')], /refuses this user or its password/],
    [[urlWith('nobody', 'wrong-secret')], /refuses this user or its password/],
    [[urlWith(superuser, password, 'missing')], /does not exist\. End it with \/postgres/],
    [[urlWith(superuser, password, 'postgres', 1)], /no PostgreSQL answers .*\(ECONNREFUSED\)/],
    [['--new-passwords', urlWith('weak', 'weak-secret')], /may not create roles/],
    [['--new-passwords', urlWith('makes_roles', 'weak-secret'), 'third'], /may not create databases/],
    [['--new-passwords', urlWith('makes_roles', 'weak-secret'), 'postgres'], /does not permit this user/],
    [['--keep-passwords', urlWith('cloud', 'weak-secret'), 'third'], /does not permit this user/],
    [['--force', adminUrl], /unknown option `--force`/],
    [['postgres://admin:wrong-secret/x@db/p'], /special characters of the password/],
  ]
  for (const [args, sentence] of cases) {
    const before = await stateOf()
    const { code, output } = await setUp(...args)
    assert.equal(code, 1, output)
    assert.match(output, new RegExp(`^db:setup failed: .*${sentence.source}.*\n$`))
    for (const secret of [password, 'wrong-secret', 'weak-secret']) assert.ok(!output.includes(secret), output)
    assert.deepEqual(await stateOf(), before, output)
  }
})

test('--help explains the options', async () => {
  const { code, output } = await setUp('--help')
  assert.equal(code, 0)
  assert.match(output, /--keep-passwords.+--new-passwords/s)
})
