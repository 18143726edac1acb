import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { deliver } from '../../test/support/deliver.ts'
import { until } from '../../test/support/wait.ts'
import { sql } from '../db/sql.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { Subscriber } from './deliver.ts'
import { emit } from './emit.ts'
import { queueEvents, queueParked } from './queue-events.ts'

const db = await testDatabase()
const tenant_id = newId()
const tx = db.database.tenant(tenant_id)
await tx.write([sql`insert into tenant (id, name) values (${tenant_id}, 'a tenant')`])

let received: string[] = []
let fails = false
const subscriber: Subscriber = {
  name: 'a subscriber',
  on: ['request.created'],
  async handle(_ctx, events) {
    if (fails) throw new Error('not ready')
    received.push(...events.map(({ subject_id }) => subject_id))
  },
}
const deliverAll = () => deliver(db.database, subscriber, () => undefined)
const emitEvent = (subject_id: string) => {
  const event = { type: 'request.created', subject_type: 'request', subject_id } as const
  return tx.write([emit({ tx, actor: systemActor, request_id: 'test' }, event)])
}
const untilReceived = (...subjects: string[]) =>
  until(`${subjects} are delivered`, async () => {
    await deliverAll()
    return received.length >= subjects.length
  }).then(() => assert.deepEqual(received, subjects))
/** Whether the cursor reaches the last event. */
const isQueued = async () =>
  (await db.asSuperuser('select from event_cursor where seq = (select max(seq) from event)')).length > 0

beforeEach(async () => {
  await deliverAll()
  received = []
})

test('of two processes that queue events at the same moment, one does nothing', async () => {
  await emitEvent('x')
  await db.asSuperuser('begin')
  await db.asSuperuser('select from event_cursor for update')
  assert.deepEqual(await queueEvents(db.database, subscriber), { queued: 0, isBehind: false })
  await db.asSuperuser('commit')
  await untilReceived('x')
})

test('nothing is queued while a process of an older version delivers', async () => {
  await emitEvent('x')
  await db.asSuperuser(`update event_cursor set lease_until = clock_timestamp() + interval '20 seconds'`)
  assert.deepEqual(await queueEvents(db.database, subscriber), { queued: 0, isBehind: false })
  await db.asSuperuser('update event_cursor set lease_until = null')
  await untilReceived('x')
})

test('an event that is queued while the queue is at work is delivered after the others', async () => {
  await emitEvent('first')
  const during: Subscriber = {
    ...subscriber,
    async handle(ctx, events) {
      if (received.length === 0) {
        await emitEvent('second')
        await until('it is queued', async () => {
          await queueEvents(db.database, subscriber)
          return isQueued()
        })
      }
      await subscriber.handle(ctx, events)
    },
  }
  await until('both are delivered', async () => {
    await deliver(db.database, during, () => undefined)
    return received.length === 2
  })
  assert.deepEqual(received, ['first', 'second'])
})

test('a parked event without a queue is retried after the next start, and no event before it', async () => {
  await emitEvent('parked')
  fails = true
  await until('it is parked', async () => {
    await deliverAll()
    return (await db.asSuperuser('select from event_parked')).length > 0
  })
  fails = false
  await db.asSuperuser('delete from event_queue')
  await db.asSuperuser('update event_parked set next_look_at = clock_timestamp()')
  await deliverAll()
  assert.deepEqual(received, [])
  await db.database.work.write([queueParked()])
  await untilReceived('parked')
})
