import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventTable } from '../events/catalogue.ts'
import type { RecordedChanges } from '../kernel/context.ts'
import { allScopes } from '../permissions/permission.ts'
import { changedRecords, changesOf, hintsOf, maySeeChange, readScopes } from './change.ts'

const plain = { user_id: 'kim', scopes: new Set(['requests:create']) }
const approver = { user_id: 'dana', scopes: new Set(['requests:read', 'grants:read']) }
const subject = { subject_type: 'request', subject_id: 'r1', owner: 'kim', grants: null }

test('every event of the catalogue changes a record that a stream reports, or is listed as changing none', () => {
  assert.deepEqual(Object.keys(changedRecords).sort(), Object.keys(eventTable).sort())
  for (const [type, record] of Object.entries(changedRecords)) {
    assert.ok(record === null || record in readScopes, `${type} changes \`${record}\`, which has no scope`)
  }
})

test('every type of record has a scope to read it, and an event that changes it', () => {
  for (const [record, scope] of Object.entries(readScopes)) {
    assert.ok(allScopes.includes(scope) && scope.endsWith(':read'), scope)
    assert.ok(Object.values(changedRecords).includes(record as 'request'), record)
  }
})

test('no sign-in, refusal, or event of one’s own credentials changes a record that others see', () => {
  for (const [type, record] of Object.entries(changedRecords)) {
    if (/^(auth|access|tenant)\.|password|factor|recovery|setup_link|refused/.test(type))
      assert.equal(record, null, type)
  }
})

test('an event changes its subject; an approval also the grants that it created', () => {
  const request = { type: 'request', id: 'r1', owner: 'kim', scope: 'requests:read' }
  assert.deepEqual(changesOf({ ...subject, type: 'request.denied' }), [request])
  const grants = ['g1', 'g2'].map((id) => ({ type: 'grant', id, owner: 'kim', scope: 'grants:read' }))
  assert.deepEqual(changesOf({ ...subject, type: 'request.approved', grants: ['g1', 'g2'] }), [request, ...grants])
  assert.deepEqual(changesOf({ ...subject, type: 'request.commented' }), [request])
  assert.deepEqual(changesOf({ ...subject, type: 'request.reminded' }), [request])
})

test('an event about the tenant names no record of the type', () => {
  const about = { subject_type: 'tenant', subject_id: 't1', owner: null, grants: null }
  const changes = (type: 'policy.reordered' | 'cloud_accounts.updated' | 'policy.cases_changed') =>
    changesOf({ ...about, type }).map((change) => [change.type, change.id])
  assert.deepEqual(changes('policy.reordered'), [['policy', null]])
  assert.deepEqual(changes('policy.cases_changed'), [['policy_case', null]])
  assert.deepEqual(changes('cloud_accounts.updated'), [['cloud_account', null]])
})

test('a change is seen by the owner of the record, and by those with the scope to read it', () => {
  const [mine] = changesOf({ ...subject, type: 'request.created' })
  const [theirs] = changesOf({ ...subject, type: 'request.created', owner: 'ben' })
  const [unowned] = changesOf({ ...subject, type: 'request.created', owner: null })
  assert.ok(mine && theirs && unowned)
  assert.deepEqual(
    [mine, theirs, unowned].map((change) => maySeeChange(plain, change)),
    [true, false, false],
  )
  assert.deepEqual(
    [mine, theirs, unowned].map((change) => maySeeChange(approver, change)),
    [true, true, true],
  )
  assert.equal(maySeeChange({ user_id: null, scopes: new Set() }, unowned), false)
})

const changed = (mark: string, ...ids: string[]): RecordedChanges => ({
  mark,
  changes: ids.map((id) => ({ type: 'grant', id, owner: id.startsWith('k') ? 'kim' : 'ben', scope: 'grants:read' })),
})

test('several changes of one record are one hint, at its last change', () => {
  const hints = hintsOf([changed('1', 'k1'), changed('2', 'k2'), changed('3', 'k1')], plain)
  assert.deepEqual(hints, [
    { hint: { type: 'grant', id: 'k2' }, mark: '2' },
    { hint: { type: 'grant', id: 'k1' }, mark: '3' },
  ])
})

test('a client has reached an event only with the last of its hints', () => {
  const hints = hintsOf([changed('1', 'k1', 'k2', 'b1'), changed('2', 'b1', 'k3')], approver)
  assert.deepEqual(
    hints.map(({ hint, mark }) => [hint.id, mark]),
    [
      ['k1', undefined],
      ['k2', '1'],
      ['b1', undefined],
      ['k3', '2'],
    ],
  )
})

test('a hint has a type and an id, and nothing else', () => {
  for (const { hint } of hintsOf([changed('1', 'k1', 'b1')], approver))
    assert.deepEqual(Object.keys(hint), ['type', 'id'])
  assert.deepEqual(hintsOf([changed('1', 'b1')], plain), [])
})
