import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { turns } from './turns.ts'

test('never more at once than there are places, and all in the order they came', async () => {
  const inTurn = turns(4)
  const begun: number[] = []
  let running = 0
  let most = 0
  const work = async (number: number) => {
    begun.push(number)
    running += 1
    most = Math.max(most, running)
    await setImmediate()
    running -= 1
    return number * 2
  }
  const numbers = Array.from({ length: 50 }, (_, index) => index)
  const answers = await Promise.all(numbers.map((number) => inTurn(() => work(number))))
  assert.equal(most, 4)
  assert.deepEqual(begun, numbers)
  assert.deepEqual(
    answers,
    numbers.map((number) => number * 2),
  )
})

test('a failing work answers its error and frees its place', async () => {
  const inTurn = turns(1)
  const failing = inTurn(() => Promise.reject(new Error('no')))
  const next = inTurn(async () => 'yes')
  await assert.rejects(failing, { message: 'no' })
  assert.equal(await next, 'yes')
  assert.equal(await inTurn(async () => 'again'), 'again')
})

test('who comes when a place has been handed on waits for it', async () => {
  const inTurn = turns(1)
  const begun: string[] = []
  const second = Promise.withResolvers<void>()
  const ended: Promise<unknown>[] = [
    inTurn(async () => begun.push('first')),
    inTurn(() => {
      begun.push('second')
      return second.promise
    }),
  ]
  await ended[0]
  ended.push(inTurn(async () => begun.push('third')))
  await setImmediate()
  assert.deepEqual(begun, ['first', 'second'])
  second.resolve()
  await Promise.all(ended)
  assert.deepEqual(begun, ['first', 'second', 'third'])
})

test('a line that is too long sends the next one away at once, and goes on', async () => {
  const inTurn = turns(1, 1)
  const first = Promise.withResolvers<string>()
  const [running, waiting] = [inTurn(() => first.promise), inTurn(async () => 'second')]
  await assert.rejects(
    inTurn(async () => 'third'),
    { code: 'unavailable' },
  )
  first.resolve('first')
  assert.deepEqual(await Promise.all([running, waiting]), ['first', 'second'])
  assert.equal(await inTurn(async () => 'fourth'), 'fourth')
})
