import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sampleGrant, sampleRequest } from '../../test/support/told-samples.ts'
import type { GrantFacts, RequestFacts } from './told-facts.ts'
import { type GrantEvent, noticesOfGrant, noticesOfRequest, type RequestEvent } from './who-is-told.ts'

const what = 'ReadOnlyAccess on cloud_account 123456789012'

suite('a notice of a request', () => {
  const told: [string, RequestEvent, Partial<RequestFacts>, string | undefined, string][] = [
    [
      'a new one asks those who may decide',
      'request.created',
      {},
      'eligible_approvers',
      `Dana Lee asks for ${what} for 1 h 30 min: “look at the logs”.`,
    ],
    [
      'a new one without a reason gives none',
      'request.created',
      { reason: null, duration_seconds: 60 },
      'eligible_approvers',
      `Dana Lee asks for ${what} for 1 min.`,
    ],
    ['one that a rule approves at once asks nobody', 'request.created', { approval_mode: 'auto' }, undefined, ''],
    ['an emergency asks nobody', 'request.created', { approval_mode: 'break_glass' }, undefined, ''],
    [
      'an emergency is told to every approver',
      'request.break_glass',
      { approval_mode: 'break_glass' },
      'every_approver',
      `Dana Lee took ${what} in an emergency, for 1 h 30 min, without an approver: “look at the logs”.`,
    ],
    [
      'a reminder asks those who may decide, and says until when',
      'request.reminded',
      {},
      'eligible_approvers',
      `Dana Lee still waits for ${what} for 1 h 30 min: “look at the logs”. Nobody has decided yet; without a decision it expires at 2026-03-02 06:35 UTC.`,
    ],
    ['a reminder of what was decided meanwhile asks nobody', 'request.reminded', { waits_until: null }, undefined, ''],
    [
      'one that nobody may approve is told to whoever can mend it',
      'request.unapprovable',
      { reason: null },
      'administrators',
      `Dana Lee asks for ${what} for 1 h 30 min. As rules and roles are now, nobody may approve it; without a decision it expires at 2026-03-02 06:35 UTC.`,
    ],
    [
      'one that nobody may approve and that is over is told to nobody',
      'request.unapprovable',
      { waits_until: null },
      undefined,
      '',
    ],
    ['a refusal is told to nobody: whoever asked has the answer', 'request.refused', {}, undefined, ''],
    [
      'an approval names who approved',
      'request.approved',
      { decided_by_name: 'Kim' },
      'requester',
      `${what} for 1 h 30 min was approved by Kim. It begins once the target has confirmed it.`,
    ],
    [
      'an approval by rule says so',
      'request.approved',
      {},
      'requester',
      `${what} for 1 h 30 min was approved by rule. It begins once the target has confirmed it.`,
    ],
    [
      'a denial names who denied, and why',
      'request.denied',
      { decided_by_name: 'Kim', decision_reasoning: 'not today' },
      'requester',
      `${what} was denied by Kim: “not today”.`,
    ],
    ['a denial without reasoning gives none', 'request.denied', {}, 'requester', `${what} was denied.`],
    [
      'one that nobody decided is told to the requester',
      'request.expired',
      { actor_id: null, actor_name: null },
      'requester',
      `Nobody decided in time about ${what}. Ask again if you still need it.`,
    ],
    ['one’s own cancelling is not told', 'request.cancelled', {}, undefined, ''],
    [
      'a cancelling by somebody else is told',
      'request.cancelled',
      { actor_id: 'u2', actor_name: 'Kim' },
      'requester',
      `Your request for ${what} was cancelled by Kim.`,
    ],
    [
      'a cancelling by the service is told',
      'request.cancelled',
      { actor_id: null, actor_name: null },
      'requester',
      `Your request for ${what} was cancelled.`,
    ],
  ]
  for (const [sentence, type, facts, to, body] of told) {
    test(sentence, () => {
      const notices = noticesOfRequest(type, { ...sampleRequest, ...facts })
      const expected = to === undefined ? [] : [[to, body]]
      assert.deepEqual(
        notices.map((notice) => [notice.to, notice.body]),
        expected,
      )
    })
  }

  for (const [seconds, text] of [
    [60, '1 min'],
    [61, '1 min 1 s'],
    [3600, '1 h'],
    [90_060, '1 d 1 h'],
    [1_209_600, '14 d'],
  ] as const) {
    test(`says ${seconds} seconds as ${text}`, () => {
      const [notice] = noticesOfRequest('request.created', {
        ...sampleRequest,
        duration_seconds: seconds,
        reason: null,
      })
      assert.equal(notice?.body, `Dana Lee asks for ${what} for ${text}.`)
    })
  }

  test('keeps what a user wrote on one line, in its direction, and short (J9)', () => {
    const reason = `a\r\nApproved by Kim.\u2028\u202ebackwards\u0000${'x'.repeat(500)}`
    const [{ body } = { body: '' }] = noticesOfRequest('request.created', { ...sampleRequest, reason })
    assert.match(body, /: “a Approved by Kim\. backwards x+…”\.$/)
    assert.ok(body.length < 350)
  })

  test('leaves markup as it was written: it is text, not markup (J9)', () => {
    const reason = '<img src=x> [a](javascript:b) =cmd'
    const [notice] = noticesOfRequest('request.created', { ...sampleRequest, reason })
    assert.equal(notice?.body.endsWith(`“${reason}”.`), true)
  })
})

