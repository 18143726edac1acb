import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleRule, sampleRuleSet } from '../../test/support/sample-rule.ts'
import { sampleAsk } from '../policy-engine/cedar/samples.ts'
import { decideAsk } from '../policy-engine/deciding/decide.ts'
import type { PolicyRule } from '../policy-engine/deciding/rule-set.ts'
import { readSettingValues } from '../settings/setting.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { whyNot } from './near-miss-explanation.flow.ts'

const nearly = sampleRule('nearly', 'permit (principal, action, resource) when { context.duration_seconds <= 600 };')

/** What is told, of rules that may be others than those that were decided by, where the database cannot be asked. */
function whyNotBy(rules: readonly PolicyRule[], scopes: string[]) {
  const decision = decideAsk(sampleRuleSet([nearly]), sampleAsk)
  const asking = { decision, question: sampleAsk, ruleSet: sampleRuleSet(rules), settings: readSettingValues({}) }
  const tx = { read: () => Promise.reject(new Error('no database')) }
  const actor = { scopes: new Set(scopes) }
  return whyNot({ tx, actor } as unknown as Parameters<typeof whyNot>[0], asking as unknown as EvaluatedRequest)
}

test('what goes wrong on the way tells nothing, and fails nothing', async () => {
  assert.equal((await whyNotBy([nearly], [])).length, 1)
  assert.deepEqual(await whyNotBy([nearly], ['policies:read']), [], 'the names of policies cannot be had')
  assert.deepEqual(await whyNotBy([nearly, { ...nearly, id: 'broken', policy_text: 'permit (' }], []), [])
})
