import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { createEngine } from '../../policy-engine/cedar/engine.ts'
import { createPolicyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import type { PolicyRule } from '../../policy-engine/deciding/rule-set.ts'
import type { PolicyCase } from './case.ts'
import { tryCases } from './outcome.ts'

const permit = sampleRule('permit', 'permit(principal, action, resource);')
const question = { asks: 'Read', resource: { type: 'cloud_account', id: '111122223333' } } as const

async function passes(rules: PolicyRule[], wanted: Partial<PolicyCase>): Promise<boolean | undefined> {
  const one = { case: 'a case', expect: 'permit', ...question, ...wanted } as PolicyCase
  const [outcome] = await tryCases(createPolicyEvaluator(createEngine()), sampleRuleSet(rules), [one])
  return outcome?.passed
}

test('a question that could not be answered passes no case, whatever the case expects', async () => {
  const broken = [permit, { ...permit, id: 'broken', policy_text: 'permit(' }]
  assert.equal(await passes(broken, { expect: 'permit' }), false)
  assert.equal(await passes(broken, { expect: 'forbid' }), false)
})

test('a forbid that could not be evaluated counts as an answer', async () => {
  const failing = 'forbid(principal, action, resource) when { context.duration_seconds * 9223372036854775807 > 0 };'
  assert.equal(await passes([permit, sampleRule('failing', failing)], { expect: 'forbid' }), true)
})

test('every expected field is compared, and absent fields are not', async () => {
  const notice = sampleRule('words', '@notice("Be careful.") permit(principal, action, resource);')
  const table: [wanted: Partial<PolicyCase>, passed: boolean][] = [
    [{}, true],
    [{ expect: 'forbid' }, false],
    [{ mode: 'require' }, true],
    [{ mode: 'auto' }, false],
    [{ audit_session: false }, true],
    [{ audit_session: true }, false],
    [{ notice: 'careful' }, true],
    [{ notice: 'Careful' }, false],
    [{ rule_ids: ['words', 'permit'] }, true],
    [{ rule_ids: ['words', 'other'] }, false],
  ]
  for (const [wanted, passed] of table)
    assert.equal(await passes([permit, notice], wanted), passed, JSON.stringify(wanted))
})
