import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTurns } from './in-turns.ts'
import { longVariable } from './race.ts'

const isLong = process.env[longVariable] !== undefined

test('each call gives the next few, and all come in turn', { skip: isLong && 'a long run takes all' }, () => {
  const take = inTurns(['a', 'b', 'c', 'd', 'e'], 2)
  assert.deepEqual([take(), take(), take()].flat(), ['a', 'b', 'c', 'd', 'e', 'a'])
})

test('where there are few, each call gives all', () => {
  const take = inTurns(['a', 'b'], 3)
  assert.deepEqual(
    [take(), take()],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  )
})
