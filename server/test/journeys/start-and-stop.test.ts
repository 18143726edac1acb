import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { dataFolder, isAlive, postmasterOf } from '../support/data-folder.ts'
import { type Sallyport, startOnEmbedded, startScript } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

const data_dir = await dataFolder()
const keeping = new Agent({ keepAlive: true })
after(() => keeping.destroy())
const bootstrapFile = join(data_dir, 'bootstrap.json')

/** Asserts that a program exits with code 1 and prints one sentence. */
async function assertOneSentence(env: Record<string, string>, sentence: RegExp): Promise<void> {
  const refused = startScript('start', [], { DATA_DIR: data_dir, PORT: '65535', ...env })
  assert.equal(await refused.end(), 1, refused.output())
  assert.match(refused.output(), sentence)
  // Before it stands what version does not start, unless even the configuration cannot be read.
  const [last = '', ...before] = refused.said().toReversed()
  assert.match(last, /^Sallyport does not start: [^\n]+$/)
  assert.ok(before.length === 0 || /^Sallyport \d+\.\d+\.\d+ /.test(before.join('\n')), refused.output())
}

/** The head of a call whose body follows later: the service processes it once it answers `100 Continue`. */
async function beginCall({ base_url, bootstrap }: Sallyport): Promise<ClientRequest> {
  const call = request(`${base_url}/v1/users`, {
    method: 'POST',
    headers: {
      'x-tenant-id': bootstrap.tenant_id,
      'x-api-key': bootstrap.api_key,
      'content-type': 'application/json',
      expect: '100-continue',
    },
    // The caller would keep this connection open indefinitely: the stop does not wait for that.
    agent: keeping,
  })
  call.flushHeaders()
  await once(call, 'continue')
  return call
}

async function endCall(call: ClientRequest, body: unknown): Promise<number | undefined> {
  call.end(JSON.stringify(body))
  const [reply] = (await once(call, 'response')) as [IncomingMessage]
  reply.resume()
  return reply.statusCode
}

test('starts on an empty folder, stops at a signal, and continues where it was', async (t) => {
  const first = await startOnEmbedded(data_dir)
  t.diagnostic(`ready on an empty folder after ${Math.round(first.readyAfterMs)} ms (at most 5000)`)
  const postmaster = postmasterOf(data_dir) ?? 0
  assert.ok(isAlive(postmaster))

  await t.test(
    'the first start writes the credentials to a file that only its owner can read, and says where',
    async () => {
      const { mode } = statSync(bootstrapFile)
      assert.equal(mode & 0o777, 0o600)
      const left = JSON.parse(readFileSync(bootstrapFile, 'utf8')) as Record<string, unknown>
      assert.deepEqual(Object.keys(left).toSorted(), ['admin', 'api_key', 'base_url', 'expires_at', 'tenant_id'])
      assert.equal(left.base_url, first.base_url)
      const days = (Date.parse(first.bootstrap.expires_at) - Date.now()) / 86_400_000
      assert.ok(days > 6.9 && days <= 7, `the key expires in ${days} days`)
      assert.match(first.output(), /bootstrap\.json.*npm run demo/)
      assert.ok(!first.output().includes(first.bootstrap.admin.password), 'the log contains the password')
      assert.ok(!first.output().includes(first.bootstrap.api_key), 'the log contains the key')
      const signedIn = await first.client(undefined)('POST', '/v1/auth/login', first.bootstrap.admin)
      assert.equal(signedIn.status, 200)
    },
  )

  await t.test('a second service on the same folder refuses to start in one sentence', async () => {
    await assertOneSentence({}, new RegExp(`already|another|${first.pid}`))
    assert.ok(isAlive(postmaster), 'the second service stopped the database')
  })

  await t.test('the demo runs, and the process holds at most 225 MB', async () => {
    const demo = startScript('demo', [], { DATA_DIR: data_dir })
    assert.equal(await demo.end(), 0, demo.output())
    const { now, peak } = first.memory()
    t.diagnostic(`${now} MB after the demo, ${peak} MB at most (at most 225)`)
    assert.ok(now <= 225, `the process holds ${now} MB after the demo`)
  })

  await t.test('stopped by a signal, it finishes calls in flight, and then stops the database', async () => {
    const call = await beginCall(first)
    const stoppingSince = performance.now()
    first.signal('SIGTERM')
    await until('the service has received the signal', async () => first.output().includes('SIGTERM'))
    const user = { email: 'late@example.com', name: 'Late', password: randomBytes(9).toString('hex'), roles: ['user'] }
    assert.equal(await endCall(call, user), 201)
    assert.equal(await first.end(), 0, first.output())
    t.diagnostic(`stopped after ${Math.round(performance.now() - stoppingSince)} ms`)
    assert.ok(!isAlive(postmaster), 'the embedded PostgreSQL is still running')
    assert.equal(postmasterOf(data_dir), undefined)
  })

  await t.test('if another program has its port, it says so and leaves nothing running', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const refused = startScript('start', [], { DATA_DIR: data_dir, PORT: `${port}` })
    assert.equal(await refused.end(), 1)
    other.close()
    const sentence = `another program listens on \`127.0.0.1:${port}\`: stop it, or set PORT to a free port`
    assert.equal(refused.said().at(-1), `Sallyport does not start: ${sentence}`)
    assert.equal(refused.said().length, 2, 'the database was started before')
    assert.doesNotMatch(refused.output(), /\n +at |background work failed/)
    assert.equal(postmasterOf(data_dir), undefined)
  })

  await t.test('a command with the wrong folder says so, and creates no database there', async () => {
    const elsewhere = join(data_dir, 'elsewhere')
    const lost = startScript('admin', ['tenant', 'list'], { DATA_DIR: elsewhere })
    assert.equal(await lost.end(), 1, lost.output())
    assert.match(lost.output(), /there is no database in `.*elsewhere`: set DATA_DIR/)
    assert.ok(!existsSync(elsewhere))
  })

  await t.test('with another SECRET_KEY it refuses to start in one sentence, and leaves nothing running', async () => {
    const SECRET_KEY = randomBytes(32).toString('base64')
    await assertOneSentence({ SECRET_KEY }, /SECRET_KEY/)
    assert.equal(postmasterOf(data_dir), undefined)
  })

  await t.test('with an invalid SECRET_KEY it refuses to start too', () =>
    assertOneSentence({ SECRET_KEY: 'hunter2' }, /SECRET_KEY/),
  )

  await t.test('`bootstrap done` revokes the first key and deletes the file, while the service runs', async () => {
    const again = await startOnEmbedded(data_dir)
    t.diagnostic(`ready on a folder that was there after ${Math.round(again.readyAfterMs)} ms (at most 2000)`)
    const key = again.client({ api_key: first.bootstrap.api_key })
    const { body } = await key<{ data: { email: string }[] }>('GET', '/v1/users?limit=200')
    assert.ok(
      body.data.some(({ email }) => email === 'late@example.com'),
      'the user created last is missing',
    )
    assert.match(again.output(), /still holds the first owner's password.*bootstrap done/)

    const done = startScript('admin', ['bootstrap', 'done'], { DATA_DIR: data_dir })
    assert.equal(await done.end(), 0, done.output())
    assert.ok(!existsSync(bootstrapFile))
    await until('the key is refused', async () => (await key('GET', '/v1/users')).status === 401)
    const signedIn = await again.client(undefined)('POST', '/v1/auth/login', first.bootstrap.admin)
    assert.equal(signedIn.status, 200, 'the owner can no longer sign in')
    assert.equal(await again.stop(), 0, again.output())
  })
})
