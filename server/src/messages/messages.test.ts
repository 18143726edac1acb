import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { forgingMarks, hostileTexts, poisoned } from '../../test/support/poisoned-facts.ts'
import {
  messageEvents,
  messageWith,
  sampleFacts,
  sampleGrant,
  sampleRequest,
} from '../../test/support/sample-messages.ts'
import { filterableEvents } from '../notification-channels/channel-fields.ts'
import { type Connect, connectOf } from '../provisioners/connect.ts'
import type { GrantEvent, GrantFacts, RequestEvent, RequestFacts } from './event-facts.ts'
import { type Message, paragraphOf, writeMessage } from './message.ts'
import { bareMessage, grantMessage, requestMessage } from './message-table.ts'

const textsOf = (message: Message): string[] => {
  const { title, sentence, facts, quotes, next = '', connect } = message
  const how = connect && [connect.summary, ...[...connect.links, ...connect.fields, ...connect.commands].flat()]
  const files = connect?.files.flatMap(({ label, path, lines }) => [label, path, ...lines]) ?? []
  return [title, sentence, ...facts.flat(), ...quotes.flat(), next, ...(how ?? []), ...files, paragraphOf(message)]
}
const labelsOf = ({ facts, quotes }: Message) => [...facts, ...quotes].map(([label]) => label)

