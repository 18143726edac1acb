import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { requireExtendable } from './extension.ts'

const from = '2026-03-01T08:35:00.000Z'
const extendable = {
  status: 'active',
  is_active: true,
  is_half_used: true,
  extendable_from: from,
  extended_by: null,
} as const

suite('a grant is extended', () => {
  test('while it is active, once half of its time is used', () => {
    assert.doesNotThrow(() => requireExtendable(extendable))
  })

  for (const [state, change, code, details] of [
    ['before that', { is_half_used: false }, 'too_early_to_extend', { extendable_from: from }],
    ['twice', { extended_by: 'another' }, 'already_extended', { request_id: 'another' }],
    ['twice, even before that', { extended_by: 'another', is_half_used: false }, 'already_extended', undefined],
    ['before it began', { status: 'pending', is_active: false, extendable_from: null }, 'grant_not_live', undefined],
    ['after its end', { is_active: false }, 'grant_not_live', { status: 'active' }],
    ['after it was revoked', { status: 'revoked', is_active: false }, 'grant_not_live', { status: 'revoked' }],
  ] as const) {
    test(`not ${state}: ${code}`, () => {
      assert.throws(() => requireExtendable({ ...extendable, ...change }), {
        code,
        ...(details !== undefined && { details }),
      })
    })
  }
})
