import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openTurns } from './turns.ts'

/** Work that ends when the test says so, and a list of what has begun. */
function stage(most: number, longestWaitMs = 60_000) {
  const turns = openTurns(most, longestWaitMs)
  const begun: string[] = []
  const start = (name: string, what: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const done = turns(name, () => {
      begun.push(what)
      return promise
    })
    return { done, end: () => resolve(what), fail: () => reject(new Error(what)) }
  }
  return { begun, start }
}

test('so many of one name run at once, the next in the order in which they came', async () => {
  const { begun, start } = stage(2)
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((what) => start('one', what))
  await nextTurn()
  assert.deepEqual(begun, ['a', 'b'])
  b?.end()
  assert.equal(await b?.done, 'b')
  await nextTurn()
  assert.deepEqual(begun, ['a', 'b', 'c'])
  for (const work of [a, c, d]) work?.end()
  assert.deepEqual(await Promise.all([a?.done, c?.done, d?.done]), ['a', 'c', 'd'])
})

test('names do not wait for each other', async () => {
  const { begun, start } = stage(1)
  const works = [start('one', 'a'), start('one', 'b'), start('other', 'c')]
  await nextTurn()
  assert.deepEqual(begun, ['a', 'c'])
  for (const { end } of works) end()
  await Promise.all(works.map(({ done }) => done))
})

test('work that fails makes room like any other', async () => {
  const { begun, start } = stage(1)
  const [a, b] = [start('one', 'a'), start('one', 'b')]
  a.fail()
  await assert.rejects(a.done, /^Error: a$/)
  await nextTurn()
  assert.deepEqual(begun, ['a', 'b'])
  b.end()
  await b.done
})

test('who has waited too long is told so, and leaves the line', async () => {
  const { begun, start } = stage(1, 1)
  const [a, b] = [start('one', 'a'), start('one', 'b')]
  await assert.rejects(b.done, { code: 'unavailable' })
  a.end()
  await a.done
  const c = start('one', 'c')
  c.end()
  assert.equal(await c.done, 'c')
  assert.deepEqual(begun, ['a', 'c'])
})
