import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import type { Database } from '../db/transaction.ts'
import type { Subscription } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { openStreamHub } from './stream-hub.ts'

const { database } = await testDatabase()
const [acme, other] = [newId(), newId()]

/** Counts the trips that the bell makes. */
function counted() {
  const trips = { count: 0 }
  const work: Database['work'] = {
    ...database.work,
    read: (statement) => {
      trips.count += 1
      return database.work.read(statement)
    },
  }
  return { bell: openStreamHub({ ...database, work }), trips }
}

/** A look that is not too early. */
async function look(bell: ReturnType<typeof openStreamHub>): Promise<void> {
  while ((await bell.check()) < 1_000);
}

test('asks nothing while nobody listens, and once for however many do', async () => {
  const { bell, trips } = counted()
  await look(bell)
  assert.equal(trips.count, 0)
  const subscriptions = Array.from({ length: 500 }, () => bell.subscribe(acme, newId()))
  const heard = subscriptions.map((subscription) => subscription.next())
  await look(bell)
  await look(bell)
  assert.equal(trips.count, 2)
  // Before the first look anything may have been written.
  assert.deepEqual(new Set(await Promise.all(heard)), new Set(['notified']))
  for (const subscription of subscriptions) subscription.close()
  await look(bell)
  assert.equal(trips.count, 2)
})

test('takes a thousand subscriptions and no more: the next is refused until one goes', async () => {
  const { bell } = counted()
  const subscriptions = Array.from({ length: 1_000 }, () => bell.subscribe(acme, newId()))
  assert.throws(() => bell.subscribe(acme, newId()), { code: 'unavailable', status: 503 })
  subscriptions[0]?.close()
  subscriptions[0]?.close()
  assert.equal(bell.listening(), 999)
  bell.subscribe(acme, newId())
  assert.equal(bell.listening(), 1_000)
})

test('a tenant that has all places gives one up for another tenant, and takes none of those that have fewer (T14)', async () => {
  const { bell } = counted()
  const subscriptions = Array.from({ length: 1_000 }, () => bell.subscribe(acme, newId()))
  const guest = bell.subscribe(other, newId())
  assert.equal(await subscriptions[0]?.next(), 'over')
  assert.equal(bell.listening(), 1_000)
  assert.throws(() => bell.subscribe(acme, newId()), { code: 'unavailable' })
  bell.subscribe(other, newId())
  assert.equal(await subscriptions[1]?.next(), 'over')
  const heard = guest.next()
  await look(bell)
  assert.equal(await heard, 'notified')
})

test('the sixth of one person takes the place of the oldest', async () => {
  const { bell } = counted()
  const user_id = newId()
  const subscriptions: Subscription[] = Array.from({ length: 6 }, () => bell.subscribe(acme, user_id))
  assert.equal(await subscriptions[0]?.next(), 'replaced')
  assert.equal(bell.listening(), 5)
  subscriptions[0]?.close()
  assert.equal(bell.listening(), 5)
})

test('when it closes, whoever listens hears so, again and again, and nobody comes any more', async () => {
  const { bell } = counted()
  const subscription = bell.subscribe(acme, newId())
  bell.close()
  assert.deepEqual([await subscription.next(), await subscription.next()], ['over', 'over'])
  assert.throws(() => bell.subscribe(acme, newId()), { code: 'unavailable' })
})

test('what was told while nobody waited is heard by the next who does', async () => {
  const { bell } = counted()
  const subscription = bell.subscribe(acme, newId())
  await look(bell)
  assert.equal(await subscription.next(), 'notified')
  const next = subscription.next()
  await look(bell)
  assert.equal(await next, 'quiet')
})

test('whoever comes while it looks hears something: what was written before that look is not looked for again', async () => {
  let late: Subscription | undefined
  let comes = false
  const work: Database['work'] = {
    ...database.work,
    read: (statement) => {
      if (comes) late ??= bell.subscribe(acme, newId())
      return database.work.read(statement)
    },
  }
  const bell = openStreamHub({ ...database, work })
  bell.subscribe(acme, newId())
  await look(bell)
  comes = true
  await look(bell)
  const heard = late?.next()
  await look(bell)
  assert.equal(await heard, 'notified')
})
