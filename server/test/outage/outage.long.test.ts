import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Absence, startBreakableServer } from '../support/breakable-server.ts'
import { readExposition } from '../support/exposition.ts'
import { freePort } from '../support/free-port.ts'
import { longVariable } from '../support/race.ts'
import { until } from '../support/wait.ts'
import { failures, goOnAsking, isRefused, prepare, requireKept, untilEnded } from './asking.ts'

/** The minimum time that the database is gone: `npm run test:outage` is the long form. */
const goneForMs = process.env[longVariable] === undefined ? 3_000 : 60_000

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
    const made = await requireKept(server, calls)
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
      `back: requests accepted after ${round(servedAfter)}, ended access revoked after ${round(endedAfter)}; ${made} requests acknowledged in all, none lost`,
    )
  })
}
