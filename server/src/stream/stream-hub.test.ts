import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { untilEventsSettle } from '../../test/support/settled.ts'
import type { Database } from '../db/transaction.ts'
import type { StreamSignal, Subscription } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { feedLength } from './change-feed.ts'
import { openStreamHub } from './stream-hub.ts'
import { openSubscriptions } from './subscriptions.ts'

const { database, asSuperuser } = await testDatabase()
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

const isNotified = (signal: StreamSignal | undefined) => typeof signal === 'object'

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
  for (const result of results) assert.ok(isNotified(await result))
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
  assert.ok(isNotified(await result))
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
  assert.ok(isNotified(await subscription.next()))
  const next = subscription.next()
  await check(hub)
  await hub.beat()
  assert.equal(await next, 'quiet')
})

test('a check that finds nothing signals nobody, however often it comes: only a beat is quiet (T14)', async () => {
  const { hub } = counted()
  const subscription = hub.subscribe(acme, newId())
  await check(hub)
  assert.ok(isNotified(await subscription.next()))
  const got: StreamSignal[] = []
  const next = subscription.next().then((signal) => got.push(signal))
  for (let count = 0; count < 3; count += 1) await check(hub)
  assert.deepEqual(got, [])
  assert.equal(await hub.beat(), 1_000)
  await next
  assert.deepEqual(got, ['quiet'])
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
  assert.ok(isNotified(await result))
})

test('a subscription made after checks is notified by the next one: its first read may know of less than they did', async () => {
  const { hub } = counted()
  const user_id = newId()
  hub.subscribe(acme, user_id)
  await check(hub)
  for (const other_id of [newId(), user_id]) {
    const late = hub.subscribe(acme, other_id)
    await check(hub)
    await hub.beat()
    const next = late.next()
    await hub.beat()
    assert.ok(isNotified(await next))
  }
})

test('of several signals that wait, one stays, which says the most', async () => {
  const subscriptions = openSubscriptions(() => undefined)
  const user_id = newId()
  const { next } = subscriptions.open(acme, user_id)
  for (const notified_to of ['9', '10', '8']) subscriptions.signal(user_id, { notified_to })
  assert.deepEqual(await next(), { notified_to: '10' })
})

/** Counts the reads of each tenant's feed. */
function followed() {
  const trips = new Map<string, number>()
  const tenant: Database['tenant'] = (tenant_id) => ({
    ...database.tenant(tenant_id),
    read: async (statement) => {
      trips.set(tenant_id, (trips.get(tenant_id) ?? 0) + 1)
      return database.tenant(tenant_id).read(statement)
    },
  })
  return { hub: openStreamHub({ ...database, tenant }), trips }
}

const tenantIds: string[] = []
for (let made = 0; made < 20; made += 1) {
  const id = newId()
  tenantIds.push(id)
  await asSuperuser('insert into tenant (id, name) values ($1, $2)', [id, `tenant ${made}`])
}

async function happen(...tenant_ids: readonly string[]): Promise<void> {
  await asSuperuser(
    `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
      select id, gen_random_uuid(), 'group.updated', 'system', 'group', 'g', 'test' from unnest($1::uuid[]) as id`,
    [tenant_ids],
  )
  await untilEventsSettle({ asSuperuser })
}

test('reads once for each followed tenant with news, and nothing of a tenant without a stream', async () => {
  const { hub, trips } = followed()
  const subscriptions = await Promise.all(
    tenantIds.slice(0, 10).flatMap((id) => Array.from({ length: 20 }, () => hub.follow(id, newId()))),
  )
  trips.clear()
  await happen(...tenantIds.slice(5))
  await check(hub)
  assert.deepEqual(
    [...trips].sort(),
    tenantIds
      .slice(5, 10)
      .map((id) => [id, 1])
      .sort(),
  )
  const changed = subscriptions.filter(({ feed }) => feed.end() > 0)
  assert.equal(changed.length, 100)
  for (const subscription of changed) assert.ok(await isSignalled(subscription, 'changed'))
  await check(hub)
  assert.equal(
    [...trips.values()].reduce((sum, count) => sum + count),
    5,
  )
  // Those of the first tenant stay open, so that the checks go on.
  for (const subscription of subscriptions.slice(20)) subscription.close()
  subscriptions.at(-1)?.close()
  assert.equal(hub.listening(), 20)
  await happen(...tenantIds.slice(1))
  await check(hub)
  assert.equal(
    [...trips.values()].reduce((sum, count) => sum + count),
    5,
  )
})

test('a check that could not read all new events is soon followed by another', async () => {
  const { hub, trips } = followed()
  const [tenant_id = ''] = tenantIds
  const { feed } = await hub.follow(tenant_id, newId())
  const end = feed.end()
  await happen(...Array.from({ length: feedLength + 1 }, () => tenant_id))
  trips.clear()
  let waitMs = await hub.check()
  while (trips.size === 0) waitMs = await hub.check()
  assert.ok(waitMs < 1_000)
  await check(hub)
  assert.deepEqual([feed.end() - end, trips.get(tenant_id)], [feedLength + 1, 2])
})

/** Whether a signal is among those that wait for the subscription. */
async function isSignalled(subscription: Subscription, what: string): Promise<boolean> {
  const first = await subscription.next()
  return first === what || (await subscription.next()) === what
}

test('a subscription for notifications alone is not signalled by changes', async () => {
  const { hub } = followed()
  const [tenant_id = ''] = tenantIds
  const [plain, following] = [hub.subscribe(tenant_id, newId()), await hub.follow(tenant_id, newId())]
  await check(hub)
  assert.ok(isNotified(await plain.next()))
  await happen(tenant_id)
  const signal = plain.next()
  await check(hub)
  await hub.beat()
  assert.equal(await signal, 'quiet')
  assert.ok(await isSignalled(following, 'changed'))
})

test('a tenant whose events cannot be read delays no other, and is read again', async () => {
  let fails = true
  const [broken = '', ...sound] = tenantIds
  const tenant: Database['tenant'] = (tenant_id) => ({
    ...database.tenant(tenant_id),
    read: async (statement) => {
      if (fails && tenant_id === broken && followers.length === tenantIds.length) throw new Error('not now')
      return database.tenant(tenant_id).read(statement)
    },
  })
  const hub = openStreamHub({ ...database, tenant })
  const followers: Awaited<ReturnType<typeof hub.follow>>[] = []
  for (const id of tenantIds) followers.push(await hub.follow(id, newId()))
  const ends = followers.map(({ feed }) => feed.end())
  await happen(...tenantIds)
  await assert.rejects(check(hub), /not now/)
  const grown = () => followers.filter(({ feed }, index) => feed.end() > (ends[index] ?? 0)).length
  assert.equal(grown(), sound.length)
  fails = false
  await check(hub)
  assert.equal(grown(), tenantIds.length)
})

test('a stream that cannot begin leaves its place to others', async () => {
  const tenant: Database['tenant'] = (tenant_id) => ({
    ...database.tenant(tenant_id),
    read: () => Promise.reject(new Error('not now')),
  })
  const hub = openStreamHub({ ...database, tenant })
  await assert.rejects(hub.follow(acme, newId()), /not now/)
  assert.equal(hub.listening(), 0)
})
