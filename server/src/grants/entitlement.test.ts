import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs, contradicts, driftSeen, type EntitlementState, nextStep, type Step, waitMs } from './entitlement.ts'

const calm: EntitlementState = {
  wanted: false,
  joining: false,
  held_before: false,
  observed: 'absent',
  suspected: false,
  drift: null,
  corrects_drift: false,
  completed_now: null,
  observed_now: false,
  may_land: false,
  act: null,
  act_reference: null,
}

const table: [string, Partial<EntitlementState>, Step][] = [
  ['nothing is wanted and nothing is there', {}, 'rest'],
  ['it is wanted and not there', { wanted: true, joining: true }, 'grant'],
  ['it is wanted and there, nobody waits', { wanted: true, observed: 'present' }, 'rest'],
  ['somebody joins what is held', { wanted: true, joining: true, observed: 'present' }, 'verify'],
  [
    'somebody joins what was just seen',
    { wanted: true, joining: true, observed: 'present', observed_now: true },
    'rest',
  ],
  ['nobody wants what is there', { observed: 'present' }, 'revoke'],
  ['nobody wants what was there before us', { observed: 'present', held_before: true }, 'rest'],
  ['it is wanted and nobody knows', { wanted: true, observed: 'unknown' }, 'verify'],
  ['nobody wants it and nobody knows', { observed: 'unknown' }, 'revoke'],
  ['nobody wants it, nobody knows, and it was there before us', { observed: 'unknown', held_before: true }, 'verify'],
  ['the target just said that the act is done', { observed: 'unknown', completed_now: 'revoke' }, 'verify'],
  ['nobody wants it and what a lost call began may land', { may_land: true }, 'verify'],
  ['it was just looked for', { may_land: true, observed_now: true }, 'rest'],
  ['what a lost call began has landed', { may_land: true, observed_now: true, observed: 'present' }, 'revoke'],
  ['what a lost call began may land, and is wanted', { may_land: true, wanted: true, observed: 'present' }, 'rest'],
  ['an act is under way', { wanted: true, act: 'grant', act_reference: 'r', observed: 'unknown' }, 'poll'],
  ['an act is under way and is no longer wanted', { act: 'grant', act_reference: 'r', observed: 'unknown' }, 'poll'],
  ['a grant never answered and is wanted', { wanted: true, act: 'grant', observed: 'unknown' }, 'grant'],
  ['a grant never answered and is not wanted: it may still land', { act: 'grant', observed: 'unknown' }, 'revoke'],
  ['a revoke never answered', { act: 'revoke', observed: 'unknown' }, 'revoke'],
  ['a sweep suspects what is held', { wanted: true, observed: 'present', suspected: true }, 'verify'],
  ['a sweep suspects what is gone', { suspected: true }, 'verify'],
  [
    'what is suspected is not wanted any more: nothing waits for a look',
    { observed: 'present', suspected: true },
    'revoke',
  ],
  [
    'what was suspected is as it should be',
    { wanted: true, observed: 'present', suspected: true, observed_now: true },
    'rest',
  ],
  ['it was removed by hand', { wanted: true, drift: 'removed' }, 'rest'],
  ['it was removed by hand and is put right', { wanted: true, drift: 'removed', corrects_drift: true }, 'grant'],
  ['it was removed by hand and somebody joins', { wanted: true, joining: true, drift: 'removed' }, 'grant'],
  [
    'it was removed by hand and was not ours',
    { wanted: true, drift: 'removed', corrects_drift: true, held_before: true },
    'rest',
  ],
  ['it was removed by hand and its grants end', { drift: 'removed' }, 'revoke'],
  [
    'it was removed by hand and was taken away',
    { drift: 'removed', completed_now: 'revoke', observed_now: true },
    'rest',
  ],
  ['it was removed by hand, was not ours, and its grants end', { drift: 'removed', held_before: true }, 'rest'],
  ['a sweep suspects that it came back', { wanted: true, drift: 'removed', suspected: true }, 'verify'],
  ['it was added by hand', { observed: 'present', drift: 'added' }, 'rest'],
  ['it was added by hand and is put right', { observed: 'present', drift: 'added', corrects_drift: true }, 'revoke'],
  [
    'it was added by hand and is not ours',
    { observed: 'present', drift: 'added', corrects_drift: true, held_before: true },
    'rest',
  ],
  ['a sweep suspects that it was removed again', { observed: 'present', drift: 'added', suspected: true }, 'verify'],
  ['a revoke never answered and somebody joined', { wanted: true, act: 'revoke', observed: 'unknown' }, 'revoke'],
]

for (const [situation, state, step] of table) {
  test(`when ${situation}: ${step}`, () => {
    assert.equal(nextStep({ ...calm, ...state }), step)
  })
}

test('what was there before us is never revoked, in any state without an act of ours', () => {
  for (const observed of ['absent', 'present', 'unknown'] as const) {
    for (const wanted of [true, false]) {
      for (const completed_now of ['grant', 'revoke', null] as const) {
        for (const drift of ['removed', 'added', null] as const) {
          for (const more of [{}, { suspected: true }, { corrects_drift: true }]) {
            const state = { ...calm, observed, wanted, completed_now, drift, held_before: true, ...more }
            assert.notEqual(nextStep(state), 'revoke')
          }
        }
      }
    }
  }
})

test('a target contradicts itself when it shows the opposite of what it said is done', () => {
  assert.ok(contradicts('grant', 'absent') && contradicts('revoke', 'present'))
  assert.ok(!contradicts('grant', 'present') && !contradicts('revoke', 'absent') && !contradicts(null, 'absent'))
})

const kept: EntitlementState = { ...calm, wanted: true, observed: 'present', suspected: true }
const taken: EntitlementState = { ...calm, suspected: true }

const looks: [string, EntitlementState, 'absent' | 'present', 'removed' | 'added' | null][] = [
  ['what was held is gone', kept, 'absent', 'removed'],
  ['what was held is there', kept, 'present', null],
  ['what was gone is there', taken, 'present', 'added'],
  ['what was gone is not there', taken, 'absent', null],
  ['nobody suspected it', { ...kept, suspected: false }, 'absent', null],
  ['somebody joins: it is given anyway', { ...kept, joining: true }, 'absent', null],
  ['our own act was just done', { ...kept, completed_now: 'grant' }, 'absent', null],
  ['a lost call of ours may have landed', { ...taken, may_land: true }, 'present', null],
  ['it was known to be removed', { ...kept, observed: 'absent', drift: 'removed' }, 'absent', null],
  ['it was known to be added', { ...taken, observed: 'present', drift: 'added' }, 'present', null],
  ['it ended before the look', { ...kept, wanted: false }, 'present', null],
]

for (const [situation, state, observed, drift] of looks) {
  test(`a look is ${drift ?? 'no'} drift when ${situation}`, () => {
    assert.equal(driftSeen(state, observed), drift)
  })
}

test('whatever a target asks for, it is asked again within a minute', () => {
  assert.deepEqual([waitMs(200), waitMs(86_400_000)], [200, 60_000])
})

test('the wait grows to a minute, jittered over its whole length', () => {
  assert.equal(backoffMs(0, 0), 50)
  assert.equal(backoffMs(3, 0.5), 2_050)
  assert.equal(backoffMs(40, 1), 60_050)
  assert.equal(backoffMs(2_000, 1), 60_050, 'after a day of failing too')
})
