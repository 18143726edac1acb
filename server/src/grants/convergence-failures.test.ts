import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pick, runOf } from '../../test/support/entitlement-run.ts'
import { TargetError } from '../provisioners/driver.ts'
import { fail, type Run } from './convergence.ts'

/** How a run ends that fails. */
const lost = new TargetError('transient', 'lost')
const never = new TargetError('permanent', 'never')
const unbegun = new TargetError('transient', 'held back', true)
type Failure = Extract<NonNullable<ReturnType<typeof fail>['last']>, { failure: unknown }>['failure']
const failures: [string, Partial<Run>, Parameters<typeof fail>[1], TargetError, Partial<Failure>][] = [
  [
    'a grant act',
    {},
    'grant',
    lost,
    { giving: true, permanent: false, clears_act: true, repeats_act: false, may_land: true, reference: null },
  ],
  ['a grant act that the target refuses', {}, 'grant', never, { giving: true, permanent: true, may_land: false }],
  [
    'a revoke act',
    { reference: 'old' },
    'revoke',
    lost,
    { giving: false, clears_act: true, repeats_act: true, may_land: false, reference: null },
  ],
  [
    'a grant act that did not begin',
    {},
    'grant',
    unbegun,
    { giving: true, permanent: false, clears_act: true, may_land: false },
  ],
  [
    'a grant act that did not begin, after one without an answer',
    { act: 'grant' },
    'grant',
    unbegun,
    { may_land: true },
  ],
  ['a revoke act that did not begin', {}, 'revoke', unbegun, { clears_act: true, repeats_act: false }],
  [
    'a revoke act that did not begin, after one without an answer',
    { act: 'revoke' },
    'revoke',
    unbegun,
    { repeats_act: true },
  ],
  [
    'a revoke act that the target refuses, after one without an answer',
    { act: 'revoke' },
    'revoke',
    never,
    { permanent: true, repeats_act: true },
  ],
  [
    'a revoke act that the target refuses',
    {},
    'revoke',
    never,
    { giving: false, permanent: true, clears_act: true, repeats_act: false },
  ],
  ['a revoke act, for the third time', { failures: 2 }, 'revoke', lost, { alarm: true }],
  ['a check of wanted access', { wanted: true }, 'verify', lost, { giving: true, clears_act: false, may_land: false }],
  [
    'a check of what an act did',
    { completed_now: 'grant', reference: 'r' },
    'verify',
    lost,
    { clears_act: true, repeats_act: false, reference: 'r' },
  ],
  [
    'a check of what a revoke did, when a grant wants the access again',
    { completed_now: 'revoke', wanted: true, reference: 'r' },
    'verify',
    lost,
    { giving: true, clears_act: true, repeats_act: true },
  ],
  ['a poll', { act: 'grant', reference: 'r' }, 'poll', lost, { giving: true, clears_act: false, may_land: false }],
  ['the fourth poll', { act: 'grant', failures: 3 }, 'poll', lost, { clears_act: true, may_land: true }],
  [
    'the fourth poll of a revoke',
    { act: 'revoke', failures: 3 },
    'poll',
    lost,
    { clears_act: true, repeats_act: true },
  ],
  [
    'the fourth poll of a revoke, which is held back',
    { act: 'revoke', failures: 3, reference: 'r' },
    'poll',
    unbegun,
    { clears_act: false, repeats_act: false, reference: 'r' },
  ],
  [
    'a poll of an act that the target does not know',
    { act: 'grant' },
    'poll',
    never,
    { clears_act: true, may_land: false },
  ],
]
for (const [name, about, step, error, expected] of failures) {
  test(`a run ends by a failure of ${name}`, () => {
    const { last, wait_ms } = fail(runOf(about), step, error, 0)
    assert.ok(last !== undefined && 'failure' in last && wait_ms !== undefined)
    assert.deepEqual(pick(last.failure, expected), expected)
  })
}
