import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBreakableServer } from '../support/breakable-server.ts'
import { longVariable } from '../support/race.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { until } from '../support/wait.ts'
import { failures, goOnAsking, isRefused, prepare, requireKept, untilEnded } from './asking.ts'

/** The minimum time that the disk is full: `npm run test:outage` is the long form. */
const fullForMs = process.env[longVariable] === undefined ? 10_000 : 72_000

const disk = mountSmallDisk(300)

test('with the disk of its database full it says so, keeps running, loses nothing, and recovers by itself (F5)', {
  skip: typeof disk === 'string' && disk,
}, async (t) => {
  if (typeof disk === 'string') return
  const server = await startBreakableServer(disk.folder)
  const sallyport = await server.startSallyport()
  const healthOf = async (path: string) => (await fetch(sallyport.base_url + path)).status
  const { headers, endAt } = await prepare(server, sallyport)
  const { calls, stop } = goOnAsking(sallyport.base_url, headers)
  t.after(stop)
  await until('calls are answered', async () => calls.length > 20)

  disk.fill()
  const fullAt = performance.now()
  await until('calls are refused', async () => calls.filter(isRefused).length >= 6, 120_000)
  const refusedAfter = performance.now() - fullAt
  await until(
    'the disk was full long enough, and the access has ended',
    async () => {
      // What a checkpoint frees is filled again.
      if (disk.freeBytes() > 1 << 20) disk.fill()
      return performance.now() >= Math.max(fullAt + fullForMs, endAt + 500)
    },
    240_000,
  )
  assert.equal(await healthOf('/livez'), 200)
  const full = calls.filter(({ at }) => at > fullAt)
  const reads = full.filter((call) => 'status' in call && call.status === 200).length
  const survived = server.isAlive()

  disk.empty()
  const backAt = performance.now()
  // Where no file of the log could be made, PostgreSQL ends, and is started again by what watches it.
  if (!survived) await server.comeBack('stopped')
  await until('requests are accepted again', async () =>
    calls.some((call) => call.at > backAt && 'status' in call && call.status === 201),
  )
  const servedAfter = performance.now() - backAt
  await untilEnded(server)
  const endedAfter = performance.now() - backAt
  await until('the service is ready', async () => (await healthOf('/readyz')) === 200)
  await stop()

  assert.deepEqual(failures(calls), [])
  assert.equal(sallyport.exitCode(), undefined, sallyport.output())
  const made = await requireKept(server, calls)
  assert.doesNotMatch(sallyport.output(), /"status":500/)
  assert.equal(await sallyport.stop(), 0, sallyport.output())

  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  t.diagnostic(
    `full for ${seconds(backAt - fullAt)}: writes refused after ${seconds(refusedAfter)}, ${full.filter(isRefused).length} calls refused, ${reads} reads answered; PostgreSQL ${survived ? 'went on' : 'ended, and was started again'}`,
  )
  t.diagnostic(
    `free: requests accepted after ${seconds(servedAfter)}, ended access gone after ${seconds(endedAfter)}; ${made} requests acknowledged in all, none lost`,
  )
})
