import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { GrantBody, RequestBody } from './bodies.ts'
import { timelineOf } from './timeline.ts'
import { placeOf, sentenceOf } from './view.ts'
import { german } from './words-de.ts'
import { english } from './words-en.ts'

const plain = ({ text }: { text: string }) => text.replaceAll(/<[^>]+>/g, '').replaceAll('\u00a0', ' ')

const request: RequestBody = {
  id: 'r',
  requester_id: 'u',
  requester_name: 'Dana Lee',
  resource: { type: 'cloud_account', id: '123456789012' },
  resource_name: 'payments-prod',
  action: 'ReadOnlyAccess',
  action_description: null,
  reason: null,
  status: 'pending',
  decision_reasoning: null,
  decided_by: null,
  decided_by_name: null,
  break_glass: false,
  duration_seconds: 5_400,
  approved_duration_seconds: null,
  extends: null,
  metadata: {},
  risk: 'normal',
  risk_reasons: [],
  reminded_at: null,
  created_at: '2026-03-01T08:00:00Z',
  updated_at: '2026-03-01T09:00:00Z',
  may_decide: true,
  why_not: null,
}
const set = { type: 'cloud_permission_set', id: 'arn:aws:sso:::permissionSet/ssoins-1/ps-2' }

suite('the sentence about a request', () => {
  const cases: [string, Partial<RequestBody>, string][] = [
    ['names an account', {}, 'Dana Lee requests ReadOnlyAccess on payments-prod for 1 h 30 min.'],
    [
      'shows the number of an account without a name',
      { resource_name: null },
      'Dana Lee requests ReadOnlyAccess on account 1234 5678 9012 for 1 h 30 min.',
    ],
    [
      'says no time where none is asked',
      { duration_seconds: null },
      'Dana Lee requests ReadOnlyAccess on payments-prod.',
    ],
    [
      'says that access is to last longer',
      { extends: 'g' },
      'Dana Lee asks for more time of ReadOnlyAccess on payments-prod for 1 h 30 min.',
    ],
    [
      'names the permission set, and the account on which it is given',
      { resource: set, resource_name: null, action: 'assume', metadata: { account_ids: ['123456789012'] } },
      'Dana Lee requests assume (ps-2) on account 1234 5678 9012 for 1 h 30 min.',
    ],
    [
      'counts the accounts of a permission set',
      { resource: set, resource_name: null, action: 'assume', metadata: { account_ids: ['1', '2', '3'] } },
      'Dana Lee requests assume (ps-2) on 3 accounts for 1 h 30 min.',
    ],
    [
      'shows what it does not know as it is',
      { resource: { type: 'a_new_type', id: 'x' }, resource_name: null },
      'Dana Lee requests ReadOnlyAccess on a_new_type x for 1 h 30 min.',
    ],
  ]
  for (const [name, more, text] of cases) {
    test(name, () => assert.equal(plain(sentenceOf({ ...request, ...more }, english)), text))
  }

  test('is German', () => {
    assert.equal(
      plain(sentenceOf(request, german)),
      'Dana Lee beantragt ReadOnlyAccess auf payments-prod für 1 h 30 min.',
    )
    assert.equal(plain(placeOf(request, german)), 'payments-prod · 1234 5678 9012')
  })
})

suite('a timeline', () => {
  const grant = {
    activated_at: '2026-03-01T09:00:05Z',
    expires_at: '2026-03-01T10:30:05Z',
    status: 'active',
  } as GrantBody
  const comment = { id: 'c', author_name: 'Ben', text: 'why?', created_at: '2026-03-01T08:30:00Z' }
  const shown = (more: Partial<RequestBody>, grants: GrantBody[] = []) =>
    timelineOf({ ...request, ...more }, { comments: [comment], grants }, english).map(([at, what]) =>
      [at.slice(11, 16), typeof what === 'string' ? what : plain(what)].join(' '),
    )

  test('is in the order of what happened, and ends with what is to come', () => {
    const approved = { status: 'approved', decided_by_name: 'Ben', reminded_at: '2026-03-01T08:20:00Z' } as const
    assert.deepEqual(shown(approved, [grant, grant]), [
      '08:00 Dana Lee requested it',
      '08:20 Dana Lee reminded those who may decide',
      '08:30 Ben commented',
      '09:00 Ben approved it',
      '09:00 The target confirmed the access',
      '10:30 Ends',
    ])
  })

  const ends: [Partial<RequestBody>, string][] = [
    [{ status: 'approved' }, '09:00 Approved by a rule'],
    [{ status: 'denied', decided_by_name: 'Ben' }, '09:00 Ben denied it'],
    [{ status: 'expired' }, '09:00 Nobody decided in time'],
    [{ status: 'cancelled' }, '09:00 Cancelled'],
    [{ status: 'pending' }, '08:30 Ben commented'],
  ]
  for (const [more, last] of ends) test(`ends: ${last}`, () => assert.equal(shown(more).at(-1), last))
})
