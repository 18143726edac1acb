import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gather } from './gather.ts'

const door = {}
const never = () => false

test('what is asked together goes in one trip, each with its own answer', async () => {
  const trips: number[][] = []
  const double = gather(
    10,
    async (_door: object, asks: readonly number[]) => {
      trips.push([...asks])
      return asks.map((ask) => ask * 2)
    },
    never,
  )
  assert.deepEqual(await Promise.all([1, 2, 3].map((ask) => double(door, ask))), [2, 4, 6])
  assert.deepEqual(trips, [[1, 2, 3]])
})

test('what is asked during a trip goes with the next, and no trip is larger than told', async () => {
  const trips: number[] = []
  let under = 0
  const ask = gather(
    2,
    async (_door: object, asks: readonly number[]) => {
      under += 1
      assert.equal(under, 1, 'one trip at a time')
      trips.push(asks.length)
      await new Promise(setImmediate)
      under -= 1
      return asks
    },
    never,
  )
  const first = ask(door, 1)
  await new Promise(setImmediate)
  await Promise.all([first, ...[2, 3, 4].map((one) => ask(door, one))])
  assert.deepEqual(trips, [1, 2, 1])
})

test('doors are gathered apart', async () => {
  const trips: object[] = []
  const ask = gather(
    10,
    async (at: object, asks: readonly number[]) => {
      trips.push(at)
      return asks
    },
    never,
  )
  const other = {}
  await Promise.all([ask(door, 1), ask(other, 2), ask(door, 3)])
  assert.deepEqual(trips, [door, other])
})

test('one bad ask spoils no other; where the fault is nobody’s own, all are told at once', async () => {
  let trips = 0
  const flush = async (_door: object, asks: readonly string[]) => {
    trips += 1
    if (asks.includes('bad')) throw new Error('bad')
    return asks
  }
  const asked = async (eachAlone: boolean) => {
    const ask = gather(10, flush, () => eachAlone)
    const settled = await Promise.allSettled(['a', 'bad', 'b'].map((one) => ask(door, one)))
    return settled.map(({ status }) => status)
  }
  assert.deepEqual(await asked(true), ['fulfilled', 'rejected', 'fulfilled'])
  assert.equal(trips, 4)
  assert.deepEqual(await asked(false), ['rejected', 'rejected', 'rejected'])
  assert.equal(trips, 5)
})
