import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedCall } from './shared-call.ts'

test('who asks while a call is under way shares its outcome; the next one calls again', async () => {
  let calls = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const ask = sharedCall(
    60_000,
    async () => {
      calls += 1
      const number = calls
      await promise
      return number
    },
    () => 0,
  )
  const together = Promise.all([ask(), ask(), ask()])
  resolve()
  assert.deepEqual(await together, [1, 1, 1])
  assert.equal(await ask(), 2)
})

test('a call that hangs holds up nobody, and is not made a second time', async () => {
  let calls = 0
  const ask = sharedCall(
    1,
    () => {
      calls += 1
      return new Promise<string>(() => {})
    },
    () => 'late',
  )
  assert.deepEqual([await ask(), await ask()], ['late', 'late'])
  assert.equal(calls, 1)
})

test('a call that fails is made again for who asks next', async () => {
  const outcomes = [Promise.reject(new Error('failed')), Promise.resolve('answer')]
  const ask = sharedCall(
    60_000,
    () => outcomes.shift() ?? Promise.resolve('none'),
    () => 'late',
  )
  await assert.rejects(ask(), /failed/)
  assert.equal(await ask(), 'answer')
})
