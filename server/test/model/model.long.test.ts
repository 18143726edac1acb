import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describe } from './report.ts'
import type { Options } from './state.ts'
import { walk } from './walk.ts'

/** The walks of `npm run model` that see every state. */
const whole: Options = { ticks: 3, disturbances: 1, otherUser: false, outages: true, without: [] }

test('every state of one user with one disturbance keeps every property', () => {
  const { isWhole, counterexample } = walk(whole)
  assert.deepEqual(counterexample && describe(counterexample), undefined)
  assert.ok(isWhole)
})

test('every state of two users without a disturbance keeps every property', () => {
  const { isWhole, counterexample } = walk({ ...whole, disturbances: 0, otherUser: true, outages: false })
  assert.deepEqual(counterexample && describe(counterexample), undefined)
  assert.ok(isWhole)
})
