import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs, contradicts, type EntitlementState, nextStep, type Step } from './entitlement.ts'

const calm: EntitlementState = {
  wanted: false,
  joining: false,
  held_before: false,
  observed: 'absent',
  told_now: null,
  seen_now: false,
  may_land: false,
  act: null,
  act_reference: null,
}

const table: [string, Partial<EntitlementState>, Step][] = [
  ['nothing is wanted and nothing is there', {}, 'rest'],
  ['it is wanted and not there', { wanted: true, joining: true }, 'grant'],
  ['it is wanted and there, nobody waits', { wanted: true, observed: 'present' }, 'rest'],
  ['somebody joins what is held', { wanted: true, joining: true, observed: 'present' }, 'verify'],
  ['somebody joins what was just seen', { wanted: true, joining: true, observed: 'present', seen_now: true }, 'rest'],
  ['nobody wants what is there', { observed: 'present' }, 'revoke'],
  ['nobody wants what was there before us', { observed: 'present', held_before: true }, 'rest'],
  ['it is wanted and nobody knows', { wanted: true, observed: 'unknown' }, 'verify'],
  ['nobody wants it and nobody knows', { observed: 'unknown' }, 'revoke'],
  ['nobody wants it, nobody knows, and it was there before us', { observed: 'unknown', held_before: true }, 'verify'],
  ['the target just said that the act is done', { observed: 'unknown', told_now: 'revoke' }, 'verify'],
  ['nobody wants it and what a lost call began may land', { may_land: true }, 'verify'],
  ['it was just looked for', { may_land: true, seen_now: true }, 'rest'],
  ['what a lost call began has landed', { may_land: true, seen_now: true, observed: 'present' }, 'revoke'],
  ['what a lost call began may land, and is wanted', { may_land: true, wanted: true, observed: 'present' }, 'rest'],
  ['an act is under way', { wanted: true, act: 'grant', act_reference: 'r', observed: 'unknown' }, 'poll'],
  ['an act is under way and is no longer wanted', { act: 'grant', act_reference: 'r', observed: 'unknown' }, 'poll'],
  ['a grant never answered and is wanted', { wanted: true, act: 'grant', observed: 'unknown' }, 'grant'],
  ['a grant never answered and is not wanted: it may still land', { act: 'grant', observed: 'unknown' }, 'revoke'],
  ['a revoke never answered', { act: 'revoke', observed: 'unknown' }, 'revoke'],
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
      for (const told_now of ['grant', 'revoke', null] as const) {
        assert.notEqual(nextStep({ ...calm, observed, wanted, told_now, held_before: true }), 'revoke')
      }
    }
  }
})

test('a target contradicts itself when it shows the opposite of what it said is done', () => {
  assert.ok(contradicts('grant', 'absent') && contradicts('revoke', 'present'))
  assert.ok(!contradicts('grant', 'present') && !contradicts('revoke', 'absent') && !contradicts(null, 'absent'))
})

test('the wait grows to a minute, jittered over its whole length', () => {
  assert.equal(backoffMs(0, 0), 50)
  assert.equal(backoffMs(3, 0.5), 2_050)
  assert.equal(backoffMs(40, 1), 60_050)
})
