import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { createEngine } from '../../policy-engine/cedar/engine.ts'
import { createPolicyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { tellsMoreApart } from './told-apart.ts'

const evaluator = createPolicyEvaluator(createEngine())
const rulesWith = (conditions: readonly string[]) =>
  sampleRuleSet(
    conditions.map((one, index) => sampleRule(`r${index}`, `permit(principal, action, resource) when { ${one} };`)),
  )

const [env, team, anyTag] = ['resource.hasTag("env")', 'resource.hasTag("team")', 'resource.hasTag(principal.name)']
const account = 'resource in cloud_account::"111111111111"'
const unit = 'resource in cloud_organizational_unit::"ou-ab12-12345678"'

const rows: [one: string[], other: string[], more: boolean][] = [
  [[], [], false],
  [[], [env, account, unit], false],
  [[env], [env], false],
  [[env], [env, team], false],
  [[env, team], [env], true],
  [[env], [anyTag], false],
  [[anyTag], [anyTag], false],
  [[anyTag], [env, team], true],
  [[account], [env], true],
  [[unit], [account], true],
  [[account, unit], [unit, account], false],
]
for (const [one, other, more] of rows)
  test(`rules by ${one.join(' and ') || 'nothing'} tell ${more ? '' : 'not '}more apart than by ${other.join(' and ') || 'nothing'}`, () =>
    assert.equal(tellsMoreApart(rulesWith(one), rulesWith(other), evaluator), more))
