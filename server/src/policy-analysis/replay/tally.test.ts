import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { sampleQuestion } from '../../policy-engine/cedar/samples.ts'
import { type Decision, decideAsk } from '../../policy-engine/deciding/decide.ts'
import type { RecordedQuestion } from '../../requests/policy-question.ts'
import { differencesOf, openTally } from './tally.ts'

const decide = (...rules: string[]): Decision =>
  decideAsk(sampleRuleSet(rules.map((text, index) => sampleRule(`rule-${index}`, text))), sampleQuestion)

const denied = decide()
const byPerson = decide('permit (principal, action, resource);')
const atOnce = decide('@approval_mode("auto") permit (principal, action, resource);')
const audited = decide('@audit_session("true") permit (principal, action, resource);')
const held = decide(
  '@approval_mode("auto") @audit_session("true") permit (principal, action, resource);',
  '@approval_mode("auto") forbid (principal, action, resource);',
)

test('a question has changed if its answer, its approval mode or its auditing differs', () => {
  const cases: [Decision, Decision, string[]][] = [
    [denied, byPerson, ['newly_allowed']],
    [audited, denied, ['newly_denied']],
    [byPerson, atOnce, ['loosened']],
    [atOnce, byPerson, ['tightened']],
    [byPerson, audited, ['audit_added']],
    [audited, byPerson, ['audit_removed']],
    [atOnce, held, ['tightened', 'audit_added']],
    [byPerson, { ...byPerson, reasoning: 'other words', governing_rule_id: 'another' }, []],
    [denied, { ...denied, audit_session: true }, []],
  ]
  for (const [before, after, expected] of cases) assert.deepEqual(differencesOf({ before, after }, 'ask'), expected)
  assert.deepEqual(differencesOf({ before: byPerson, after: audited }, 'approve'), [], 'an approval opens no session')
})

const drafted = {
  before: sampleRuleSet([]),
  after: sampleRuleSet([]),
  ...{ added: ['rule-1'], changed: [], removed: ['rule-0'] },
  pointers: new Map([['rule-1', '/draft/changes/0/create_rule/rule']]),
}

const questionOf = (number: number): RecordedQuestion => ({
  ...{
    id: String(number),
    request_id: null,
    decided_at: '2026-01-01T00:00:00.000Z',
    kind: 'ask',
    policyQuestion: sampleQuestion,
  },
  requester_id: `user ${number % 60}`,
  question: {
    resource: { type: 'cloud_account', id: String(number) },
    ...{ action: 'ReadOnly', duration_seconds: 600, break_glass: false },
  },
})

test('long lists are cut, and the number of further entries is given', () => {
  const tally = openTally(drafted)
  for (let number = 0; number < 300; number += 1) tally.add(questionOf(number), { before: byPerson, after: denied })
  const { counts, changed, by_requester, by_resource } = tally.result()
  assert.deepEqual([counts.questions, counts.changed, counts.newly_denied, counts.unchanged], [300, 300, 300, 0])
  assert.deepEqual([changed.length, changed[0]?.decision_id], [200, '0'])
  assert.deepEqual([by_requester.most.length, by_requester.more, by_requester.most[0]?.changed], [50, 10, 5])
  assert.deepEqual([by_resource.most.length, by_resource.more], [50, 250])
})

test('a rule is counted if it took part in the decision, also if it prevents an approval at once', () => {
  const tally = openTally(drafted)
  tally.add(questionOf(1), { before: atOnce, after: held })
  assert.deepEqual(
    tally.result().by_rule.most.map(({ id, change, pointer, tightened }) => [id, change, pointer, tightened]),
    [
      ['rule-0', 'removed', null, 1],
      ['rule-1', 'added', '/draft/changes/0/create_rule/rule', 1],
    ],
  )
})

test('a question that the engine cannot answer is neither changed nor unchanged', () => {
  const tally = openTally(drafted)
  const broken = { ...denied, errors: [{ rule_id: null, message: 'the policy engine failed' }] }
  tally.add(questionOf(1), { before: byPerson, after: broken })
  const { counts, changed } = tally.result()
  assert.deepEqual([counts.undecidable, counts.changed, counts.unchanged, changed], [1, 0, 0, []])
})
