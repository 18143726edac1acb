import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectAlone } from '../../src/db/client/connect.ts'
import { sql } from '../../src/db/sql.ts'
import { openDatabase } from '../../src/db/transaction.ts'
import { newId } from '../../src/kernel/id.ts'
import { testDatabase } from '../support/database.ts'
import { anyBatch, type CrashPoint, strikeAt } from './crash-points.ts'
import { type AnsweredBatch, startWireProxy } from './wire-proxy.ts'

const db = await testDatabase()
const proxy = await startWireProxy(db.service)
db.atEnd(proxy.close)
const through = { ...db.service, host: '127.0.0.1', port: proxy.port }

/** Listens for batches with such a statement. */
function recordBatches(pattern: RegExp): AnsweredBatch[] {
  const batches: AnsweredBatch[] = []
  proxy.listen({
    answered(batch) {
      if (batch.statements.some(({ text }) => pattern.test(text))) batches.push(batch)
    },
  })
  return batches
}

const makeTenant = (id: string) => sql`insert into tenant (id, name) values (${id}, 'wired')`
const countOf = (id: string) => db.asSuperuser('select from tenant where id = $1', [id]).then((rows) => rows.length)

test('a transaction sent as one batch is reported as one, with its values and the rows it changed', async () => {
  const database = openDatabase(through, { writes: 1, long: 1 })
  const batches = recordBatches(/into tenant/)
  const id = newId()
  await database.tenant(id).write([makeTenant(id), sql`select 1 from tenant where id = ${id}`])
  assert.equal(batches.length, 1)
  const [batch] = batches
  assert.deepEqual(batch?.rows.slice(-2), [1, 1])
  assert.equal(batch?.statements.at(-2)?.values[0], id)
  assert.deepEqual([batch?.isOpen, batch?.failed], [false, false])
  await database.close()
})

test('a transaction sent in several batches is open until its commit', async () => {
  const client = await connectAlone(through)
  const batches = recordBatches(/./)
  await client.query('begin')
  await client.query('select set_config($1, $2, true)', ['app.tenant_id', newId()])
  await client.query('commit')
  assert.deepEqual(
    batches.map(({ isOpen, statements }) => [isOpen, statements[0]?.text.slice(0, 6)]),
    [
      [true, 'begin'],
      [true, 'select'],
      [false, 'commit'],
    ],
  )
  await client.end()
})

const tenantMade = { what: 'a tenant is created', in: [/into tenant/] }
const before: CrashPoint = { name: 'before', moment: 'before', ...tenantMade }
const after: CrashPoint = { name: 'after', moment: 'after', ...tenantMade }

for (const [point, kept] of [
  [before, 0],
  [after, 1],
] as const) {
  test(`frozen ${point.name} a batch, the database has ${kept === 0 ? 'not received it' : 'committed it, and no answer arrives'}`, async () => {
    const database = openDatabase(through, { writes: 1, long: 1 })
    const id = newId()
    proxy.listen(strikeAt(point, 1, proxy.freeze, async () => true))
    await assert.rejects(database.tenant(id).write([makeTenant(id)]))
    assert.equal(await countOf(id), kept)
    await database.close()
  })
}

test('a failed batch does not count, nor one that is rolled back', async () => {
  const client = await connectAlone(through)
  let strikes = 0
  const [, afterAny] = anyBatch
  assert.ok(afterAny)
  const count = () => {
    strikes += 1
  }
  proxy.listen(strikeAt({ ...afterAny, in: [/from nowhere|'taken back'/] }, 1, count, async () => true))
  await assert.rejects(client.query('select from nowhere'))
  await client.query('begin')
  await client.query(`select 'taken back'`)
  await client.query('rollback')
  assert.equal(strikes, 0)
  await client.query(`select 'taken back'`)
  assert.equal(strikes, 1)
  await client.end()
})
