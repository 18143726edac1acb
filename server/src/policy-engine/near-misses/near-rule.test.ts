import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textEngine } from '../cedar/engine.ts'
import { parseStatement } from '../cedar/parse.ts'
import { askOf } from '../cedar/question.ts'
import { sampleAccount, sampleQuestion } from '../cedar/samples.ts'
import { scopeFromEngine } from '../cedar/scope.ts'
import { keyedScope, reachesOf } from '../deciding/keyed-scope.ts'
import { missedSides } from './near-rule.ts'

const bucket = {
  ...sampleAccount,
  type: 'cloud_storage_bucket',
  id: 'logs',
  parents: [{ type: 'cloud_account', id: '123456789012' }],
} as const
const sides = {
  principal: [
    ...['principal', 'principal == User::"ada"', 'principal == User::"eve"', 'principal == Group::"engineers"'],
    ...[
      'principal in Group::"engineers"',
      'principal in Role::"user"',
      'principal in Group::"user"',
      'principal in User::"ada"',
    ],
    ...[
      'principal is User',
      'principal is Group',
      'principal is User in Role::"user"',
      'principal is User in Role::"x"',
    ],
  ],
  action: [
    'action',
    'action == Action::"ReadOnlyAccess"',
    'action == Action::"x"',
    'action in [Action::"x", Action::"ReadOnlyAccess"]',
  ],
  resource: [
    ...[
      'resource',
      'resource == cloud_account::"123456789012"',
      'resource == cloud_account::"1"',
      'resource is cloud_account',
    ],
    ...['resource in cloud_account::"123456789012"', 'resource in cloud_organizational_unit::"ou-ab12-12345678"'],
    ...['resource is cloud_storage_bucket', 'resource is cloud_storage_bucket in cloud_account::"123456789012"'],
    ...[
      'resource is cloud_account in cloud_account::"123456789012"',
      'resource is cloud_account in cloud_account::"1"',
    ],
  ],
}

test('the parts of a scope that do not match are those by which the engine denies', () => {
  for (const resource of [sampleAccount, bucket])
    for (const [side, texts] of Object.entries(sides))
      for (const text of texts) {
        const rule = `permit (${['principal', 'action', 'resource'].map((one) => (one === side ? text : one)).join(', ')});`
        const call = { ...askOf(sampleQuestion, resource, 'ReadOnlyAccess'), policies: { staticPolicies: { rule } } }
        const answer = textEngine.use((cedar) => cedar.isAuthorized(call))
        assert.ok(answer.type === 'success')
        const scope = keyedScope(scopeFromEngine(parseStatement(rule)))
        const missed = missedSides(scope, [reachesOf(askOf(sampleQuestion, resource, 'ReadOnlyAccess'))])
        assert.deepEqual(missed, answer.response.decision === 'allow' ? [] : [side], `${rule} ${resource.type}`)
      }
})

test('a scope that matches one of several resources is enough', () => {
  const scope = keyedScope(
    scopeFromEngine(parseStatement('permit (principal, action, resource is cloud_storage_bucket);')),
  )
  const reaches = [sampleAccount, bucket].map((resource) =>
    reachesOf(askOf(sampleQuestion, resource, 'ReadOnlyAccess')),
  )
  assert.deepEqual([missedSides(scope, reaches), missedSides(scope, reaches.slice(0, 1))], [[], ['resource']])
})
