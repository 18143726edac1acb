import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import type { Database } from '../db/transaction.ts'
import type { Subscription } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { openStreamHub } from './stream-hub.ts'

const { database } = await testDatabase()
const [acme, other] = [newId(), newId()]

/** Counts the round trips that the hub makes. */
function counted() {
  const trips = { count: 0 }
  const work: Database['work'] = {
    ...database.work,
    read: (statement) => {
      trips.count += 1
      return database.work.read(statement)
    },
  }
  return { hub: openStreamHub({ ...database, work }), trips }
}

/** A check that is not too early. */
async function check(hub: ReturnType<typeof openStreamHub>): Promise<void> {
  while ((await hub.check()) < 1_000);
}

test('queries nothing without subscriptions, and once per check for any number of them', async () => {
  const { hub, trips } = counted()
  await check(hub)
  assert.equal(trips.count, 0)
  const subscriptions = Array.from({ length: 500 }, () => hub.subscribe(acme, newId()))
  const results = subscriptions.map((subscription) => subscription.next())
  await check(hub)
  await check(hub)
  assert.equal(trips.count, 2)
  // A notification may have been written before the first check, so every subscription is notified.
  assert.deepEqual(new Set(await Promise.all(results)), new Set(['notified']))
  for (const subscription of subscriptions) subscription.close()
  await check(hub)
  assert.equal(trips.count, 2)
})

test('accepts a thousand subscriptions: the next is refused until one closes', async () => {
  const { hub } = counted()
  const subscriptions = Array.from({ length: 1_000 }, () => hub.subscribe(acme, newId()))
  assert.throws(() => hub.subscribe(acme, newId()), { code: 'unavailable', status: 503 })
  subscriptions[0]?.close()
  subscriptions[0]?.close()
  assert.equal(hub.listening(), 999)
  hub.subscribe(acme, newId())
  assert.equal(hub.listening(), 1_000)
})

test('a tenant with all places loses one to another tenant, and takes none from tenants with fewer (T14)', async () => {
  const { hub } = counted()
  const subscriptions = Array.from({ length: 1_000 }, () => hub.subscribe(acme, newId()))
  const guest = hub.subscribe(other, newId())
  assert.equal(await subscriptions[0]?.next(), 'over')
  assert.equal(hub.listening(), 1_000)
  assert.throws(() => hub.subscribe(acme, newId()), { code: 'unavailable' })
  hub.subscribe(other, newId())
  assert.equal(await subscriptions[1]?.next(), 'over')
  const result = guest.next()
  await check(hub)
  assert.equal(await result, 'notified')
})

test('the sixth subscription of one user replaces the oldest', async () => {
  const { hub } = counted()
  const user_id = newId()
  const subscriptions: Subscription[] = Array.from({ length: 6 }, () => hub.subscribe(acme, user_id))
  assert.equal(await subscriptions[0]?.next(), 'replaced')
  assert.equal(hub.listening(), 5)
  subscriptions[0]?.close()
  assert.equal(hub.listening(), 5)
})

test('after a close every subscription returns `over` each time, and no new one is accepted', async () => {
  const { hub } = counted()
  const subscription = hub.subscribe(acme, newId())
  hub.close()
  assert.deepEqual([await subscription.next(), await subscription.next()], ['over', 'over'])
  assert.throws(() => hub.subscribe(acme, newId()), { code: 'unavailable' })
})

test('a notification that arrives before the call of next is returned by it, once', async () => {
  const { hub } = counted()
  const subscription = hub.subscribe(acme, newId())
  await check(hub)
  assert.equal(await subscription.next(), 'notified')
  const next = subscription.next()
  await check(hub)
  assert.equal(await next, 'quiet')
})

test('a subscription made during a check is notified by the next check', async () => {
  let late: Subscription | undefined
  let comes = false
  const work: Database['work'] = {
    ...database.work,
    read: (statement) => {
      if (comes) late ??= hub.subscribe(acme, newId())
      return database.work.read(statement)
    },
  }
  const hub = openStreamHub({ ...database, work })
  hub.subscribe(acme, newId())
  await check(hub)
  comes = true
  await check(hub)
  const result = late?.next()
  await check(hub)
  assert.equal(await result, 'notified')
})
