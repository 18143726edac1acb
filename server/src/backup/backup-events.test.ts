import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { everything, useOwnServer } from '../../test/support/backup-database.ts'
import { seedTenant } from '../../test/support/backup-seed.ts'
import { type TestDatabase, testDatabase } from '../../test/support/database.ts'
import { deliver } from '../../test/support/deliver.ts'
import { until } from '../../test/support/wait.ts'
import { sql } from '../db/sql.ts'
import type { DeliveredEvent, Subscriber } from '../events/deliver.ts'
import { emit } from '../events/emit.ts'
import { queueEvents } from '../events/queue-events.ts'
import { systemActor, type WorkCtx } from '../kernel/context.ts'
import { writeBackup } from './backup.ts'
import { restoreBackup } from './restore.ts'

after(await useOwnServer())
const folder = await mkdtemp(join(tmpdir(), 'sallyport-backup-'))
after(() => rm(folder, { recursive: true }))
let files = 0
const newFile = () => join(folder, `${++files}.backup`)
const backUp = async (db: TestDatabase) => {
  const file = newFile()
  await writeBackup(db.service, file)
  return file
}

const ctxOf = (db: TestDatabase, tenant_id: string): WorkCtx => ({
  tx: db.database.tenant(tenant_id),
  actor: systemActor,
  request_id: 'test',
})
const emitEvent = async (db: TestDatabase, tenant_id: string, subject_id: string) => {
  const ctx = ctxOf(db, tenant_id)
  await ctx.tx.write([emit(ctx, { type: 'request.created', subject_type: 'request', subject_id })])
}
/** The events that a subscriber gets, until it got at least so many and no more are there. */
async function deliveredTo(db: TestDatabase, name: string, atLeast: number): Promise<string[]> {
  const received: string[] = []
  const handle = async (_ctx: WorkCtx, events: readonly DeliveredEvent[]) =>
    void received.push(...events.map((event) => event.subject_id))
  const subscriber: Subscriber = { name, on: ['request.created'], handle }
  await until(`${atLeast} events are delivered`, async () => {
    await deliver(db.database, subscriber, (_failed, error) => assert.fail(String(error)))
    return received.length >= atLeast
  })
  return received
}

test('a subscriber gets its pending events and later ones after a restore, and none twice', async () => {
  const db = await testDatabase()
  const { tenant_id, request_id } = await seedTenant(db, 'Acme')
  assert.deepEqual(await deliveredTo(db, 'slow', 1), [request_id])
  await emitEvent(db, tenant_id, 'waiting')
  assert.deepEqual(await deliveredTo(db, 'quick', 2), [request_id, 'waiting'])
  const queued = { name: 'queued', on: ['request.created'] } as const
  await until('both are queued', async () => {
    await queueEvents(db.database, queued)
    return (await db.asSuperuser(`select from event_queue where subscriber = 'queued' and until_seq = 2`)).length === 1
  })
  const target = await testDatabase()
  await restoreBackup(target, await backUp(db))
  await emitEvent(target, tenant_id, 'later')
  assert.deepEqual(await deliveredTo(target, 'slow', 2), ['waiting', 'later'])
  assert.deepEqual(await deliveredTo(target, 'quick', 1), ['later'])
  assert.deepEqual(await deliveredTo(target, 'queued', 3), [request_id, 'waiting', 'later'])
})

test('an undelivered event with a lower `seq` than a delivered one is not lost', async () => {
  const db = await testDatabase()
  const { tenant_id, request_id } = await seedTenant(db, 'Acme')
  const ctx = ctxOf(db, tenant_id)
  const { promise: held, resolve: commit } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  // Its `xid` is assigned first and its `seq` last, so the two orders differ.
  const early = ctx.tx.interactive(async (tx) => {
    await tx.write([sql`insert into setting (tenant_id, key, value) values (${tenant_id}, 'x', 'y')`])
    begin()
    await held
    await tx.write([emit({ ...ctx, tx }, { type: 'request.created', subject_type: 'request', subject_id: 'early' })])
  })
  await begun
  await emitEvent(db, tenant_id, 'late')
  commit()
  await early
  const order = await db.asSuperuser('select subject_id from event order by xid, seq')
  assert.deepEqual(
    order.map((row) => row.subject_id),
    [request_id, 'early', 'late'],
  )
  // The subscriber got `early`, and waits for `late`, whose `seq` is lower.
  await db.asSuperuser(
    `insert into event_cursor (subscriber, xid, seq) select 'half', xid, seq from event where subject_id = 'early'`,
  )
  const target = await testDatabase()
  await restoreBackup(target, await backUp(db))
  assert.deepEqual(await deliveredTo(target, 'half', 2), ['late', 'early'])
})

test('the numbers of new events continue after the restored ones', async () => {
  const db = await testDatabase()
  const tenants = [await seedTenant(db, 'Acme'), await seedTenant(db, 'Beta')]
  const target = await testDatabase()
  await restoreBackup(target, await backUp(db))
  await emitEvent(target, tenants[0]?.tenant_id ?? '', 'new')
  const rows = await target.asSuperuser('select subject_id from event order by seq')
  assert.equal(rows.length, 3)
  assert.equal(rows.at(-1)?.subject_id, 'new')
  const numbers = await target.asSuperuser('select distinct seq from event')
  assert.equal(numbers.length, 3)
})

test('a backup does not hold up the delivery of events', async () => {
  const db = await testDatabase()
  const { tenant_id } = await seedTenant(db, 'Acme')
  await deliveredTo(db, 's', 1)
  const received: string[] = []
  await writeBackup(db.service, newFile(), {
    onRows: async (rows) => {
      if (rows > 1) return
      await emitEvent(db, tenant_id, 'meanwhile')
      received.push(...(await deliveredTo(db, 's', 1)))
    },
  })
  assert.deepEqual(received, ['meanwhile'])
})

test('a backup is a snapshot of one moment, without later writes', async () => {
  const db = await testDatabase()
  const { tenant_id } = await seedTenant(db, 'Acme')
  const before = await everything(db)
  const file = newFile()
  await writeBackup(db.service, file, { onRows: () => emitEvent(db, tenant_id, 'meanwhile') })
  const target = await testDatabase()
  await restoreBackup(target, file)
  assert.deepEqual(await everything(target), before)
})