suite('a notice of a grant', () => {
  const told: [string, GrantEvent, Partial<GrantFacts>, string, string][] = [
    [
      'says until when it is',
      'grant.activated',
      {},
      'Access is active',
      `${what} is yours until 2026-03-01 08:05 UTC.`,
    ],
    [
      'says when it will end',
      'grant.expiring',
      {},
      'Access ends soon',
      `${what} ends at 2026-03-01 08:05 UTC. Ask again if you need it for longer.`,
    ],
    [
      'says when it ended',
      'grant.expired',
      { status: 'expired' },
      'Access ended',
      `${what} ended at 2026-03-01 08:05 UTC.`,
    ],
    [
      'names who ended it early',
      'grant.revoked',
      { status: 'revoked', ended_by: 'u2', ended_by_name: 'Kim' },
      'Access revoked',
      `${what} was ended early by Kim.`,
    ],
    [
      'says so when the holder ended it',
      'grant.revoked',
      { status: 'revoked', ended_by: 'u1', ended_by_name: 'Dana Lee' },
      'Access revoked',
      `${what} was ended early by yourself.`,
    ],
    [
      'names nobody when the service ended it',
      'grant.revoked',
      { status: 'revoked', expires_at: null },
      'Access revoked',
      `${what} was ended early.`,
    ],
    [
      'says that it could not be given',
      'grant.failed',
      { status: 'failed', expires_at: null, end_reason: 'its target refused it' },
      'Access could not be given',
      `${what} could not be given: “its target refused it”. Try again, or ask whoever runs Sallyport.`,
    ],
    [
      'says that it is not yet taken away',
      'grant.failed',
      { status: 'expired' },
      'Access not yet taken away',
      `${what} has ended, but the target has not yet taken it away. This goes on until it is gone.`,
    ],
    [
      'says that it was removed by hand',
      'grant.drifted',
      { status: 'active' },
      'Access was changed by hand',
      `${what} was removed at its target by hand.`,
    ],
    [
      'says that it was added again by hand',
      'grant.drifted',
      { status: 'expired' },
      'Access was changed by hand',
      `${what} has ended and was taken away, and was added again at its target by hand.`,
    ],
  ]
  for (const [sentence, type, facts, title, body] of told) {
    test(sentence, () =>
      assert.deepEqual(noticesOfGrant(type, { ...sampleGrant, ...facts }), [{ to: 'holder', title, body }]),
    )
  }
})
