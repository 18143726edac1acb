import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../kernel/errors.ts'
import { readSettingValues } from '../settings/setting.ts'
import { type RequestInput, requireReason, requireSoundRequest, settleDuration } from './request-input.ts'

const account = { type: 'cloud_account', id: '123456789012' } as const
const asking: RequestInput = { resource: account, action: 'ReadOnly' }

/** The pointers that a refused input names. */
function faults(input: RequestInput): string[] {
  try {
    requireSoundRequest(input)
    return []
  } catch (error) {
    assert.ok(error instanceof Problem)
    assert.equal(error.code, 'invalid_input')
    const { fields } = error.details as { fields: { pointer: string }[] }
    return fields.map((field) => field.pointer)
  }
}

const resourceIds: [RequestInput['resource']['type'], string, boolean][] = [
  ['cloud_account', '123456789012', true],
  ['cloud_account', '12345678901', false],
  ['cloud_account', '1234567890123', false],
  ['cloud_account', '１２３４５６７８９０１２', false],
  ['cloud_account', '123456789012\n', false],
  ['cloud_account', 'arn:aws:iam::123456789012:root', false],
  ['cloud_permission_set', 'arn:aws:sso:::permissionSet/ssoins-7223/ps-1234', true],
  ['cloud_permission_set', 'ReadOnly', false],
  ['cloud_storage_bucket', 'my-bucket.example', true],
  ['cloud_storage_bucket', 'My_Bucket', false],
  ['cloud_storage_bucket', 'ab', false],
  ['cloud_db_instance', 'arn:aws:rds:eu-west-1:123456789012:db:orders', true],
  ['cloud_db_instance', 'orders', false],
  ['cloud_compute_instance', 'i-0abc123', true],
  ['cloud_compute_instance', 'i-', false],
  ['cloud_compute_instance', 'x-0abc', false],
  ['cloud_organizational_unit', 'ou-ab12-12345678', true],
  ['cloud_organizational_unit', 'ou-ab12-1234567', false],
  ['cloud_organizational_unit', 'OU-ab12-12345678', false],
]

for (const [type, id, sound] of resourceIds) {
  test(`${sound ? 'accepts' : 'refuses'} ${JSON.stringify(id)} as a ${type} (P18)`, () => {
    assert.deepEqual(faults({ ...asking, resource: { type, id } }), sound ? [] : ['/resource/id'])
  })
}

const refused: [string, Partial<RequestInput>, string][] = [
  ['the reserved action', { action: 'approve' }, '/action'],
  ['an action of two lines', { action: 'Read\nOnly' }, '/action'],
  ['an action with a space at its end', { action: 'ReadOnly ' }, '/action'],
  ['an action with an invisible character', { action: 'Read\u200bOnly' }, '/action'],
  ['an action with a reserved prefix', { action: '__unnamed' }, '/action'],
  ['an emergency without a reason', { break_glass: true }, '/reason'],
  ['an emergency with a blank reason', { break_glass: true, reason: '  ' }, '/reason'],
  ['an emergency with a reason that nobody sees', { break_glass: true, reason: '\u200b\n \u2800\u3164' }, '/reason'],
  ['metadata over 16 KiB', { metadata: { note: 'x'.repeat(17_000) } }, '/metadata'],
]

for (const [what, change, pointer] of refused) {
  test(`refuses ${what}`, () => {
    assert.deepEqual(faults({ ...asking, ...change }), [pointer])
  })
}

const settings = readSettingValues({ 'requests.max_duration_seconds': '1800', 'requests.require_reason': 'true' })

test('the duration is the requested one, else the default or the cap; above the cap is refused, never clamped', () => {
  assert.equal(settleDuration(600, settings), 600)
  assert.equal(settleDuration(undefined, settings), 1_800)
  assert.equal(settleDuration(null, readSettingValues({})), 3_600)
  assert.equal(settleDuration(1_800, settings), 1_800)
  assert.throws(() => settleDuration(1_801, settings), /duration_seconds.*at most 1800/)
})

test('a reason is required where the tenant’s setting says so', () => {
  assert.throws(() => requireReason(asking, settings), /reason/)
  assert.throws(() => requireReason({ ...asking, reason: '\u2060' }, settings), /reason/)
  requireReason({ ...asking, reason: 'to see\nthe bill' }, settings)
  assert.throws(() => requireReason(asking, readSettingValues({})), /reason/)
  requireReason(asking, readSettingValues({ 'requests.require_reason': 'false' }))
})
