import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sampleRequest } from '../../test/support/sample-messages.ts'
import type { RequestEvent, RequestFacts } from '../messages/event-facts.ts'
import { applies, notificationRules, notifiedEvents } from './notification-rules.ts'

suite('the rules of who is notified', () => {
  const rows: [string, RequestEvent, Partial<RequestFacts>, boolean][] = [
    ['a new request notifies those who may decide', 'request.created', {}, true],
    ['one that a rule approves at once notifies no user', 'request.created', { approval_mode: 'auto' }, false],
    [
      'the creation of a break-glass request notifies no user',
      'request.created',
      { approval_mode: 'break_glass' },
      false,
    ],
    ['a reminder notifies those who may decide', 'request.reminded', {}, true],
    [
      'a reminder about a request that was decided meanwhile notifies no user',
      'request.reminded',
      { waits_until: null },
      false,
    ],
    ['a comment of the requester notifies those who may decide', 'request.commented', { is_own: true }, true],
    [
      'a comment of the requester notifies no user after the decision',
      'request.commented',
      { is_own: true, waits_until: null },
      false,
    ],
    [
      'a comment of another user notifies the requester, also after the decision',
      'request.commented',
      { is_own: false, waits_until: null },
      true,
    ],
    ['one that no user may approve notifies the users who can change that', 'request.unapprovable', {}, true],
    [
      'one that no user may approve notifies no user after it is over',
      'request.unapprovable',
      { waits_until: null },
      false,
    ],
    ['a cancellation by the requester notifies no user', 'request.cancelled', { is_own: true }, false],
    ['a cancellation by another user notifies the requester', 'request.cancelled', { is_own: false }, true],
  ]
  for (const [sentence, type, facts, expected] of rows) {
    test(sentence, () => assert.equal(applies(notificationRules[type], { ...sampleRequest, ...facts }), expected))
  }

  test('a refusal and a retry notify no user: the caller has the response', () => {
    for (const type of ['request.refused', 'grant.retried'] as const) assert.ok(!notifiedEvents.includes(type))
  })
})
