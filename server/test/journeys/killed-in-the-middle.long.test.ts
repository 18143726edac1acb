import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { connectAlone } from '../../src/db/client/connect.ts'
import { readRunningEmbedded } from '../../src/embedded-postgres/start.ts'
import { findLost, type Query } from '../kill/acknowledged.ts'
import { converge } from '../kill/under-fire.ts'
import { dataFolder } from '../support/data-folder.ts'
import { startRecorder } from '../support/recorder.ts'
import { startOnEmbedded, startScript } from '../support/sallyport.ts'
import { faultSchema, injectFaults } from '../support/sandbox-faults.ts'
import { until } from '../support/wait.ts'

/** The same as `server/test/kill`, once, on what `npm start` starts by itself: the embedded database, and the demo. */
const data_dir = await dataFolder()

/** Queries the embedded database, which survives a killed service, as the superuser; call it while the database runs. */
async function openQuery(): Promise<Query> {
  const endpoint = await until('the embedded PostgreSQL answers', () => readRunningEmbedded(data_dir))
  const { host, port, superuser: user, password } = endpoint
  const client = await connectAlone({ host, port, user, database: 'sallyport', ...(password && { password }) })
  // The service ends its database when it stops, and this connection with it.
  client.on('error', () => undefined)
  after(() => client.end().catch(() => undefined))
  return async <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
    (await client.query<Row>(text, values)).rows
}

test('killed during an act at a target, it restarts without loss and completes the approved grants', async (t) => {
  const before = await startOnEmbedded(data_dir, {}, 'startWithFaults')
  const query = await openQuery()
  await query(faultSchema)
  await injectFaults(query, before.bootstrap.tenant_id, { polls: 6 })
  const { url, exchanges } = await startRecorder(before.base_url, () => undefined)
  const interrupted = startScript('demo', ['--url', url], { DATA_DIR: data_dir })
  await until(
    'a grant is being given',
    async () => (await query(`select from access_grant where provisioning_status = 'attempting'`)).length > 0,
    60_000,
  )
  await before.kill()
  await interrupted.end()
  assert.ok(
    exchanges.some(({ method, path, status }) => method === 'POST' && path === '/v1/requests' && status === 201),
  )

  const again = await startOnEmbedded(data_dir, {}, 'startWithFaults')
  t.diagnostic(`ready again after ${Math.round(again.readyAfterMs)} ms`)
  assert.deepEqual(await findLost(query, exchanges), [])
  assert.deepEqual(await converge(query), [])
  const given = await query(`select from access_grant where status = 'active'`)
  assert.ok(given.length > 0, 'the grant in progress is not active')

  await injectFaults(query, again.bootstrap.tenant_id, {})
  const demo = startScript('demo', ['--url', again.base_url], { DATA_DIR: data_dir })
  assert.equal(await demo.end(), 0, demo.output())
  assert.deepEqual(await converge(query), [])
  assert.equal(await again.stop(), 0, again.output())
})
