import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ProgressRow, progressOf } from './grant-progress.ts'

const since = '2026-01-01T00:00:00+00:00'
const now = '2026-01-01T00:01:00+00:00'
const expires_at = '2026-01-01T01:00:00+00:00'

const at_target = {
  ...{ provisioner_id: null, provisioner: 'sandbox', name: null, act: null, is_absent: true, reference: null },
  ...{ failures: 0, last_error: null, drift: null, drifted_at: null, session_seconds: 3_600 },
  ...{ session_note: null, recorded_as: 'role_*' },
} satisfies ProgressRow['at_target']
const target = (more: Partial<NonNullable<ProgressRow['at_target']>>) => ({ at_target: { ...at_target, ...more } })

/** An active and held grant, at a target whose sessions live on for an hour. */
const held: ProgressRow = {
  ...{ status: 'active', provisioning_status: 'successful', since, now, activated_at: since, expires_at },
  ...{ is_audited: false, reference: 'r-1', failures: 0, last_error: null, at_target },
}
const pending = {
  ...held,
  ...{ status: 'pending', provisioning_status: 'not_attempted', activated_at: null, expires_at: null, reference: null },
}
const ended = { ...held, status: 'expired', provisioning_status: 'deprovisioning', reference: null }

const steps: [string, Partial<ProgressRow>, string][] = [
  ['its target is not known yet', { ...pending, at_target: null }, 'planning'],
  ['its target is known', pending, 'waiting'],
  ['an act has begun', { ...pending, provisioning_status: 'attempting', ...target({ act: 'grant' }) }, 'giving'],
  ['the target holds it', held, 'held'],
  ['its access was there before', { ...held, provisioning_status: 'not_attempted' }, 'held'],
  ['it was removed by hand', { ...held, ...target({ drift: 'removed', drifted_at: now }) }, 'drifted'],
  ['it is over', ended, 'taking_away'],
  ['it is over and stuck', { ...ended, provisioning_status: 'deprovisioning_failed' }, 'taking_away'],
  ['it is gone', { ...ended, provisioning_status: 'deprovisioned' }, 'gone'],
  [
    'it was added again by hand',
    { ...ended, provisioning_status: 'deprovisioned', ...target({ drift: 'added', drifted_at: now }) },
    'drifted',
  ],
  ['it is over and was there before', { ...ended, provisioning_status: 'not_attempted' }, 'left'],
  ['it was revoked before it was given', { ...pending, status: 'revoked' }, 'not_given'],
  ['it failed', { ...pending, status: 'failed', provisioning_status: 'failed' }, 'not_given'],
  [
    'it failed and is cleaned up',
    { ...pending, status: 'failed', provisioning_status: 'failed', ...target({ act: 'revoke' }) },
    'taking_away',
  ],
]

for (const [situation, row, step] of steps) {
  test(`when ${situation}, a grant is ${step}`, () => {
    assert.equal(progressOf({ ...held, ...row }).provisioning.step, step)
  })
}

const whatIsLeft: [string, Partial<ProgressRow>, boolean | undefined][] = [
  ['it waits', pending, undefined],
  ['it is active', held, undefined],
  ['it is over, and its access is still there', ended, false],
  [
    'it was revoked, and that is stuck',
    { ...ended, status: 'revoked', provisioning_status: 'deprovisioning_failed' },
    false,
  ],
  ['it is gone', { ...ended, provisioning_status: 'deprovisioned' }, true],
  ['its access was there before', { ...ended, provisioning_status: 'not_attempted' }, false],
  [
    'its access was added again by hand',
    { ...ended, provisioning_status: 'deprovisioned', ...target({ drift: 'added', drifted_at: now }) },
    false,
  ],
  [
    'its access was removed by hand before its end',
    { ...ended, ...target({ drift: 'removed', drifted_at: now }) },
    false,
  ],
  [
    'it failed, and its target has not been asked since',
    { ...pending, status: 'failed', provisioning_status: 'failed', ...target({ is_absent: false }) },
    false,
  ],
  ['it failed, and nothing was given', { ...pending, status: 'failed', provisioning_status: 'failed' }, true],
  [
    'it failed, and what was begun is taken away',
    { ...pending, status: 'failed', provisioning_status: 'failed', ...target({ act: 'revoke' }) },
    false,
  ],
]

