import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evaluatePolicy } from '../support/aws/policies.ts'

const allow = { Effect: 'Allow', Action: 's3:Get*', Resource: '*' }
const deny = (Condition: object) => ({ Effect: 'Deny', Action: '*', Resource: '*', Condition })
const issued = (moment: string) => deny({ DateLessThan: { 'aws:TokenIssueTime': moment } })
const context = { 'identitystore:userid': 'ada', 'aws:tokenissuetime': '2026-05-04T12:00:00Z' }

const cases: Readonly<Record<string, [object[], 'allow' | 'deny' | 'nothing']>> = {
  'nothing allows it': [[], 'nothing'],
  'a statement allows its action': [[allow], 'allow'],
  'none allows another action': [[{ ...allow, Action: ['s3:Put*', 'ec2:*'] }], 'nothing'],
  'none allows an excluded action': [[{ Effect: 'Allow', NotAction: 's3:*', Resource: '*' }], 'nothing'],
  'none allows another resource': [[{ ...allow, Resource: 'arn:aws:s3:::other' }], 'nothing'],
  'a deny goes before an allow': [[allow, deny({})], 'deny'],
  'a deny of this person': [[allow, deny({ StringEquals: { 'IdentityStore:UserId': ['bob', 'ada'] } })], 'deny'],
  'a deny of another person': [[allow, deny({ StringEquals: { 'identitystore:UserId': 'bob' } })], 'allow'],
  'the value of a key has its case': [[allow, deny({ StringEquals: { 'identitystore:UserId': 'Ada' } })], 'allow'],
  'a deny of older sessions': [[allow, issued('2026-05-04T12:00:01Z')], 'deny'],
  'a session issued at that moment is not older': [[allow, issued('2026-05-04T12:00:00Z')], 'allow'],
  'both conditions must hold': [
    [
      allow,
      deny({
        StringEquals: { 'identitystore:UserId': 'bob' },
        DateLessThan: { 'aws:TokenIssueTime': '2027-01-01T00:00:00Z' },
      }),
    ],
    'allow',
  ],
  'a key that the request does not have': [[allow, deny({ StringEquals: { 'aws:username': 'ada' } })], 'allow'],
}

for (const [what, [Statement, said]] of Object.entries(cases)) {
  test(`a policy in the simulated AWS: ${what}`, () => {
    const policy = JSON.stringify({ Version: '2012-10-17', Statement })
    assert.equal(evaluatePolicy(policy, { action: 's3:GetObject', resource: 'arn:aws:s3:::logs', context }), said)
  })
}
