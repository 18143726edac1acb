import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batched } from './batch.ts'

const client = {}
const never = () => false

test('calls made together go in one batch, each with its own answer', async () => {
  const roundTrips: number[][] = []
  const double = batched(
    10,
    async (_client: object, items: readonly number[]) => {
      roundTrips.push([...items])
      return items.map((item) => item * 2)
    },
    never,
  )
  assert.deepEqual(await Promise.all([1, 2, 3].map((item) => double(client, item))), [2, 4, 6])
  assert.deepEqual(roundTrips, [[1, 2, 3]])
})

test('calls made during a round trip go with the next, and no batch is larger than `max`', async () => {
  const roundTrips: number[] = []
  let under = 0
  const call = batched(
    2,
    async (_client: object, items: readonly number[]) => {
      under += 1
      assert.equal(under, 1, 'one round trip at a time')
      roundTrips.push(items.length)
      await new Promise(setImmediate)
      under -= 1
      return items
    },
    never,
  )
  const first = call(client, 1)
  await new Promise(setImmediate)
  await Promise.all([first, ...[2, 3, 4].map((one) => call(client, one))])
  assert.deepEqual(roundTrips, [1, 2, 1])
})

test('as many batches are under way as wanted, and no more', async () => {
  const roundTrips: number[] = []
  let [under, most] = [0, 0]
  const send = async (_client: object, items: readonly number[]) => {
    under += 1
    most = Math.max(most, under)
    roundTrips.push(items.length)
    await new Promise(setImmediate)
    under -= 1
    return items
  }
  const call = batched(2, send, never, { atOnce: 2 })
  assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map((one) => call(client, one))), [1, 2, 3, 4, 5])
  assert.deepEqual([roundTrips, most], [[2, 2, 1], 2])
})

test('each client has its own batches', async () => {
  const roundTrips: object[] = []
  const call = batched(
    10,
    async (at: object, items: readonly number[]) => {
      roundTrips.push(at)
      return items
    },
    never,
  )
  const other = {}
  await Promise.all([call(client, 1), call(other, 2), call(client, 3)])
  assert.deepEqual(roundTrips, [client, other])
})

test('a bad call fails alone if each is retried alone; otherwise the whole batch fails', async () => {
  let roundTrips = 0
  const send = async (_client: object, items: readonly string[]) => {
    roundTrips += 1
    if (items.includes('bad')) throw new Error('bad')
    return items
  }
  const statuses = async (eachAlone: boolean) => {
    const call = batched(10, send, () => eachAlone)
    const settled = await Promise.allSettled(['a', 'bad', 'b'].map((one) => call(client, one)))
    return settled.map(({ status }) => status)
  }
  assert.deepEqual(await statuses(true), ['fulfilled', 'rejected', 'fulfilled'])
  assert.equal(roundTrips, 4)
  assert.deepEqual(await statuses(false), ['rejected', 'rejected', 'rejected'])
  assert.equal(roundTrips, 5)
})

test('batches wait for the calls of a failed one that are sent alone, unless these go apart', async () => {
  for (const apart of [false, true]) {
    const { promise: unlocked, resolve: unlock } = Promise.withResolvers<void>()
    const send = async (_client: object, items: readonly string[]) => {
      if (items.length > 1) throw new Error('one of them is locked')
      if (items[0] === 'locked') await unlocked
      return items
    }
    const call = batched(2, send, () => true, { apart })
    let isDone = false
    const failed = [call(client, 'locked'), call(client, 'beside')]
    const next = call(client, 'next').then(() => {
      isDone = true
    })
    for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate)
    assert.equal(isDone, apart)
    unlock()
    assert.deepEqual(await Promise.all(failed), ['locked', 'beside'])
    await next
  }
})
