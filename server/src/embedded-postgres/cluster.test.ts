import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childEnvironment, explainInitdb, requireMajor, serverOptions } from './cluster.ts'

const majors: [string, string, string, boolean][] = [
  ['accepts the same major version', '18', '18.4', true],
  ['accepts a later minor version', '18', '18.11', true],
  ['refuses an older database', '17', '18.4', false],
  ['refuses a newer database', '19', '18.4', false],
  ['does not take 1 for 18', '1', '18.4', false],
]
for (const [name, found, version, accepted] of majors) {
  test(name, () => {
    const check = () => requireMajor('/data/postgres', found, version)
    if (accepted) check()
    else assert.throws(check, /made by PostgreSQL \d+ and this is PostgreSQL 18: .*`npm run backup`.*`npm run restore`/)
  })
}

test("does not pass the server's own variables to PostgreSQL", (t) => {
  process.env.PGPORT = '1'
  process.env.SALLYPORT_SECRET = 'x'
  t.after(() => {
    delete process.env.PGPORT
    delete process.env.SALLYPORT_SECRET
  })
  const names = Object.keys(childEnvironment())
  assert.ok(names.includes('PATH') && !names.includes('PGPORT') && !names.includes('SALLYPORT_SECRET'))
})

test('listens on no address with a socket, and on loopback only without one', () => {
  assert.ok(serverOptions('/d', 'socket', '/s', 5432).includes('listen_addresses='))
  assert.ok(serverOptions('/d', 'loopback', '', 4000).includes('listen_addresses=127.0.0.1'))
  assert.ok(serverOptions('/d', 'loopback', '', 4000).includes('unix_socket_directories='))
})

test('quotes a socket folder whose name has commas', () => {
  assert.ok(serverOptions('/d', 'socket', '/a, "b"', 5432).includes('unix_socket_directories="/a, ""b"""'))
})

test('says what to do for a user without a name, as containers have them', () => {
  const output = 'initdb: error: could not look up effective user ID 4321: user does not exist'
  assert.match(
    explainInitdb(output, 'exit code 1'),
    /none for user 4321: add a line for it to `\/etc\/passwd`.*DATABASE_URL/,
  )
})

test("passes on PostgreSQL's own message for any other failure", () => {
  const output =
    'running bootstrap script ... \ninitdb: error: could not create directory "x": No space left on device\n'
  assert.match(explainInitdb(output, 'exit code 1'), /^exit code 1; initdb: .* No space left on device$/)
})
