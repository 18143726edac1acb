import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { beginRun } from '../../src/grants/convergence.ts'
import { openEntitlement } from './ledger.ts'
import type { Property } from './properties.ts'
import { describe } from './report.ts'
import { type Guard, initialStates, type Options } from './state.ts'
import { walk } from './walk.ts'

const small: Options = { ticks: 2, disturbances: 0, otherUser: false, outages: false, without: [] }

suite('every state of a small world', () => {
  test('keeps every property', () => {
    const { isWhole, counterexample, states } = walk(small)
    assert.deepEqual(counterexample && describe(counterexample), undefined)
    assert.ok(isWhole && states > 10_000)
  })

  const removed: [readonly Guard[], number, Property][] = [
    [['last-grant'], 0, 'lost access'],
    [['pending-only'], 0, 'begins again'],
    [['due-moment', 'next-check'], 0, 'access after its end'],
    [['begin-record'], 1, 'access after its end'],
    [['generation'], 2, 'access after its end'],
    [['late-effect'], 1, 'access after its end'],
    [['due-moment'], 1, 'forgotten access'],
    [['sweep-moment'], 1, 'forgotten access'],
  ]
  for (const [without, disturbances, property] of removed) {
    test(`breaks "${property}" without ${without.join(' and ')}`, () => {
      const { counterexample } = walk({ ...small, disturbances, without })
      assert.equal(counterexample?.property, property)
    })
  }
})

test('a counterexample is told as steps with numbers', () => {
  const { counterexample } = walk({ ...small, without: ['pending-only'] })
  assert.ok(counterexample)
  const lines = describe(counterexample)
  assert.equal(lines[0], 'broken: begins again')
  assert.ok(lines.includes('  1. grant 1 is approved'), lines.join('\n'))
  assert.ok(lines.some((line) => /^ +\d+\. the worker writes that the access is there$/.test(line)))
})

test('the key of a state knows every field of a run', () => {
  const [state] = initialStates(small)
  assert.ok(state)
  const { row } = openEntitlement(state.entitlement, 0, false, true)
  // A new field goes into `key.ts`, unless it is one of those that never differ in the model.
  const constant = ['act_polls', 'due_at', 'enabled', 'failures', 'is_made', 'corrects_drift', 'target']
  const ofProvisioner = ['provisioner', 'provisioner_id', 'provisioner_version']
  const inKey = [
    'act',
    'act_reference',
    'awaited',
    'completed_now',
    'drift',
    'given_until_ms',
    'held',
    'held_before',
    'joining',
  ]
  const alsoInKey = ['may_land', 'observed', 'observed_now', 'suspected', 'until_ms', 'waiting', 'wanted']
  const unread = ['reference']
  assert.deepEqual(
    Object.keys(beginRun(row)).sort(),
    [...constant, ...ofProvisioner, ...inKey, ...alsoInKey, ...unread].sort(),
  )
})