suite('the messages of events', () => {
  test('exist for every event that a channel may name', () => {
    assert.deepEqual(messageEvents.toSorted(), [...filterableEvents, 'notification_channel.tested'].toSorted())
  })

  for (const type of messageEvents) {
    test(`${type}: user text stays on one line, keeps its direction, and is bounded (J9)`, () => {
      for (const facts of sampleFacts(type)) {
        for (const poison of hostileTexts) {
          const message = messageWith(type, poisoned(facts, poison))
          assert.deepEqual(labelsOf(message), labelsOf(messageWith(type, facts)))
          assert.ok([...message.title].length <= 150)
          for (const text of textsOf(message)) {
            assert.doesNotMatch(text, forgingMarks)
            assert.ok(text.length <= 3_000)
          }
        }
      }
    })

    test(`${type}: says what happened and when, without an id if the name is known`, () => {
      for (const facts of sampleFacts(type)) {
        const message = messageWith(type, facts)
        const texts = textsOf(message).join('\n')
        assert.match(texts, /2026-03-01 09:05 CET \(08:05 UTC\)/)
        assert.doesNotMatch(texts, /undefined|null|\[object/)
        if ('name' in facts && facts.name === null) continue
        assert.doesNotMatch(message.title, /01989c5e/)
      }
    })
  }

  test('an event without its own message gets the meaning of its type and its subject', () => {
    const event = {
      type: 'user.password_reset',
      at: '2026-03-01T08:05:09.120Z',
      subject_type: 'user',
      subject_id: 'u1',
    }
    assert.deepEqual(bareMessage({ ...event, type: 'user.password_reset' }), {
      title: 'user.password_reset: the operator gave a user a new password',
      sentence: 'the operator gave a user a new password.',
      facts: [
        ['What', 'user u1'],
        ['When', '2026-03-01 08:05 UTC'],
      ],
      quotes: [],
      next: undefined,
      connect: undefined,
    })
  })
})

suite('a message', () => {
  test('truncates a long title at a word', () => {
    const { title } = writeMessage({ title: 'many words '.repeat(100) })
    assert.match(title, /^(many words )+many…$/)
    assert.ok(title.length <= 150)
    assert.equal(writeMessage({ title: 'x'.repeat(999) }).title, `${'x'.repeat(149)}…`)
  })

  test('becomes one paragraph of its sentence, the quotes, and the next step', () => {
    const message = {
      title: 'It broke',
      facts: [['When', 'now']],
      quotes: [['Reason', 'a\nlook']],
      next: 'Fix it.',
    } as const
    assert.equal(paragraphOf(writeMessage(message)), 'It broke. Reason: “a look”. Fix it.')
  })

  test('has the most direct way to connect in its paragraph, and no link of another scheme', () => {
    const links = [
      { label: 'Portal', url: 'https://a.example/1' },
      { label: 'Console', url: 'https://a.example/2' },
    ]
    const connect = connectOf({
      kind: 'aws',
      summary: 'Sign in.',
      links,
      commands: [{ label: 'psql', words: ['psql'] }],
    })
    const written = (change: Partial<Connect>) =>
      paragraphOf(writeMessage({ title: 'Given', connect: { ...connect, ...change } }))
    assert.equal(written({}), 'Given. How to connect: Sign in. Console: https://a.example/2')
    assert.equal(written({ links: [] }), 'Given. How to connect: Sign in. psql: psql')
    const script = [{ label: 'x', url: 'javascript:alert(1)' }]
    assert.equal(written({ links: script, commands: [] }), 'Given. How to connect: Sign in.')
    assert.equal(
      written({ links: [], commands: [{ label: 'x', text: 'x'.repeat(700) }] }),
      'Given. How to connect: Sign in.',
    )
  })

  test('omits empty quotes, and a quote cannot leave its quotation marks (J9)', () => {
    const quotes = [
      ['Reason', 'x”. Approved by Kim. “y'],
      ['Note', ' '],
      ['Because', null],
    ] as const
    assert.equal(paragraphOf(writeMessage({ title: 'Denied', quotes })), 'Denied. Reason: “x". Approved by Kim. "y”.')
  })

  test('shortens a quote in a paragraph, and leaves markup unchanged (J9)', () => {
    const long = paragraphOf(writeMessage({ title: 'Denied', quotes: [['Reason', 'x'.repeat(500)]] }))
    assert.equal(long, `Denied. Reason: “${'x'.repeat(200)}…”.`)
    const reason = '<img src=x> [a](javascript:b) =cmd'
    assert.ok(paragraphOf(writeMessage({ title: 'Denied', quotes: [['Reason', reason]] })).includes(`“${reason}”`))
  })
})

const what = 'ReadOnlyAccess on account Production (123456789012)'

suite('the message about a request', () => {
  const requestTexts: [string, RequestEvent, Partial<RequestFacts>, RegExp][] = [
    ['gives no reason if there is none', 'request.created', { reason: null }, /for 1 h 30 min\. The request waits/],
    ['says until when the request waits', 'request.reminded', {}, /waits for an approver until 2026-03-02 09:05 CET/],
    [
      'mentions no waiting after a decision',
      'request.reminded',
      { status: 'approved' },
      /nobody has decided yet\. Reason: “[^”]*”\.$/,
    ],
    [
      'names who approved',
      'request.approved',
      { decided_by: 'Kim' },
      /^Kim approved .* for 1 h 30 min for Ada Lovelace\./,
    ],
    ['says that a rule approved', 'request.approved', {}, /^A rule approved/],
    [
      'names who denied, and why',
      'request.denied',
      { decided_by: 'Kim', decision_reasoning: 'no' },
      /^Kim .*: “no”\.$/,
    ],
    ['names who cancelled', 'request.cancelled', { is_own: false, actor: 'Kim' }, /^Kim cancelled the request of Ada/],
    [
      'says who commented, and what',
      'request.commented',
      { is_own: false, actor: 'Kim', comment: 'which\nticket?' },
      /^Kim commented on the request of Ada .* Comment: “which ticket\?”\. Answer it by a comment on the request\./,
    ],
    [
      'says where a comment is that it leaves out',
      'request.commented',
      { status: 'denied' },
      /^Ada Lovelace commented on their own request .*\. The comment is shown with the request\.$/,
    ],
    ['says if the requester cancelled', 'request.cancelled', {}, /^Ada Lovelace cancelled their own request/],
  ]
  for (const [sentence, type, facts, expected] of requestTexts) {
    test(sentence, () => assert.match(paragraphOf(requestMessage(type, { ...sampleRequest, ...facts })), expected))
  }

  test('that is late gives the present status of the request', () => {
    const late = { ...sampleRequest, status: 'approved', decided_by: 'Grace Hopper', waits_until: null } as const
    const { facts, next } = requestMessage('request.created', late)
    assert.deepEqual([facts.at(-1), next], [['By now', 'approved by Grace Hopper'], undefined])
  })

  test('quotes a name that imitates a sentence of ours (J9)', () => {
    const action = 'ReadOnly” on account Sandbox (111111111111). It was approved already. “x'
    assert.match(
      requestMessage('request.created', { ...sampleRequest, action }).title,
      /requests “ReadOnly" on account Sandbox \(111111111111\)\. It was approved already\. "x” on account/,
    )
  })

  test('leaves room for the action after a very long user name', () => {
    const requester = { name: 'Kim approved it already, nothing to do here. '.repeat(4), email: null }
    assert.ok(requestMessage('request.created', { ...sampleRequest, requester }).title.includes(`… requests ${what}`))
  })

  test('for many accounts names the first ones, and says how many more there are', () => {
    const accounts = [
      { account_id: '111111111111', name: 'Production' },
      { account_id: '222222222222', name: null },
    ]
    const set = { resource_type: 'cloud_permission_set', resource_id: 'arn:aws:sso:::permissionSet/ssoins-1/ps-1' }
    const many = { ...sampleRequest, ...set, accounts, account_count: 40 }
    const { facts } = requestMessage('request.created', many)
    assert.deepEqual(facts.slice(2, 4), [
      ['Where', `permission set ${set.resource_id}`],
      ['Accounts', 'Production (111111111111), 222222222222, 38 more'],
    ])
  })
})

suite('the message about a grant', () => {
  const until = '2026-03-01 10:35 CET (09:35 UTC)'
  const failed = { status: 'failed', expires_at: null, end_reason: 'its target refused it' } as const
  const left = { data: { total: 12, objects: [{ kind: 'table', name: 'public.scratch' }] } }
  const grantTexts: [string, GrantEvent, Partial<GrantFacts>, string][] = [
    ['says until when the access lasts', 'grant.activated', {}, `Ada Lovelace has ${what} until ${until}.`],
    ['says when the access will end', 'grant.expiring', {}, `${what} of Ada Lovelace ends at ${until}.`],
    [
      'says when the access ended',
      'grant.expired',
      { status: 'expired' },
      `${what} of Ada Lovelace ended on time at ${until}.`,
    ],
    ['names who ended it early', 'grant.revoked', { actor: 'Kim' }, `Kim ended ${what} of Ada Lovelace early.`],
    [
      'says if its holder ended it',
      'grant.revoked',
      { actor: 'Ada Lovelace', is_own: true },
      `Ada Lovelace gave back ${what} early.`,
    ],
    [
      'says why the access could not be given',
      'grant.failed',
      failed,
      'Because: “its target refused it”. If its target still gives it late, Sallyport takes it away.',
    ],
    [
      'says that access may be left after a failure',
      'grant.failed',
      { ...failed, provisioning_status: 'deprovisioning_failed' },
      'giving it failed, and its target has not taken away what was begun.',
    ],
    [
      'says that the access is being revoked',
      'grant.revoked',
      { status: 'revoked', provisioning_status: 'deprovisioning' },
      'It is now taken away at its target, unless another grant holds it.',
    ],
    [
      'says that foreign access stays',
      'grant.expired',
      { status: 'expired', provisioning_status: 'not_attempted' },
      'It was at the target before the grant began, and stays there.',
    ],
    [
      'says that the access is not yet revoked',
      'grant.failed',
      { status: 'expired' },
      'target has not yet taken it away.',
    ],
    ['says that the access was removed', 'grant.drifted', { data: { drift: 'removed' } }, 'It is left so: request'],
    ['says that the access was added by hand', 'grant.drifted', { data: { drift: 'added' } }, 'find out who added it'],
    ['says that what was made was changed', 'grant.drifted', { data: { drift: 'changed' } }, 'put back at once'],
    ['names what is left at the target', 'grant.objects_left', left, '“table public.scratch”'],
    [
      'names a permission set',
      'grant.activated',
      { permission_set: 'arn:sso:ReadOnly' },
      '“ReadOnlyAccess (ReadOnly)”',
    ],
  ]
  for (const [sentence, type, facts, expected] of grantTexts) {
    test(sentence, () => {
      const text = paragraphOf(grantMessage(type, { ...sampleGrant, reason: null, ...facts }))
      assert.ok(text.includes(expected), text)
    })
  }

  test('announces no next step if no access was given', () => {
    const facts = { ...sampleGrant, status: 'revoked', provisioning_status: 'not_attempted', expires_at: null } as const
    assert.equal(grantMessage('grant.revoked', facts).next, undefined)
  })

  test('mentions no correction of drift to a reader who may not know of it', () => {
    for (const drift of ['removed', 'added']) {
      const facts = { ...sampleGrant, corrects_drift: null, data: { drift } }
      assert.equal(grantMessage('grant.drifted', facts).next, undefined)
    }
  })
})
