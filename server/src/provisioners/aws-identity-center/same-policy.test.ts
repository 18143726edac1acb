import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isSamePolicy } from './same-policy.ts'

const ours = {
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Action: ['s3:GetObject'],
      Resource: ['arn:aws:s3:::logs/*', 'arn:aws:s3:::logs'],
      Condition: { Bool: { 'aws:SecureTransport': 'true' } },
    },
  ],
}
const [statement] = ours.Statement
const text = JSON.stringify(ours)
const withStatement = (change: object) => JSON.stringify({ ...ours, Statement: [{ ...statement, ...change }] })

suite('a policy is the same', () => {
  const same: readonly [name: string, policy: string][] = [
    ['as it is', text],
    ['with white space', JSON.stringify(ours, null, '\t')],
    ['with names in another order', JSON.stringify(Object.fromEntries(Object.entries(ours).reverse()))],
    ['with one statement that is in no list', JSON.stringify({ ...ours, Statement: statement })],
    ['with one action that is in no list', withStatement({ Action: 's3:GetObject' })],
    ['with a list in another order', withStatement({ Resource: statement?.Resource.toReversed() })],
    [
      'with the value of a condition in a list',
      withStatement({ Condition: { Bool: { 'aws:SecureTransport': ['true'] } } }),
    ],
    [
      'with a truth value in place of its text',
      withStatement({ Condition: { Bool: { 'aws:SecureTransport': true } } }),
    ],
    ['with a letter in another spelling', text.replace('logs', '\\u006cogs')],
  ]
  for (const [name, policy] of same) {
    test(name, () => {
      assert.ok(isSamePolicy(text, policy))
      assert.ok(isSamePolicy(policy, text))
    })
  }
})

suite('a policy is another', () => {
  const others: readonly [name: string, policy: string][] = [
    ['with more actions', withStatement({ Action: ['s3:GetObject', 's3:PutObject'] })],
    ['with every action', withStatement({ Action: '*' })],
    ['with fewer resources', withStatement({ Resource: 'arn:aws:s3:::logs' })],
    ['without its condition', withStatement({ Condition: undefined })],
    ['with another condition', withStatement({ Condition: { Bool: { 'aws:SecureTransport': 'false' } } })],
    ['with another effect', withStatement({ Effect: 'Deny' })],
    ['with one more statement', JSON.stringify({ ...ours, Statement: [statement, statement] })],
    ['with a name that occurs twice', text.replace('"Action":', '"Action":"*","Action":')],
    ['of another version', text.replace('2012', '2008')],
    ['that is empty', ''],
    ['that is no JSON', `${text}}`],
    ['that is no object', '[]'],
  ]
  for (const [name, policy] of others) {
    test(name, () => {
      assert.ok(!isSamePolicy(text, policy))
      assert.ok(!isSamePolicy(policy, text))
    })
  }
})
