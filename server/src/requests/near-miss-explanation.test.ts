import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleRule, sampleRuleSet } from '../../test/support/sample-rule.ts'
import { sampleQuestion } from '../policy-engine/cedar/samples.ts'
import { decideAsk } from '../policy-engine/deciding/decide.ts'
import type { PolicyRule } from '../policy-engine/deciding/rule-set.ts'
import { readSettingValues } from '../settings/setting.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { explainAnswer } from './near-miss-explanation.flow.ts'

const nearly = sampleRule('nearly', 'permit (principal, action, resource) when { context.duration_seconds <= 600 };')

/** The explanations by rules that may differ from the rules that decided, where the database cannot be read. */
function explainBy(rules: readonly PolicyRule[], scopes: string[]) {
  const decision = decideAsk(sampleRuleSet([nearly]), sampleQuestion)
  const evaluated = {
    acts_in_named_account: true,
    requested: {},
    decision,
    question: sampleQuestion,
    ruleSet: sampleRuleSet(rules),
    settings: readSettingValues({}),
  }
  const tx = { read: () => Promise.reject(new Error('no database')) }
  const actor = { scopes: new Set(scopes) }
  return explainAnswer(
    { tx, actor } as unknown as Parameters<typeof explainAnswer>[0],
    evaluated as unknown as EvaluatedRequest,
  )
}

test('a failure of the search gives no explanation and fails nothing else', async () => {
  assert.equal((await explainBy([nearly], [])).nearest.length, 1)
  const unread = await explainBy([nearly], ['policies:read'])
  const { reasoning } = decideAsk(sampleRuleSet([nearly]), sampleQuestion)
  assert.deepEqual(unread, { nearest: [], reasoning }, 'the policy names cannot be read')
  assert.deepEqual((await explainBy([nearly, { ...nearly, id: 'broken', policy_text: 'permit (' }], [])).nearest, [])
})
