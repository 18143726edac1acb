import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connectAlone } from '../../src/db/client/connect.ts'
import { startPasswordServer } from '../support/password-server.ts'

/** The one-shot services of compose.yaml, as they are run there. */
const program = (name: string) => fileURLToPath(new URL(`../../../packaging/compose/${name}`, import.meta.url))
const run = (name: string, ...args: string[]) =>
  execFileSync(process.execPath, [program(name), ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

const folder = mkdtempSync(join(tmpdir(), 'sallyport-compose-'))
after(() => rmSync(folder, { recursive: true }))

test('the password of the administrator is made once, and the user of PostgreSQL can read it', () => {
  const path = join(folder, 'password')
  run('make-password.ts', path)
  const password = readFileSync(path, 'utf8')
  assert.match(password, /^[\w-]{32}$/)
  assert.equal(statSync(path).mode & 0o777, 0o444)
  run('make-password.ts', path)
  assert.equal(readFileSync(path, 'utf8'), password)
})

suite('the database of compose.yaml', async () => {
  const server = await startPasswordServer()
  const addresses = mkdtempSync(join(folder, 'addresses-'))
  const passwordFile = join(folder, 'of-the-administrator')
  writeFileSync(passwordFile, `${server.password}\n`)
  const address = `postgres://${server.superuser}@127.0.0.1:${server.port}/postgres`
  const setUp = () => run('set-up-database.ts', address, passwordFile, addresses)
  const contents = () => readdirSync(addresses).map((name) => readFileSync(join(addresses, name), 'utf8'))

  test('is set up once: the service finds both of its addresses in files that only it can read', async () => {
    setUp()
    assert.deepEqual(readdirSync(addresses).sort(), ['DATABASE_OWNER_URL', 'DATABASE_URL'])
    for (const name of readdirSync(addresses)) {
      assert.equal(statSync(join(addresses, name)).mode & 0o777, 0o600)
      const client = await connectAlone({ connectionString: readFileSync(join(addresses, name), 'utf8').trim() })
      await client.end()
    }
    const before = contents()
    assert.match(setUp(), /the database is set up/)
    assert.deepEqual(contents(), before)
  })

  test('is not set up, and no file is left, when PostgreSQL refuses the administrator', () => {
    writeFileSync(passwordFile, 'another')
    const empty = mkdtempSync(join(folder, 'empty-'))
    assert.throws(() => run('set-up-database.ts', address, passwordFile, empty), { status: 1 })
    assert.deepEqual(readdirSync(empty), [])
  })
})
