import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Absence, startBreakableServer } from '../support/breakable-server.ts'
import { readExposition } from '../support/exposition.ts'
import { freePort } from '../support/free-port.ts'
import { type Outcome, openCaller } from '../support/load.ts'
import { longVariable } from '../support/race.ts'
import type { Sallyport } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** The minimum time that the database is gone: `npm run test:outage` is the long form. */
const goneForMs = process.env[longVariable] === undefined ? 3_000 : 60_000

type Server = Awaited<ReturnType<typeof startBreakableServer>>
type Call = Outcome & { ms: number; at: number }

const wanted = (resource: object) => ({ resource, action: 'Look', reason: 'a look', duration_seconds: 600 })

/** Ada, whose requests are approved automatically, and who holds access that ends while the database is gone. */
async function prepare({ asSuperuser }: Server, sallyport: Sallyport) {
  const key = sallyport.client({ api_key: sallyport.bootstrap.api_key })
  const policy = await key<{ id: string }>('POST', '/v1/policies', { name: 'At once' })
  await key('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit', approval_mode: 'auto' })
  const { call, token } = await sallyport.join('Ada', ['user'])
  for (let account = 1; account <= 5; account += 1) {
    const resource = { type: 'cloud_account', id: `${100_000_000_000 + account}` }
    assert.equal((await call('POST', '/v1/requests', wanted(resource))).status, 201)
  }
  await until('the access is active, and no process is working on it', async () => {
    const active = await asSuperuser(`select from access_grant where status = 'active'`)
    const leased = await asSuperuser(`select from entitlement where lease_until is not null`)
    return active.length === 5 && leased.length === 0
  })
  await asSuperuser(
    `with nearer as (update access_grant set activated_at = clock_timestamp() - interval '598 seconds',
        expires_at = clock_timestamp() + interval '2 seconds' where status = 'active' returning *)
     update entitlement set next_look_at = nearer.expires_at from nearer where entitlement.id = nearer.entitlement_id`,
  )
  return {
    endAt: performance.now() + 2_000,
    headers: { authorization: `Bearer ${token}`, 'x-tenant-id': sallyport.bootstrap.tenant_id },
  }
}

/** Users who keep requesting access and reading their grants, whatever the answers, until `stop` is called. */
function goOnAsking(base_url: string, headers: Record<string, string>) {
  const calls: Call[] = []
  let stopped = false
  const asking = Array.from({ length: 4 }, async (_, person) => {
    const { send, close } = openCaller(headers)
    for (let number = person; !stopped; number += 1) {
      const began = performance.now()
      const resource = { type: 'cloud_account', id: `${200_000_000_000 + number}` }
      const outcome = await (number % 2 === 0
        ? send(`${base_url}/v1/requests`, 'POST', wanted(resource))
        : send(`${base_url}/v1/grants?limit=5`, 'GET'))
      calls.push({ ...outcome, at: performance.now(), ms: performance.now() - began })
      await pause(150)
    }
    close()
  })
  return {
    calls,
    async stop() {
      stopped = true
      await Promise.all(asking)
    },
  }
}

function isRefused(call: Call): boolean {
  return 'status' in call && call.status === 503
}

/** The failed calls: each kind once. */
function failures(calls: readonly Call[]): string[] {
  const bad = calls.filter((call) => {
    if (!('status' in call)) return true
    if (call.status !== 503) return ![200, 201].includes(call.status)
    return (JSON.parse(call.body) as { code: string }).code !== 'unavailable' || !(Number(call.retryAfter) >= 1)
  })
  return [...new Set(bad.map(({ ms, at, ...outcome }) => JSON.stringify(outcome)))]
}

/** Waits until all access whose end passed during the outage has ended and is revoked. */
function untilEnded({ asSuperuser }: Server): Promise<unknown> {
  return until(
    'access that ended meanwhile is revoked',
    async () => {
      const left = await asSuperuser(`select from sandbox_assignment where key like '%"10000000000_"%'`)
      const live =
        await asSuperuser(`select from access_grant where duration_seconds = 600 and expires_at <= clock_timestamp()
        and (status = 'active' or provisioning_status <> 'deprovisioned')`)
      return left.length === 0 && live.length === 0
    },
    60_000,
  )
}

for (const absence of ['stopped', 'frozen'] satisfies Absence[]) {
  test(`with its database ${absence} it reports so, keeps running, loses nothing, and recovers by itself (F3)`, async (t) => {
    const METRICS_PORT = `${await freePort()}`
    const server = await startBreakableServer()
    const sallyport = await server.startSallyport({ METRICS_PORT })
    const healthOf = async (path: string) => (await fetch(sallyport.base_url + path)).status
    const isUp = async () => {
      const text = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()
      return readExposition(text).get('sallyport_database_up')?.samples[0]?.value
    }
    const { headers, endAt } = await prepare(server, sallyport)
    const { calls, stop } = goOnAsking(sallyport.base_url, headers)
    t.after(stop)
    await until('calls are answered', async () => calls.length > 20)
    const linesBefore = sallyport.output().split('\n').length

    await server.goAway(absence)
    const goneAt = performance.now()
    await until('calls are refused', async () => calls.filter(isRefused).length >= 6)
    assert.deepEqual([await healthOf('/livez'), await healthOf('/readyz'), await isUp()], [200, 503, 0])
    await until(
      'the outage is long enough, and the access has ended',
      async () => performance.now() >= Math.max(goneAt + goneForMs, endAt + 500),
      120_000,
    )
    const gone = calls.filter(({ at }) => at > goneAt)
    const goneSeconds = (performance.now() - goneAt) / 1_000
    const lines = sallyport.output().split('\n').length - linesBefore

    await server.comeBack(absence)
    const backAt = performance.now()
    await until('requests are accepted again', async () =>
      calls.some((call) => call.at > backAt && 'status' in call && call.status === 201),
    )
    const servedAfter = performance.now() - backAt
    await untilEnded(server)
    const endedAfter = performance.now() - backAt
    await until('the service is ready', async () => (await healthOf('/readyz')) === 200)
    await until('the metrics show it', async () => (await isUp()) === 1)
    await stop()

    assert.deepEqual(failures(calls), [])
    assert.equal(sallyport.exitCode(), undefined, sallyport.output())
    const made = calls.flatMap((call) =>
      'status' in call && call.status === 201 ? [(JSON.parse(call.body) as { id: string }).id] : [],
    )
    const kept = await server.asSuperuser('select from access_request where id = any($1)', [made])
    assert.equal(kept.length, made.length, 'an acknowledged request is lost')
    assert.ok(lines <= 50 + 10 * goneSeconds, `${lines} lines in ${goneSeconds} s`)
    assert.equal(await sallyport.stop(), 0, sallyport.output())

    const slowest = Math.max(...gone.filter(isRefused).map(({ ms }) => ms))
    const ms = gone
      .filter(isRefused)
      .map((call) => call.ms)
      .sort((a, b) => a - b)
    const round = (value: number | undefined) => `${Math.round(value ?? 0)} ms`
    t.diagnostic(
      `gone for ${goneSeconds.toFixed(1)} s: ${ms.length} calls refused, half of them within ${round(ms[ms.length >> 1])}, the slowest after ${round(slowest)}; ${lines} lines logged`,
    )
    t.diagnostic(
      `back: requests accepted after ${round(servedAfter)}, ended access revoked after ${round(endedAfter)}; ${made.length} requests acknowledged in all, none lost`,
    )
  })
}
