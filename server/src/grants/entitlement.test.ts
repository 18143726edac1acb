import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs, contradicts, driftSeen, type EntitlementState, nextStep, type Step, waitMs } from './entitlement.ts'

const calm: EntitlementState = {
  wanted: false,
  joining: false,
  awaited: false,
  held_before: false,
  observed: 'absent',
  suspected: false,
  drift: null,
  corrects_drift: false,
  is_made: false,
  completed_now: null,
  observed_now: false,
  may_land: false,
  act: null,
  act_reference: null,
}

const table: [string, Partial<EntitlementState>, Step][] = [
  ['it is unwanted and absent', {}, 'rest'],
  ['it is wanted and absent', { wanted: true, joining: true }, 'grant'],
  ['it is wanted and present, and no grant waits', { wanted: true, observed: 'present' }, 'rest'],
  ['a grant joins held access', { wanted: true, joining: true, observed: 'present' }, 'verify'],
  [
    'a grant joins access that was just observed',
    { wanted: true, joining: true, observed: 'present', observed_now: true },
    'rest',
  ],
  ['it is unwanted and present', { observed: 'present' }, 'revoke'],
  [
    'it is unwanted and present, and an extension is still to be planned',
    { observed: 'present', awaited: true },
    'rest',
  ],
  [
    'a revoke has begun, and an extension is still to be planned',
    { act: 'revoke', observed: 'unknown', awaited: true },
    'revoke',
  ],
  ['it is unwanted, present and foreign', { observed: 'present', held_before: true }, 'rest'],
  ['it is wanted and its state is unknown', { wanted: true, observed: 'unknown' }, 'verify'],
  ['it is unwanted and its state is unknown', { observed: 'unknown' }, 'revoke'],
  ['it is unwanted and foreign, and its state is unknown', { observed: 'unknown', held_before: true }, 'verify'],
  ['the target just reported the act as done', { observed: 'unknown', completed_now: 'revoke' }, 'verify'],
  ['it is unwanted, and a lost call can have a late effect', { may_land: true }, 'verify'],
  [
    'a lost call can have a late effect, and the access was just observed absent',
    { may_land: true, observed_now: true },
    'rest',
  ],
  [
    'the late effect of a lost call was just observed',
    { may_land: true, observed_now: true, observed: 'present' },
    'revoke',
  ],
  [
    'it is wanted and present, and a lost call can have a late effect',
    { may_land: true, wanted: true, observed: 'present' },
    'rest',
  ],
  ['an act is under way', { wanted: true, act: 'grant', act_reference: 'r', observed: 'unknown' }, 'poll'],
  [
    'an act is under way, and the access is no longer wanted',
    { act: 'grant', act_reference: 'r', observed: 'unknown' },
    'poll',
  ],
  [
    'a grant act was never answered, and the access is wanted',
    { wanted: true, act: 'grant', observed: 'unknown' },
    'grant',
  ],
  [
    'a grant act was never answered, and the access is unwanted: a late effect is possible',
    { act: 'grant', observed: 'unknown' },
    'revoke',
  ],
  ['a revoke act was never answered', { act: 'revoke', observed: 'unknown' }, 'revoke'],
  ['a sweep suspects held access', { wanted: true, observed: 'present', suspected: true }, 'verify'],
  ['a sweep suspects access that is gone', { suspected: true }, 'verify'],
  [
    'suspected access is no longer wanted: the revoke waits for no check',
    { observed: 'present', suspected: true },
    'revoke',
  ],
  [
    'suspected access is as it should be',
    { wanted: true, observed: 'present', suspected: true, observed_now: true },
    'rest',
  ],
  ['it was removed by hand', { wanted: true, drift: 'removed' }, 'rest'],
  ['it was removed by hand and drift is corrected', { wanted: true, drift: 'removed', corrects_drift: true }, 'grant'],
  ['it was removed by hand and a grant joins', { wanted: true, joining: true, drift: 'removed' }, 'grant'],
  [
    'it was removed by hand and is foreign',
    { wanted: true, drift: 'removed', corrects_drift: true, held_before: true },
    'rest',
  ],
  ['it was removed by hand and its grants end', { drift: 'removed' }, 'revoke'],
  [
    'it was removed by hand and was just revoked',
    { drift: 'removed', completed_now: 'revoke', observed_now: true },
    'rest',
  ],
  ['it was removed by hand, is foreign, and its grants end', { drift: 'removed', held_before: true }, 'rest'],
  ['a sweep suspects that it came back', { wanted: true, drift: 'removed', suspected: true }, 'verify'],
  ['it was added by hand', { observed: 'present', drift: 'added' }, 'rest'],
  [
    'it was added by hand and drift is corrected',
    { observed: 'present', drift: 'added', corrects_drift: true },
    'revoke',
  ],
  [
    'it was added by hand and is foreign',
    { observed: 'present', drift: 'added', corrects_drift: true, held_before: true },
    'rest',
  ],
  ['it is left and Sallyport made it', { observed: 'present', drift: 'added', is_made: true }, 'revoke'],
  ['what Sallyport made was removed by hand', { wanted: true, drift: 'removed', is_made: true }, 'rest'],
  ['a sweep suspects that it was removed again', { observed: 'present', drift: 'added', suspected: true }, 'verify'],
  [
    'a revoke act was never answered, and a grant wants the access',
    { wanted: true, act: 'revoke', observed: 'unknown' },
    'revoke',
  ],
]

for (const [situation, state, step] of table) {
  test(`when ${situation}: ${step}`, () => {
    assert.equal(nextStep({ ...calm, ...state }), step)
  })
}

test('foreign access is never revoked in any state without an act of ours', () => {
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

const checks: [string, EntitlementState, 'absent' | 'present', 'removed' | 'added' | null][] = [
  ['held access is gone', kept, 'absent', 'removed'],
  ['held access is present', kept, 'present', null],
  ['access that was gone is present', taken, 'present', 'added'],
  ['access that was gone is absent', taken, 'absent', null],
  ['no sweep suspected it', { ...kept, suspected: false }, 'absent', null],
  ['a grant joins: it is given anyway', { ...kept, joining: true }, 'absent', null],
  ['our own act was just done', { ...kept, completed_now: 'grant' }, 'absent', null],
  ['a lost call of ours can have a late effect', { ...taken, may_land: true }, 'present', null],
  ['it was known to be removed', { ...kept, observed: 'absent', drift: 'removed' }, 'absent', null],
  ['it was known to be added', { ...taken, observed: 'present', drift: 'added' }, 'present', null],
  ['its grants ended before the check', { ...kept, wanted: false }, 'present', null],
]

for (const [situation, state, observed, drift] of checks) {
  test(`a check finds drift "${drift ?? 'none'}" when ${situation}`, () => {
    assert.equal(driftSeen(state, observed), drift)
  })
}

test('the wait that a target requests is cut to a minute', () => {
  assert.deepEqual([waitMs(200), waitMs(86_400_000)], [200, 60_000])
})

test('the wait grows to a minute, jittered over its whole length', () => {
  assert.equal(backoffMs(0, 0), 50)
  assert.equal(backoffMs(3, 0.5), 2_050)
  assert.equal(backoffMs(40, 1), 60_050)
  assert.equal(backoffMs(2_000, 1), 60_050, 'also after a day of failures')
})
