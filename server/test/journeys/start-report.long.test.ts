import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { after, test } from 'node:test'
import { readVersion } from '../../src/config/version.ts'
import { dataFolder, isAlive, postmasterOf } from '../support/data-folder.ts'
import { freePort } from '../support/free-port.ts'
import { startOnEmbedded, startOnTestServer, startScript } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

const keeping = new Agent({ keepAlive: true })
after(() => keeping.destroy())

type Entry = { level: string; time: string; msg: string; request_id?: string; [field: string]: unknown }
const entriesOf = (output: string) =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry)

test('what runs is in the log, at /livez and in the metrics; each call with its tenant, its actor and its id', async () => {
  const METRICS_PORT = `${await freePort()}`
  const sallyport = await startOnTestServer({ LOG_LEVEL: 'info', METRICS_PORT, DATABSE_URL: 'x' })
  const { version, commit = null } = readVersion()
  assert.deepEqual(await (await fetch(`${sallyport.base_url}/livez`)).json(), { status: 'alive', version, commit })
  const metrics = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()
  assert.ok(metrics.includes(`sallyport_build_info{version="${version}",commit="${commit ?? 'unknown'}"} 1`))

  const anna = await sallyport.join('Anna', ['user'])
  const { tenant_id } = sallyport.bootstrap
  const headers = {
    authorization: `Bearer ${anna.token}`,
    'x-tenant-id': tenant_id,
    'x-request-id': 'one-call-of-anna',
  }
  assert.equal((await fetch(`${sallyport.base_url}/v1/users/me`, { headers })).status, 200)
  await fetch(`${sallyport.base_url}/v1/users/me`, { headers: { 'x-request-id': 'one-call-of-a-stranger' } })
  await until('the calls are in the log', async () => sallyport.output().includes('one-call-of-a-stranger'))
  const entries = entriesOf(sallyport.output())
  const [first, ...said] = entries
  assert.match(first?.msg ?? '', /^Sallyport \d+\.\d+\.\d+( \([0-9a-f]{12}\))? on Node \d+/)
  const has = (pattern: RegExp) =>
    assert.ok(
      said.some(({ msg }) => pattern.test(msg)),
      `${pattern}`,
    )
  has(/^DATABSE_URL is set, which Sallyport does not read; did you mean DATABASE_URL\?/)
  has(/^PostgreSQL \d+\.\d+, database `\w+` at /)
  has(/^1 tenant, in rehearsal: its access is simulated$/)
  has(/^Sallyport is ready at http/)

  const ofAnna = entries.find(({ request_id }) => request_id === 'one-call-of-anna')
  const { time, ms, ip, ...rest } = ofAnna ?? assert.fail('the call is not in the log')
  assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  assert.deepEqual(rest, {
    ...{ level: 'info', msg: 'answered', request_id: 'one-call-of-anna', operation: 'getOwnUser' },
    ...{ method: 'GET', url: '/v1/users/me', status: 200 },
    ...{ tenant_id, actor: { kind: 'user', user_id: anna.id } },
  })
  const ofStranger = entries.find(({ request_id }) => request_id === 'one-call-of-a-stranger')
  assert.ok(ofStranger && !('tenant_id' in ofStranger) && !('actor' in ofStranger))
  // It was asked until it was ready, and once alive.
  assert.ok(!sallyport.output().includes('/readyz') && !sallyport.output().includes('/livez'), 'probes are in the log')
})

test('on a terminal, people read the log', async () => {
  const env = { DATA_DIR: '/dev/null/nowhere', PORT: `${await freePort()}`, LOG_FORMAT: 'text' }
  const refused = startScript('start', [], env)
  assert.equal(await refused.end(), 1)
  const [first = '', last = ''] = refused.output().trim().split('\n')
  assert.match(first, /^\d\d:\d\d:\d\d {2}Sallyport \d/)
  assert.match(
    last,
    /^\d\d:\d\d:\d\d {2}fatal: Sallyport does not start: the data folder `\/dev\/null\/nowhere` cannot be used/,
  )
})

test('a folder that cannot be made is reported, and does not hang', async () => {
  const refused = startScript('start', [], { DATA_DIR: '/proc/nowhere/data', PORT: `${await freePort()}` })
  assert.equal(await refused.end(), 1)
  assert.match(refused.said().at(-1) ?? '', /the data folder `\/proc\/nowhere\/data` cannot be used/)
})

test('a signal during the start stops the database too', async () => {
  for (const line of ['a new database was made', 'created the tenant']) {
    const data_dir = await dataFolder()
    const starting = startScript('start', [], { DATA_DIR: data_dir, PORT: `${await freePort()}` })
    await until(`it says: ${line}`, async () => starting.output().includes(line))
    starting.signal('SIGTERM')
    assert.equal(await starting.end(), 0, starting.output())
    assert.equal(postmasterOf(data_dir), undefined, 'PostgreSQL was left running')
  }
})

test('a command knows the address of the service that runs, and a start counts no process that was stopped or killed', async () => {
  const data_dir = await dataFolder()
  const port = `${await freePort()}`
  // Nobody asks it whether it is ready, which would make it known too.
  const first = startScript('start', [], { DATA_DIR: data_dir, PORT: port })
  await until('it says that it is ready', async () => first.output().includes('Sallyport is ready'))
  const linkOf = async (env: Record<string, string>) => {
    const made = startScript('admin', ['setup-link'], { DATA_DIR: data_dir, ...env })
    assert.equal(await made.end(), 0, made.output())
    return /^Open (.*)\/console\/setup#k=/m.exec(made.output())?.[1]
  }
  assert.equal(await linkOf({}), `http://127.0.0.1:${port}`)
  assert.equal(await linkOf({ PUBLIC_URL: 'https://sallyport.example' }), 'https://sallyport.example')
  first.signal('SIGTERM')
  await first.end()
  assert.equal(await linkOf({}), 'http://127.0.0.1:8080')
  const second = await startOnEmbedded(data_dir)
  await second.kill()
  const third = await startOnEmbedded(data_dir)
  for (const { output } of [second, third]) assert.doesNotMatch(output(), /other process/)
})

test('a second signal ends the service and its PostgreSQL at once', async () => {
  const data_dir = await dataFolder()
  const sallyport = await startOnEmbedded(data_dir)
  const postmaster = postmasterOf(data_dir) ?? 0
  assert.ok(isAlive(postmaster))
  const call = request(`${sallyport.base_url}/v1/users`, {
    method: 'POST',
    headers: {
      'x-tenant-id': sallyport.bootstrap.tenant_id,
      'x-api-key': sallyport.bootstrap.api_key,
      'content-type': 'application/json',
      expect: '100-continue',
    },
    agent: keeping,
  })
  call.on('error', () => undefined).flushHeaders()
  // The stop would wait for this call, whose body never comes.
  await once(call, 'continue')
  sallyport.signal('SIGTERM')
  await until('it ends at a further signal', async () => {
    sallyport.signal('SIGTERM')
    return sallyport.exitCode() !== undefined
  })
  assert.equal(sallyport.exitCode(), 1, sallyport.output())
  await until('PostgreSQL has ended', async () => !isAlive(postmaster))
})
