import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldViolations } from './fields.ts'
import type { Operation } from './history.ts'
import { grant, ops } from './sample-operations.ts'

const { create, approve, read, readGrant, itsGrants, lost } = ops
const [noon, later, end] = ['2026-11-29T12:00:00.000Z', '2026-11-29T12:00:01.000Z', '2026-11-29T13:00:00.000Z']
const active = { activated_at: noon, expires_at: end, updated_at: noon }

/** For each rule, histories that break it, and one that does not. */
const rules: Record<string, { broken: Operation[][]; sound: Operation[] }> = {
  'no internal error': {
    broken: [[lost([0, 1], 'ben', { name: 'approve', request: 'r', seconds: null }, 500)]],
    sound: [lost([0, 1], 'ben', { name: 'approve', request: 'r', seconds: null }, 503)],
  },
  'versions go forward': {
    broken: [
      [read([0, 1], 'pending', { updated_at: later }), read([2, 3], 'pending', { updated_at: noon })],
      [
        readGrant([0, 1], 'active', 'successful', { updated_at: later }),
        itsGrants([2, 3], grant('active', 'successful', { updated_at: noon })),
      ],
    ],
    sound: [read([0, 3], 'pending', { updated_at: later }), read([2, 5], 'pending', { updated_at: noon })],
  },
  'a tag never returns': {
    broken: [
      [read([0, 1], 'pending', { updated_at: noon }, '"a"'), read([2, 3], 'approved', { updated_at: later }, '"a"')],
      [read([0, 1], 'pending', { updated_at: noon }, '"a"'), read([2, 3], 'pending', { updated_at: noon }, '"b"')],
    ],
    sound: [read([0, 1], 'pending', { updated_at: noon }, '"a"'), read([2, 3], 'denied', { updated_at: later }, '"b"')],
  },
  'a moment is set once': {
    broken: [
      [
        readGrant([0, 1], 'active', 'successful', active),
        readGrant([0, 1], 'active', 'successful', { ...active, expires_at: later }),
      ],
      [readGrant([0, 1], 'active', 'successful', active), readGrant([2, 3], 'pending', 'attempting')],
    ],
    sound: [readGrant([0, 1], 'pending', 'attempting'), readGrant([2, 3], 'active', 'successful', active)],
  },
  'no access expires before its end': {
    broken: [[readGrant([0, 1], 'expired', 'deprovisioning', { ...active, ended_at: later })]],
    sound: [readGrant([0, 1], 'expired', 'deprovisioning', { ...active, ended_at: end })],
  },
  'a grant lasts as long as was given': {
    broken: [
      [
        create([0, 1], 'pending'),
        approve([2, 3], 'ben'),
        readGrant([4, 5], 'pending', 'attempting', { duration_seconds: 60 }),
      ],
      [create([0, 1], 'pending'), approve([2, 3], 'ben', 'r', 60), readGrant([4, 5], 'pending', 'attempting')],
    ],
    sound: [
      create([0, 1], 'pending'),
      approve([2, 3], 'ben', 'r', 60),
      readGrant([4, 5], 'pending', 'attempting', { duration_seconds: 60 }),
    ],
  },
  'a grant ends in time': {
    broken: [
      [readGrant([0, 1], 'active', 'successful', { ...active, duration_seconds: 1_800 })],
      [
        readGrant([0, 1], 'active', 'successful', active),
        readGrant([2, 3], 'active', 'successful', { ...active, id: 'e', request_id: 'x', extends: 'g' }),
      ],
    ],
    sound: [
      readGrant([0, 1], 'active', 'successful', active),
      readGrant([2, 3], 'active', 'successful', {
        ...{
          ...active,
          id: 'e',
          request_id: 'x',
          extends: 'g',
          duration_seconds: 1,
          expires_at: '2026-11-29T13:00:01.000Z',
        },
      }),
    ],
  },
  'one approval, one grant': {
    broken: [[itsGrants([0, 1], grant('pending', 'attempting'), grant('pending', 'attempting', { id: 'h' }))]],
    sound: [itsGrants([0, 1], grant('pending', 'attempting')), readGrant([2, 3], 'pending', 'attempting')],
  },
}

for (const [rule, { broken, sound }] of Object.entries(rules)) {
  test(`${rule}: is broken`, () => {
    for (const history of broken)
      assert.deepEqual(new Set(fieldViolations(history).map((one) => one.rule)), new Set([rule]))
  })
  test(`${rule}: holds`, () => assert.deepEqual(fieldViolations(sound), []))
}

test('moments that this program moved itself are not compared', () => {
  const moved = readGrant([0, 1], 'active', 'successful', active)
  const history = [
    { ...moved, isSetup: true },
    readGrant([2, 3], 'active', 'successful', { ...active, activated_at: later, duration_seconds: 3_599 }),
  ]
  assert.deepEqual(fieldViolations(history), [])
})