for (const [situation, row, isGone] of whatIsLeft) {
  test(`when ${situation}, a grant says whether its access is gone: ${isGone}`, () => {
    assert.equal(progressOf({ ...held, ...row }).gone, isGone)
  })
}

test('a step has its start, its target request and its last error', () => {
  const row = { ...ended, ...target({ act: 'revoke', reference: 'r-2', failures: 2, last_error: 'no answer' }) }
  assert.deepEqual(progressOf(row).provisioning, {
    ...{
      provisioner: { id: null, type: 'sandbox', name: null },
      step: 'taking_away',
      since: '2026-01-01T00:00:00.000Z',
    },
    ...{ target_request_id: 'r-2', failures: 2, last_error: 'no answer', drift: null },
  })
  assert.equal(progressOf(held).provisioning.target_request_id, 'r-1')
})

test('a held or gone grant does not show the progress of another grant of the same access', () => {
  const other = target({ act: 'grant', reference: 'r-9', failures: 5, last_error: 'no answer' })
  for (const row of [held, { ...ended, provisioning_status: 'deprovisioned', reference: 'r-1' }]) {
    const { target_request_id, failures, last_error } = progressOf({ ...row, ...other }).provisioning
    assert.deepEqual([target_request_id, failures, last_error], ['r-1', 0, null])
  }
})

const sessions: [string, ProgressRow, string | null | undefined][] = [
  ['live: until an hour after their end', held, '2026-01-01T02:00:00.000Z'],
  ['still there after their end: until an hour from now', ended, '2026-01-01T01:01:00.000Z'],
  [
    'gone: until an hour after they were gone',
    { ...ended, provisioning_status: 'deprovisioned' },
    '2026-01-01T01:00:00.000Z',
  ],
  ['long gone: none', { ...ended, provisioning_status: 'deprovisioned', now: expires_at }, undefined],
  ['of a target that cuts its sessions: none', { ...ended, ...target({ session_seconds: 0 }) }, undefined],
  ['of a target with sessions of unknown length: unknown', { ...held, ...target({ session_seconds: null }) }, null],
  ['never given: none', { ...pending, status: 'failed', provisioning_status: 'failed' }, undefined],
  ['of access that was there before: none', { ...held, provisioning_status: 'not_attempted' }, undefined],
]

for (const [what, row, until] of sessions) {
  test(`sessions of grants that are ${what}`, () => {
    const { sessions_may_live_until } = progressOf(row)
    assert.deepEqual(sessions_may_live_until, until)
  })
}

test('the reason why sessions live on is shown as long as they do', () => {
  const shown = (row: Partial<ProgressRow>) =>
    progressOf({ ...ended, provisioning_status: 'deprovisioned', ...target({ session_note: 'full' }), ...row })
      .sessions_note
  assert.equal(shown({}), 'full')
  assert.equal(shown({ now: expires_at }), undefined)
  assert.equal(shown({ provisioning_status: 'deprovisioning' }), undefined)
  assert.equal(shown(held), undefined)
})

const gone = { ...ended, provisioning_status: 'deprovisioned' }
const records: [string, ProgressRow, string | null | undefined][] = [
  ['is live: until its last session ends', held, '2026-01-01T02:00:00.000Z'],
  ['is over and still there: end not known yet', ended, null],
  ['is gone: until its last session ends, however long ago', { ...gone, now: expires_at }, '2026-01-01T01:00:00.000Z'],
  [
    'is gone, at a target that cuts its sessions: until it was gone',
    { ...gone, ...target({ session_seconds: 0 }) },
    '2026-01-01T00:00:00.000Z',
  ],
  ['is gone, with sessions of unknown length: end not known', { ...gone, ...target({ session_seconds: null }) }, null],
  ['was never given: none', { ...pending, status: 'failed' }, undefined],
]

for (const [what, row, until] of records) {
  test(`the session record of a grant that ${what}`, () => {
    const { session_record } = progressOf({ ...row, is_audited: true })
    const from = '2026-01-01T00:00:00.000Z'
    assert.deepEqual(session_record, until === undefined ? undefined : { recorded_as: 'role_*', from, until })
    assert.equal('session_record' in progressOf(row), false, 'a grant that is not audited has no session record')
  })
}
