import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { pick, row, runOf } from '../../test/support/entitlement-run.ts'
import { NotNow } from '../provisioners/driver.ts'
import {
  beginRun,
  comeBack,
  type EntitlementRow,
  endOf,
  endsEarly,
  mustHoldUntil,
  type Run,
  type RunEvent,
  reduce,
  rest,
  underWay,
} from './convergence.ts'

const one = { id: 'g1', request_id: 'r1', begun: false }
const other = { id: 'g2', request_id: 'r2', begun: false }

suite('a run begins', () => {
  const cases: [string, Partial<EntitlementRow>, Partial<Run>][] = [
    ['wanted by no grant', {}, { wanted: false, joining: false }],
    ['wanted by an active grant', { held: true }, { wanted: true, joining: false }],
    ['wanted by a waiting grant', { waiting: [one] }, { wanted: true, joining: true }],
    [
      'with the reference of the act under way',
      { act: 'grant', act_reference: 'r' },
      { reference: 'r', completed_now: null },
    ],
  ]
  for (const [name, about, expected] of cases) {
    test(name, () => assert.deepEqual(pick(beginRun({ ...row, ...about }), expected), expected))
  }
})

suite('an event updates the state of a run', () => {
  const answered = (step: 'grant' | 'revoke' | 'poll', done: boolean, reference: string): RunEvent => ({
    type: 'answered',
    step,
    progress: done ? { done, reference } : { done, reference },
  })
  const waiting = { waiting: [one, other], wanted: true, joining: true }
  const cases: [string, Partial<Run>, RunEvent, Partial<Run>][] = [
    [
      'one of two waiting grants is refused',
      waiting,
      { type: 'refused', ids: ['g1'] },
      { waiting: [other], wanted: true, joining: true },
    ],
    [
      'all waiting grants are refused',
      waiting,
      { type: 'refused', ids: ['g1', 'g2'] },
      { waiting: [], wanted: false, joining: false },
    ],
    [
      'all waiting grants are refused, and an active grant wants the access',
      { ...waiting, held: true },
      { type: 'refused', ids: ['g1', 'g2'] },
      { wanted: true, joining: false },
    ],
    [
      'a grant act begins',
      { ...waiting, reference: 'old' },
      { type: 'begun', act: 'grant' },
      {
        waiting: [
          { ...one, begun: true },
          { ...other, begun: true },
        ],
        given_until_ms: 1_000_000,
        reference: null,
      },
    ],
    [
      'a revoke act begins',
      { reference: 'old' },
      { type: 'begun', act: 'revoke' },
      { reference: null, given_until_ms: null },
    ],
    ['the act goes on', {}, answered('grant', false, 'r'), { reference: 'r', completed_now: null, observed: 'absent' }],
    [
      'the act is done',
      {},
      answered('grant', true, 'r'),
      { reference: 'r', completed_now: 'grant', observed: 'unknown' },
    ],
    [
      'the polled act is done',
      { act: 'revoke', act_reference: 'r', reference: 'r' },
      { type: 'answered', step: 'poll', progress: { done: true } },
      { act: null, act_reference: null, reference: 'r', completed_now: 'revoke', observed: 'unknown' },
    ],
    [
      'the access is observed absent',
      { observed: 'unknown' },
      { type: 'observed', observed: 'absent', drift: null },
      { observed: 'absent', observed_now: true },
    ],
    [
      'the access is observed present',
      { observed: 'unknown' },
      { type: 'observed', observed: 'present', drift: null },
      { observed: 'present', observed_now: true },
    ],
    ['the access has drifted', {}, { type: 'observed', observed: 'absent', drift: 'removed' }, { drift: 'removed' }],
    [
      'the access had drifted before',
      { drift: 'added' },
      { type: 'observed', observed: 'present', drift: null },
      { drift: 'added' },
    ],
    ['the waiting grants become active', waiting, { type: 'activated' }, { wanted: true, joining: false }],
  ]
  for (const [name, about, event, expected] of cases) {
    test(name, () => {
      const before = Object.freeze(runOf(about))
      assert.deepEqual(pick(reduce(before, event), expected), expected)
    })
  }
})

suite('a run ends', () => {
  test('at rest, and reports the access gone only if it observed that', () => {
    assert.deepEqual(rest(runOf()), { wait_ms: undefined, last: undefined })
    assert.deepEqual(rest(runOf({ observed_now: true, reference: 'r' })), { wait_ms: undefined, last: { gone: 'r' } })
  })

  test('with an act under way, to be polled within a minute', () => {
    assert.deepEqual(underWay(runOf({ wanted: true }), 'r', 90_000), {
      wait_ms: 60_000,
      last: { under_way: 'r', wanted: true },
    })
  })

  test('when the target has no capacity; only a grant act that was not under way counts as not begun', () => {
    const later = new NotNow(50)
    assert.deepEqual(comeBack(runOf(), 'grant', later), { wait_ms: 50, last: { unbegun: true, why: null } })
    assert.deepEqual(comeBack(runOf({ act: 'grant' }), 'grant', later), { wait_ms: 50, last: undefined })
    assert.deepEqual(comeBack(runOf(), 'revoke', later), { wait_ms: 50, last: undefined })
  })

  test('when the target throttles: the reason is shown, and nothing counts as failed', () => {
    const throttled = new NotNow(50, 'AWS throttles')
    for (const [step, unbegun] of [
      ['verify', false],
      ['grant', true],
      ['revoke', false],
    ] as const) {
      assert.deepEqual(comeBack(runOf(), step, throttled).last, { unbegun, why: 'AWS throttles' })
    }
  })
})

suite('the end of access', () => {
  test('access is given until its grants end, and must be held until a minute before', () => {
    const run = runOf({ wanted: true })
    assert.equal(endOf(run).getTime(), 1_000_000)
    assert.equal(mustHoldUntil(run)?.getTime(), 940_000)
    assert.equal(mustHoldUntil(runOf()), null)
  })

  test('access just given ends early if the act took longer than a minute; it must be held as long as it was given', () => {
    const early = runOf({ wanted: true, completed_now: 'grant', given_until_ms: 939_999 })
    assert.equal(endsEarly(early), true)
    assert.equal(mustHoldUntil(early)?.getTime(), 939_999)
    assert.equal(endsEarly({ ...early, given_until_ms: 940_000 }), false)
    assert.equal(endsEarly({ ...early, completed_now: null }), false)
  })
})
