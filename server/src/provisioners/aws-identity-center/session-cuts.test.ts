import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { checkPolicy } from '../../../test/support/aws/policies.ts'
import { findNoCut, hasCut, maxPolicyLength, withCut, withoutPastCuts } from './session-cuts.ts'

const now = new Date('2026-05-04T12:00:00Z')
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000)
const hour = 3_600
const [ada, bob] = ['11111111-aaaa-bbbb-cccc-000000000001', '0123456789-22222222-aaaa-bbbb-cccc-000000000002']

const statement = (person: string, before: Date) => ({
  Sid: `SallyportCut${person.replaceAll('-', '')}`,
  Effect: 'Deny',
  Action: '*',
  Resource: '*',
  Condition: {
    StringEquals: { 'identitystore:UserId': person },
    DateLessThan: { 'aws:TokenIssueTime': before.toISOString().replace('.000Z', 'Z') },
  },
})
const theirs = { Sid: 'Theirs', Effect: 'Allow', Action: ['s3:Get*'], Resource: '*' }
const other = {
  Effect: 'Deny',
  NotAction: 'iam:*',
  Resource: '*',
  Condition: { Bool: { 'aws:SecureTransport': 'false' } },
}
const policyOf = (...Statement: unknown[]) => JSON.stringify({ Version: '2012-10-17', Statement })

/** The policy after a cut, or why there is none. */
const cutInto = (text: string, person = ada, before = now, session_seconds = 12 * hour) => {
  const changed = withCut(text, { person, before }, now, session_seconds)
  return 'why' in changed ? changed.why : changed.policy
}

suite('a cut', () => {
  const cases: Readonly<Record<string, [string, string]>> = {
    'makes a policy where there is none': ['', policyOf(statement(ada, now))],
    'goes after the statements of the organization, which keep their order': [
      policyOf(theirs, other),
      policyOf(theirs, other, statement(ada, now)),
    ],
    'leaves every other part of the policy': [
      JSON.stringify({ Id: 'x', Statement: [theirs], Version: '2012-10-17' }),
      JSON.stringify({ Id: 'x', Statement: [theirs, statement(ada, now)], Version: '2012-10-17' }),
    ],
    'joins a single statement that is in no list': [
      JSON.stringify({ Version: '2012-10-17', Statement: theirs }),
      policyOf(theirs, statement(ada, now)),
    ],
    'stands beside the cuts of other people': [
      policyOf(statement(bob, hoursAgo(1)), theirs),
      policyOf(theirs, statement(bob, hoursAgo(1)), statement(ada, now)),
    ],
    'moves the moment of an earlier cut forward': [
      policyOf(theirs, statement(ada, hoursAgo(1))),
      policyOf(theirs, statement(ada, now)),
    ],
    'never moves the moment back': [
      policyOf(theirs, statement(ada, new Date(now.getTime() + 1_000))),
      policyOf(theirs, statement(ada, new Date(now.getTime() + 1_000))),
    ],
    'replaces those of all sessions that are over': [
      policyOf(theirs, statement(bob, hoursAgo(12))),
      policyOf(theirs, statement(ada, now)),
    ],
    'keeps those of sessions that may live, however short sessions are now': [
      policyOf(statement(bob, hoursAgo(11))),
      policyOf(statement(bob, hoursAgo(11)), statement(ada, now)),
    ],
    'leaves conditions of any form': [
      policyOf({ ...theirs, Condition: { StringEquals: null } }, { ...theirs, Sid: 'Other', Condition: null }),
      policyOf(
        { ...theirs, Condition: { StringEquals: null } },
        { ...theirs, Sid: 'Other', Condition: null },
        statement(ada, now),
      ),
    ],
    'reads a policy with any white space': [
      JSON.stringify(JSON.parse(policyOf(theirs)), null, 2),
      policyOf(theirs, statement(ada, now)),
    ],
  }
  for (const [what, [before, after]] of Object.entries(cases)) {
    test(what, () => {
      assert.equal(cutInto(before, ada, now, hour), after)
      if (!what.includes('any form')) checkPolicy(after)
      assert.ok(hasCut(after, { person: ada, before: now }, now))
    })
  }

  test('of sessions that are all over changes nothing', () => {
    assert.equal(cutInto(policyOf(theirs), ada, hoursAgo(12)), policyOf(theirs))
    assert.ok(hasCut(policyOf(theirs), { person: ada, before: hoursAgo(12) }, now))
  })

  test('is found for its person and moment only', () => {
    const text = policyOf(theirs, statement(ada, hoursAgo(1)))
    assert.ok(hasCut(text, { person: ada, before: hoursAgo(2) }, now))
    assert.ok(!hasCut(text, { person: ada, before: now }, now))
    assert.ok(!hasCut(text, { person: bob, before: hoursAgo(1) }, now))
  })
})

