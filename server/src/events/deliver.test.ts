import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { deliver } from '../../test/support/deliver.ts'
import { until } from '../../test/support/wait.ts'
import { sql } from '../db/sql.ts'
import { startDueWork } from '../jobs/work-list.ts'
import { systemActor, type WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import type { EventType } from './catalogue.ts'
import { type DeliveredEvent, deliverQueued, type Subscriber } from './deliver.ts'
import { emit, refuse } from './emit.ts'
import { queueEvents } from './queue-events.ts'

const db = await testDatabase()
const tenants = [newId(), newId()]
for (const id of tenants)
  await db.database.tenant(id).write([sql`insert into tenant (id, name) values (${id}, 'a tenant')`])

const ctxOf = (tenant_id = tenants[0] ?? ''): WorkCtx => ({
  tx: db.database.tenant(tenant_id),
  actor: systemActor,
  request_id: 'test',
})

/** A subscriber that records its events, and fails on the subjects in `fails`. */
function listener(on: EventType[] = ['request.created']) {
  const received: (DeliveredEvent & { tenant_id: string })[] = []
  const fails = new Set<string>()
  const subscriber: Subscriber = {
    name: `listener-${newId()}`,
    on,
    handle: async (ctx, events) => {
      const failing = events.find((event) => fails.has(event.subject_id))
      if (failing !== undefined) throw new Error(`not ready for ${failing.subject_id}`)
      received.push(...events.map((event) => ({ ...event, tenant_id: ctx.tx.tenant_id })))
    },
  }
  const subjects = () => received.map((event) => event.subject_id)
  return { subscriber, received, fails, subjects }
}

const failures: string[] = []
beforeEach(() => failures.splice(0))
const deliverTo = (subscriber: Subscriber) =>
  deliver(db.database, subscriber, ({ event_id }) => failures.push(event_id))
/** Delivers until so many events have arrived: an open transaction holds back later events. */
const untilReceived = (one: ReturnType<typeof listener>, count: number) =>
  until(`${count} events are delivered`, async () => {
    await deliverTo(one.subscriber)
    return one.received.length >= count
  })
const emitEvent = (ctx: WorkCtx, subject_id: string, type: EventType = 'request.created') =>
  ctx.tx.write([emit(ctx, { type, subject_type: 'request', subject_id })])

/** A subscriber that has already passed the events of other tests. */
async function listening(on?: EventType[]) {
  const made = listener(on)
  const [last] = await db.asSuperuser<{ seq: string }>('select coalesce(max(seq), 0)::text as seq from event')
  await until('the earlier events are delivered', async () => {
    await deliverTo(made.subscriber)
    const query = 'select 1 from event_cursor where subscriber = $1 and seq >= $2'
    return (await db.asSuperuser(query, [made.subscriber.name, last?.seq])).length > 0
  })
  made.received.splice(0)
  return made
}

test('delivers to each subscriber its types of events, of every tenant, once and in the order of the tenant', async () => {
  const one = await listening()
  await emitEvent(ctxOf(), 'a')
  await emitEvent(ctxOf(tenants[1]), 'b')
  await emitEvent(ctxOf(), 'ignored', 'request.denied')
  await emitEvent(ctxOf(), 'c')
  await untilReceived(one, 3)
  await deliverTo(one.subscriber)
  const of = (tenant_id = '') =>
    one.received.filter((event) => event.tenant_id === tenant_id).map(({ subject_id }) => subject_id)
  assert.deepEqual([of(tenants[0]), of(tenants[1])], [['a', 'c'], ['b']])
})

test('several events of one change are delivered in the order in which they were emitted', async () => {
  const one = await listening(['request.created', 'request.approved', 'request.break_glass'])
  const types: EventType[] = ['request.created', 'request.approved', 'request.break_glass']
  const ctx = ctxOf()
  await ctx.tx.write([
    emit(
      ctx,
      types.map((type) => ({ type, subject_type: 'request', subject_id: type })),
    ),
  ])
  await untilReceived(one, 3)
  assert.deepEqual(one.subjects(), types)
})

test('an event of a transaction that commits late is not skipped', async () => {
  const one = await listening()
  const ctx = ctxOf()
  const written = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const late = ctx.tx.interactive(async (tx) => {
    await tx.write([emit({ ...ctx, tx }, { type: 'request.created', subject_type: 'request', subject_id: 'late' })])
    written.resolve()
    await held.promise
  })
  await written.promise
  await emitEvent(ctxOf(tenants[1]), 'early')
  await deliverTo(one.subscriber)
  assert.deepEqual(one.subjects(), [], 'no event after an open transaction is delivered yet')
  held.resolve()
  await late
  await untilReceived(one, 2)
  assert.deepEqual(one.subjects().sort(), ['early', 'late'])
})

test('an event that a subscriber fails on does not delay later events, and is retried until it succeeds', async () => {
  const one = await listening()
  one.fails.add('broken')
  await emitEvent(ctxOf(), 'broken')
  await emitEvent(ctxOf(), 'after')
  await untilReceived(one, 1)
  assert.deepEqual(one.subjects(), ['after'])
  assert.ok(failures.length >= 1)
  const parked = () =>
    db.asSuperuser<{ last_error: string }>('select last_error from event_parked where subscriber = $1', [
      one.subscriber.name,
    ])
  assert.deepEqual(await parked(), [{ last_error: 'not ready for broken' }])
  one.fails.clear()
  await db.asSuperuser('update event_parked set next_look_at = clock_timestamp()')
  await db.asSuperuser('update event_queue set next_look_at = clock_timestamp()')
  await untilReceived(one, 2)
  assert.deepEqual(one.subjects(), ['after', 'broken'])
  assert.deepEqual(await parked(), [])
})

test('of many events, one that fails is found in few tries, and parked alone', async () => {
  const one = await listening()
  const tries: number[] = []
  const handle: Subscriber['handle'] = (ctx, events) => {
    tries.push(events.length)
    return one.subscriber.handle(ctx, events)
  }
  one.fails.add('17')
  const subjects = await emitMany(20)
  await queue(one, 20)
  await runOnce({ ...one.subscriber, handle })
  assert.equal(one.subjects().join(), subjects.filter((subject) => subject !== '17').join())
  assert.ok(tries.length <= 11, `tries of ${tries.join()} events`)
})

test('an event that fails repeatedly waits twice as long each time, an hour at most', async () => {
  const one = await listening()
  one.fails.add('broken')
  await emitEvent(ctxOf(), 'broken')
  const name = one.subscriber.name
  const clock = async () => {
    const [row] = await db.asSuperuser<{ at: number }>('select extract(epoch from clock_timestamp())::float8 as at')
    return row?.at ?? 0
  }
  const waits = { 1: 1, 2: 2, 3: 4, 12: 2_048, 13: 3_600, 14: 3_600, 2000000: 3_600 }
  for (const [failures, seconds] of Object.entries(waits)) {
    const before = 'update event_parked set attempts = $2, next_look_at = clock_timestamp() where subscriber = $1'
    await db.asSuperuser(before, [name, Number(failures) - 1])
    await db.asSuperuser('update event_queue set next_look_at = clock_timestamp() where subscriber = $1', [name])
    const since = await clock()
    const select = `select extract(epoch from next_look_at)::float8 as at from event_parked
      where subscriber = $1 and attempts = $2`
    const at = await until(`it has failed ${failures} times`, async () => {
      await deliverTo(one.subscriber)
      return (await db.asSuperuser<{ at: number }>(select, [name, failures]))[0]?.at
    })
    assert.ok(since <= at - seconds && at - seconds <= (await clock()), `${seconds} s after ${failures} failures`)
  }
})

/** How much waits in the queue of the first tenant. */
const positions = (name: string) =>
  db.asSuperuser<{ due: boolean; left: number }>(
    `select q.next_look_at <= clock_timestamp() as due, (select count(*)::int from event e
        where e.tenant_id = q.tenant_id and (e.xid, e.seq) > (q.xid, q.seq)
          and (e.xid, e.seq) <= (q.until_xid, q.until_seq)) as left
      from event_queue q where subscriber = $1 and tenant_id = $2`,
    [name, tenants[0]],
  )
const queue = (one: ReturnType<typeof listener>, count: number) =>
  until(`${count} events are queued`, async () => {
    await queueEvents(db.database, one.subscriber)
    return (await positions(one.subscriber.name))[0]?.left === count
  })
const emitMany = async (count: number) => {
  const ctx = ctxOf()
  const subjects = Array.from({ length: count }, (_, number) => `${number}`)
  const one = { type: 'request.created', subject_type: 'request' } as const
  await ctx.tx.write([
    emit(
      ctx,
      subjects.map((subject_id) => ({ ...one, subject_id })),
    ),
  ])
  return subjects
}

test('events of a tenant that take long delay no event of another, and all are delivered once, in order', async () => {
  const one = await listening()
  const [slow = '', quick = ''] = tenants
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let begun = 0
  const hanging: Subscriber = {
    ...one.subscriber,
    async handle(ctx, events) {
      if (ctx.tx.tenant_id === slow) {
        begun += 1
        await released
      }
      await one.subscriber.handle(ctx, events)
    },
  }
  const flood = await emitMany(60)
  await queue(one, flood.length)
  const failed = (error: unknown) => assert.fail(String(error))
  const both = { takes: db.database, others: db.database }
  const loop = startDueWork(both, [deliverQueued([hanging], () => undefined)], 4, failed, () => undefined)
  await until('the slow tenant is at work', async () => begun === 1)
  await emitEvent(ctxOf(quick), 'quick')
  await until('the event of the other tenant is delivered', async () => {
    await queueEvents(db.database, one.subscriber)
    loop.wake()
    return one.received.length > 0
  })
  assert.deepEqual(one.subjects(), ['quick'])
  release()
  await until('the rest is delivered', async () => one.received.length === flood.length + 1)
  assert.deepEqual(one.subjects(), ['quick', ...flood])
  await loop.stop()
})

test('a turn ends when its time is up, and the next one begins where it ended', async (t) => {
  const one = await listening()
  const flood = await emitMany(110)
  await queue(one, flood.length)
  let now = 0
  t.mock.method(performance, 'now', () => (now += 2_000))
  const ends: { due: boolean; left: number }[] = []
  for (const _turn of [1, 2, 3]) {
    await runOnce(one.subscriber)
    const [{ due, left } = { due: false, left: 0 }] = await positions(one.subscriber.name)
    ends.push({ due, left })
  }
  t.mock.restoreAll()
  assert.deepEqual(ends.slice(0, 2), [
    { due: true, left: 60 },
    { due: true, left: 10 },
  ])
  assert.equal(ends[2]?.left, 0)
  assert.deepEqual(one.subjects(), flood)
})

/** Claims the queue of the first tenant, and works one turn of it. */
async function runOnce(subscriber: Subscriber): Promise<void> {
  const [item] = await db.asSuperuser<{ tenant_id: string; id: string; generation: string }>(
    `update event_queue set generation = generation + 1, lease_until = clock_timestamp() + interval '20 seconds'
      where subscriber = $1 and tenant_id = $2 returning tenant_id, id, generation::text`,
    [subscriber.name, tenants[0]],
  )
  assert.ok(item)
  await deliverQueued([subscriber], () => undefined).run(ctxOf(item.tenant_id), item)
}

test('a process that lost its lease moves nothing, and the next one delivers again', async () => {
  const one = await listening()
  await emitEvent(ctxOf(), 'x')
  await queue(one, 1)
  const losing: Subscriber = {
    ...one.subscriber,
    async handle(ctx, events) {
      await db.asSuperuser('update event_queue set generation = generation + 1 where subscriber = $1', [
        one.subscriber.name,
      ])
      await one.subscriber.handle(ctx, events)
    },
  }
  await runOnce(losing)
  assert.equal((await positions(one.subscriber.name))[0]?.left, 1)
  await runOnce(one.subscriber)
  assert.equal((await positions(one.subscriber.name))[0]?.left, 0)
  assert.deepEqual(one.subjects(), ['x', 'x'])
})

test('a refusal emits its event, although nothing else is written', async () => {
  const problem = new Problem('forbidden', 'no')
  const refused = refuse(ctxOf(), problem, { type: 'access.refused', subject_type: 'operation', subject_id: 'refusal' })
  await assert.rejects(refused, (error) => error === problem)
  const rows = await db.asSuperuser(`select type from event where subject_id = 'refusal'`)
  assert.deepEqual(rows, [{ type: 'access.refused' }])
})
