import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { rounds } from '../../../test/support/race.ts'
import { anyQuestion, anyRule, ruleOf } from '../../../test/support/random-rules.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import type { Principal } from '../cedar/question.ts'
import { sampleApproval, sampleQuestion } from '../cedar/samples.ts'
import { type Decision, decideApprove, decideAsk } from './decide.ts'

/** What the attribute decides, and that rules which do not read it decide as they always did. */
const email = 'ada@ops.corp.example'
const verified = { email, email_verified: true }
const unverified = { email, email_verified: false }

const rulesOf = (texts: readonly string[]) =>
  sampleRuleSet(texts.map((text, index) => sampleRule(`rule-${index}`, text)))
const ask = (texts: readonly string[], person: Partial<Principal>) =>
  decideAsk(rulesOf(texts), { ...sampleQuestion, principal: { ...sampleQuestion.principal, ...person } })
const approve = (texts: readonly string[], approver: Partial<Principal>, requester: Partial<Principal> = {}) =>
  decideApprove(rulesOf(texts), {
    ...sampleApproval,
    principal: { ...sampleApproval.principal, ...approver },
    request: { ...sampleApproval.request, requester: { ...sampleApproval.request.requester, ...requester } },
  })
const outcome = ({ allowed, mode }: Decision) => (allowed ? mode : 'denied')

const all = '(principal, action, resource)'
const ours = 'principal.email like "*@ops.corp.example" && principal.email_verified'
const permit = `permit ${all} when { ${ours} };`
const approving = '(principal, action == Action::"approve", resource)'

suite('a rule that reads whether the address is verified', () => {
  test('permits a verified address of the domain', () => {
    assert.equal(outcome(ask([permit], verified)), 'require')
    assert.equal(outcome(ask([permit], { ...verified, email: 'ada@corp.example' })), 'denied')
  })

  test('refuses an unverified address (O21)', () => {
    assert.equal(outcome(ask([permit], unverified)), 'denied')
  })

  test('approves at once, and in an emergency, only a verified address (O21)', () => {
    const texts = ['auto', 'break_glass'].map((mode) => `@approval_mode("${mode}") ${permit}`)
    const emergency = { ...sampleQuestion, context: { ...sampleQuestion.context, break_glass: true } }
    const inEmergency = (person: Partial<Principal>) =>
      decideAsk(rulesOf(texts), { ...emergency, principal: { ...emergency.principal, ...person } })
    assert.deepEqual([outcome(ask(texts, verified)), outcome(inEmergency(verified))], ['auto', 'break_glass'])
    assert.deepEqual([outcome(ask(texts, unverified)), outcome(inEmergency(unverified))], ['denied', 'denied'])
  })

  test('forbids an unverified address what others may (O21)', () => {
    const texts = [`permit ${all};`, `forbid ${all} unless { ${ours} };`]
    assert.deepEqual([outcome(ask(texts, verified)), outcome(ask(texts, unverified))], ['require', 'denied'])
  })

  test('lets no approver with an unverified address decide (O21)', () => {
    const texts = [`permit ${approving} when { ${ours} };`]
    assert.deepEqual([approve(texts, verified).allowed, approve(texts, unverified).allowed], [true, false])
  })

  test('lets nobody approve a requester with an unverified address (O21)', () => {
    const texts = [`permit ${approving} when { resource.requester.email_verified };`]
    assert.deepEqual([approve(texts, {}, verified).allowed, approve(texts, {}, unverified).allowed], [true, false])
    assert.equal(approve(texts, verified, unverified).allowed, false, 'not the approver’s address')
  })

  test('denies where the fact is unknown, without throwing', () => {
    for (const email_verified of [undefined, null, 'true', 1] as unknown[] as boolean[])
      assert.equal(ask([`permit ${all};`], { email, email_verified }).allowed, false, String(email_verified))
  })
})

test('rules that do not read the attribute give the same decision for a verified and an unverified address', () => {
  const anyOther = anyRule(['permit', 'forbid']).filter(({ text }) => !text.includes('email_verified'))
  const property = fc.property(fc.array(anyOther, { maxLength: 8 }), anyQuestion, (drawn, question) => {
    const ruleSet = sampleRuleSet(drawn.map(ruleOf))
    const [one, other] = [true, false].map((email_verified) =>
      decideAsk(ruleSet, {
        ...question,
        principal: { ...question.principal, email_verified },
      }),
    )
    assert.deepEqual(one, other)
  })
  fc.assert(property, { numRuns: rounds(40).length })
})