suite('a policy is left alone', () => {
  const cut = statement(ada, now)
  const bad: Readonly<Record<string, string>> = {
    'that is not JSON': '{',
    'that is no object': '[]',
    'whose statements are none': JSON.stringify({ Version: '2012-10-17', Statement: ['x'] }),
    'without statements': JSON.stringify({ Version: '2012-10-17' }),
    'with a name that occurs twice': `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Effect":"Deny","Action":"*","Resource":"*"}]}`,
    'with a number that JSON would round': `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"NumericLessThan":{"a:b":12345678901234567890}}}]}`,
    'with an altered cut': policyOf({ ...cut, Action: 's3:*' }),
    'with another statement of a cut’s name': policyOf({ ...theirs, Sid: 'SallyportCutx' }),
  }
  for (const [what, text] of Object.entries(bad)) {
    test(what, () => {
      assert.equal(cutInto(text), 'unreadable')
      assert.equal(withoutPastCuts(text, now), text)
      assert.equal(findNoCut(text), 'unreadable')
    })
  }

  test('but not because of quotes and backslashes in a text', () => {
    const odd = { ...theirs, Condition: { StringEquals: { 'a:b': ['\\', '\\"', '" "', '\n'] } } }
    assert.equal(cutInto(JSON.stringify(JSON.parse(policyOf(odd)), null, 1)), policyOf(odd, statement(ada, now)))
  })

  test('but not because of another spelling of a text', () => {
    const text = policyOf({ ...theirs, Resource: 'arn:aws:s3:::a/b<c' })
      .replace('/', '\\/')
      .replace('<', '\\u003c')
    assert.equal(cutInto(text), policyOf({ ...theirs, Resource: 'arn:aws:s3:::a/b<c' }, statement(ada, now)))
  })
})

suite('a full policy', () => {
  const people = Array.from({ length: 100 }, (_, place) => ada.slice(0, -3) + String(place + 100))
  const fullOf = (before: Date) => {
    let text = policyOf(theirs)
    for (const person of people) {
      const changed = cutInto(text, person, before)
      if (changed === 'full') return text
      text = changed
    }
    return assert.fail('it was never full')
  }

  test('takes no further cut, and loses none of sessions that may live', () => {
    const text = fullOf(hoursAgo(0.5))
    checkPolicy(text)
    assert.ok(text.length > maxPolicyLength - 300)
    assert.equal(cutInto(text, ada, now, hour), 'full')
  })

  test('loses those older than a session of the set', () => {
    assert.equal(cutInto(fullOf(hoursAgo(1)), ada, now, hour), policyOf(theirs, statement(ada, now)))
    assert.equal(cutInto(fullOf(hoursAgo(1)), ada, now, 2 * hour), 'full')
  })

  test('is seen before a cut is needed, if it is full without any', () => {
    const long = policyOf({ ...theirs, Resource: `arn:aws:s3:::${'l'.repeat(9_500)}/*` })
    assert.equal(findNoCut(long), 'full')
    for (const text of ['', policyOf(theirs), fullOf(hoursAgo(1))]) assert.equal(findNoCut(text), undefined)
  })

  test('moves the moment of a person it has', () => {
    const text = fullOf(hoursAgo(0.5))
    assert.equal(cutInto(text, people[0], now, hour).length, text.length)
  })
})

suite('a sweep', () => {
  const cases: Readonly<Record<string, [string, string]>> = {
    'removes cuts of sessions that are over': [
      policyOf(statement(bob, hoursAgo(12)), theirs, statement(ada, hoursAgo(11))),
      policyOf(theirs, statement(ada, hoursAgo(11))),
    ],
    'leaves a policy without such cuts as it is written': [`${policyOf(theirs)} `, `${policyOf(theirs)} `],
    'leaves nothing where there was nothing else': [policyOf(statement(ada, hoursAgo(13))), ''],
    'leaves an empty policy': ['', ''],
  }
  for (const [what, [before, after]] of Object.entries(cases)) {
    test(what, () => assert.equal(withoutPastCuts(before, now), after))
  }
})

test('the guide shows the statement that is written', () => {
  const guide = new URL('../../../../docs/guides/provisioner-aws-identity-center.md', import.meta.url)
  const [, shown = ''] = /```json statement\n([\s\S]*?)```/.exec(readFileSync(guide, 'utf8')) ?? []
  const moment = new Date('2026-11-27T12:00:00Z')
  const cut = { person: '906764aa-1b2c-4d3e-5f60-718293a4b5c6', before: moment }
  const written = withCut('', cut, moment, 12 * hour)
  assert.ok('policy' in written)
  assert.deepEqual((JSON.parse(written.policy) as { Statement: unknown[] }).Statement, [JSON.parse(shown)])
})
