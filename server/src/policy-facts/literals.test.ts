import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sampleRule, sampleRuleSet } from '../../test/support/sample-rule.ts'
import { Problem } from '../kernel/errors.ts'
import { createEngine } from '../policy-engine/cedar/engine.ts'
import { createPolicyEvaluator } from '../policy-engine/deciding/evaluate.ts'
import { literalWarnings, requireFewLiterals, unknownTo } from './literals.ts'

const evaluator = createPolicyEvaluator(createEngine())

/** Rules that read this many users by name, each rule one of them. */
const reading = (count: number) =>
  sampleRuleSet(
    Array.from({ length: count }, (_, index) =>
      sampleRule(`rule-${index}`, `permit(principal, action, resource) when { User::"user ${index}".is_owner };`),
    ),
  )

suite('rules may read', () => {
  for (const [before, after, isFine] of [
    [0, 50, true],
    [50, 51, false],
    [0, 51, false],
    // Rules of before the limit stay, and can be changed.
    [60, 60, true],
    [60, 55, true],
    [60, 61, false],
  ] as const)
    test(`${after} entities by name after ${before}: ${isFine ? 'fine' : 'refused'}`, async () => {
      const change = () => requireFewLiterals(evaluator, reading(before), reading(after))
      if (isFine) await change()
      else await assert.rejects(change, (error) => error instanceof Problem && error.code === 'invalid_policy')
    })
})

test('the author of a rule is told what it reads, and of what nothing is known', () => {
  const [known, gone] = [
    { type: 'cloud_account', id: '111111111111' },
    { type: 'User', id: 'gone "x"' },
  ]
  const resource = { ...known, type: 'cloud_account', name: '', tags: {}, parents: [] } as const
  const facts = new Map([
    ['cloud_account::"111111111111"', { resource }],
    ['User::"gone \\"x\\""', null],
  ])
  const literals = [known, gone]
  const warningsFor = (...scopes: string[]) => literalWarnings(literals, unknownTo(new Set(scopes), literals, facts))
  assert.deepEqual(warningsFor('users:read', 'cloud_accounts:read'), [
    'this rule reads what is known of `cloud_account::"111111111111"` at each decision',
    'this rule reads `User::"gone \\"x\\""`, of which nothing is known: no attributes, no tags and no parents',
  ])
  assert.deepEqual(literalWarnings([], new Set()), [])
  // Whether a user exists is not told to an author who may not read users.
  assert.deepEqual(warningsFor('cloud_accounts:read'), [
    'this rule reads what is known of `cloud_account::"111111111111"`, `User::"gone \\"x\\""` at each decision',
  ])
})
