import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import type { Facts, Principal } from '../cedar/question.ts'
import { sampleApproval, sampleQuestion } from '../cedar/samples.ts'
import { statementFromInput } from '../cedar/statement.ts'
import { decideApprove, decideAsk } from './decide.ts'

/** What rules decide by department, title and manager, of which each may be unknown. */
const rulesOf = (texts: readonly string[]) => {
  for (const policy_text of texts) statementFromInput({ policy_text })
  return sampleRuleSet(texts.map((text, index) => sampleRule(`rule-${index}`, text)))
}
const scope = '(principal, action, resource)'

suite('a request by a rule that reads a fact', () => {
  const finance = 'principal has department && principal.department == "Finance"'
  const rows: [texts: string[], facts: Facts, allowed: boolean][] = [
    [[`permit ${scope} when { ${finance} };`], { department: 'Finance' }, true],
    [[`permit ${scope} when { ${finance} };`], { department: 'Sales' }, false],
    [[`permit ${scope} when { ${finance} };`], { title: 'Finance' }, false],
    [[`permit ${scope} when { ${finance} };`], {}, false],
    [[`permit ${scope};`, `forbid ${scope} unless { ${finance} };`], { department: 'Finance' }, true],
    [[`permit ${scope};`, `forbid ${scope} unless { ${finance} };`], {}, false],
    [[`permit ${scope};`, `forbid ${scope} when { principal has title };`], {}, true],
    [[`permit ${scope};`, `forbid ${scope} when { principal has title };`], { title: 'x' }, false],
    [[`permit ${scope} when { principal has manager };`], { manager: 'eve' }, true],
    [[`permit ${scope} when { principal has manager && principal.manager == User::"eve" };`], { manager: 'eve' }, true],
    [
      [`permit ${scope} when { principal has manager && principal.manager == User::"eve" };`],
      { manager: 'bob' },
      false,
    ],
  ]
  for (const [texts, facts, allowed] of rows)
    test(`${texts.join(' ')} with ${JSON.stringify(facts)}: ${allowed ? 'allowed' : 'denied'}`, () => {
      const { allowed: answer, errors } = decideAsk(rulesOf(texts), {
        ...sampleQuestion,
        principal: { ...sampleQuestion.principal, ...facts },
      })
      assert.deepEqual([answer, errors], [allowed, []])
    })
})

suite('a decision by a rule that names the manager', () => {
  const managed = (manager?: string): Principal => ({
    ...sampleApproval.request.requester,
    ...(manager !== undefined && { manager }),
  })
  const rows: [condition: string, manager: string | undefined, allowed: boolean][] = [
    ['resource.requester has manager && resource.requester.manager == principal', 'grace', true],
    ['resource.requester has manager && resource.requester.manager == principal', 'bob', false],
    ['resource.requester has manager && resource.requester.manager == principal', undefined, false],
    ['resource has requester.manager && [resource.requester.manager].contains(principal)', 'grace', true],
    ['resource has requester.manager && principal in resource.requester.manager', 'grace', true],
    ['!(resource.requester has manager)', undefined, true],
    ['!(resource.requester has manager)', 'bob', false],
  ]
  for (const [condition, manager, allowed] of rows)
    test(`\`${condition}\` with ${manager ?? 'none'}: ${allowed ? 'allowed' : 'denied'}`, () => {
      const ruleSet = rulesOf([`permit (principal, action == Action::"approve", resource) when { ${condition} };`])
      const request = { ...sampleApproval.request, requester: managed(manager) }
      const { allowed: answer, errors } = decideApprove(ruleSet, { ...sampleApproval, request })
      assert.deepEqual([answer, errors], [allowed, []])
    })
})

test('a rule that forgets that a fact may be unknown is refused', () => {
  for (const condition of [
    'principal.department == "Finance"',
    'principal.title like "*"',
    'principal.manager == principal',
  ])
    assert.throws(() => rulesOf([`forbid ${scope} when { ${condition} };`]), /optional attribute|has /)
})

test('a fact that is no text denies, without throwing', () => {
  for (const department of [null, 1, '\ud800', { __extn: { fn: 'unknown', arg: 'x' } }] as unknown[] as string[]) {
    const principal = { ...sampleQuestion.principal, department }
    assert.equal(decideAsk(rulesOf([`permit ${scope};`]), { ...sampleQuestion, principal }).allowed, false)
  }
})
