import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { sql } from '../sql.ts'
import { SharedConnection } from './shared-connection.ts'

const db = await testDatabase()
const shared = new SharedConnection(db.service)
db.atEnd(() => shared.close())
const whoServes = sql`select pg_backend_pid() as pid`

const useIt = async () => (await (shared.current ?? (await shared.connect())).run([whoServes]))[0]
const tick = (times: number) => {
  for (let ticks = 0; ticks < times; ticks++) shared.tick()
}

test('callers that arrive while the connection opens share it', async () => {
  const [one, two] = await Promise.all([useIt(), useIt()])
  assert.deepEqual(one, two)
})

test('the connection stays open while it is used, and is closed after sixty ticks without use; the next use opens another', async () => {
  const first = await useIt()
  tick(59)
  assert.deepEqual(await useIt(), first)
  tick(59)
  assert.equal(shared.open, 1)
  tick(1)
  assert.equal(shared.open, 0)
  const second = await useIt()
  assert.notDeepEqual(second, first)
})

test('a connection that was lost is opened again', async () => {
  const [row] = (await useIt()) as [{ pid: number }]
  await db.asSuperuser('select pg_terminate_backend($1)', [row.pid])
  const again = async (): Promise<unknown> => useIt().catch(again)
  assert.notDeepEqual(await again(), [row])
})
