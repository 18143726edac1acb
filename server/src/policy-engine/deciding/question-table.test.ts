import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { rounds } from '../../../test/support/race.ts'
import { anyQuestion, anyRule, ruleOf } from '../../../test/support/random-rules.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { textEngine } from '../cedar/engine.ts'
import { type AskQuestion, askOf, type Resource } from '../cedar/question.ts'
import { sampleQuestion } from '../cedar/samples.ts'
import { schemaWith } from '../cedar/schema.ts'
import type { ApprovalMode } from '../rule.ts'
import { type Decision, decideAsk } from './decide.ts'
import type { PolicyRule } from './rule-set.ts'

/**
 * Compares decisions with the question table, row by row. The expected answer is computed in another way: each rule is
 * evaluated by itself, and the table is applied to the results.
 */

/** Which permits and which forbids take part in a question; `plain` is a forbid without a mode. */
const table = {
  ordinary: { permits: ['require', 'auto'], forbids: ['plain'] },
  at_once: { permits: ['auto'], forbids: ['plain', 'auto'] },
  emergency: { permits: ['break_glass'], forbids: ['plain', 'break_glass'] },
}

type Met = { rule: PolicyRule; outcome: 'matched' | 'failed' }

function answersOf(met: Met[], requester_id: string) {
  const modeOf = ({ rule }: Met) => rule.approval_mode ?? (rule.effect === 'permit' ? 'require' : 'plain')
  const holds = (name: keyof typeof table, counts: (one: Met) => boolean = () => true) =>
    met.some(
      (one) =>
        one.rule.effect === 'permit' &&
        one.outcome === 'matched' &&
        table[name].permits.includes(modeOf(one)) &&
        counts(one),
    ) && !met.some((one) => one.rule.effect === 'forbid' && table[name].forbids.includes(modeOf(one)))
  const ordinary = holds('ordinary')
  return {
    ordinary,
    // A rule never approves a request of the user who saved it last.
    at_once: ordinary && holds('at_once', ({ rule }) => rule.saved_by !== requester_id),
    emergency: holds('emergency'),
  }
}

/** The expected answer about one resource, by the table. */
function expected(met: Met[], question: AskQuestion): { mode: ApprovalMode | null; audit: boolean } {
  const answers = answersOf(met, question.principal.id)
  const { break_glass } = question.context
  const counting = table[break_glass ? 'emergency' : 'ordinary'].permits
  const audit = met.some(
    ({ rule, outcome }) =>
      outcome === 'matched' &&
      rule.effect === 'permit' &&
      counting.includes(rule.approval_mode ?? 'require') &&
      rule.audit_session,
  )
  if (break_glass) return { mode: answers.emergency ? 'break_glass' : null, audit: true }
  return { mode: answers.at_once ? 'auto' : answers.ordinary ? 'require' : null, audit }
}

/** The engine's result for a single rule. */
function meet(rule: PolicyRule, question: AskQuestion, resource: Resource): Met[] {
  const { action } = question
  const answer = textEngine.use((cedar) =>
    cedar.isAuthorized({
      ...askOf(question, resource, action),
      schema: schemaWith([action]),
      validateRequest: true,
      policies: { staticPolicies: { it: rule.policy_text } },
    }),
  )
  assert.ok(answer.type === 'success')
  const { reason, errors } = answer.response.diagnostics
  if (errors.length > 0) return [{ rule, outcome: 'failed' }]
  return reason.length > 0 ? [{ rule, outcome: 'matched' }] : []
}

const outcomeOf = ({ allowed, mode, audit_session }: Decision) => ({
  mode: allowed ? mode : null,
  audit: allowed && audit_session,
})

const all = '(principal, action, resource);'
const written = (effect: string, mode: string) =>
  `${mode === 'plain' || mode === 'require' ? '' : `@approval_mode("${mode}") `}${effect}${all}`
const subsetsOf = (modes: string[]) =>
  Array.from({ length: 2 ** modes.length }, (_, bits) => modes.filter((_mode, index) => (bits >> index) % 2 === 1))

const rows = subsetsOf(['require', 'auto', 'break_glass']).flatMap((permits) =>
  subsetsOf(['plain', 'auto', 'break_glass']).map((forbids) => ({ permits, forbids })),
)
for (const { permits, forbids } of rows) {
  const named = (modes: string[]) => modes.join(', ') || 'none'
  test(`permits: ${named(permits)}; forbids: ${named(forbids)}: both kinds of request get the table’s answer`, () => {
    const rules = [
      ...permits.map((mode) => sampleRule(`permit-${mode}`, written('permit', mode))),
      ...forbids.map((mode) => sampleRule(`forbid-${mode}`, written('forbid', mode))),
    ]
    const met = rules.map((rule): Met => ({ rule, outcome: 'matched' }))
    for (const break_glass of [false, true]) {
      const question = { ...sampleQuestion, context: { ...sampleQuestion.context, break_glass } }
      const { mode, audit_session } = decideAsk(sampleRuleSet(rules), question)
      assert.equal(mode, expected(met, question).mode)
      assert.equal(audit_session, mode === 'break_glass')
    }
  })
}

test('random rules, some of which fail, get the table’s answer: the strictest of all resources', () => {
  const property = fc.property(
    fc.array(anyRule(['permit', 'forbid']), { maxLength: 8 }),
    anyQuestion,
    (drawn, question) => {
      const rules = drawn.map(ruleOf)
      const each = question.resources.map((resource) =>
        expected(
          rules.flatMap((rule) => meet(rule, question, resource)),
          question,
        ),
      )
      const modes = each.map(({ mode }) => mode)
      const mode = modes.includes(null) ? null : modes.includes('require') ? 'require' : (modes[0] ?? null)
      const audit = mode !== null && each.some((one) => one.audit)
      assert.deepEqual(outcomeOf(decideAsk(sampleRuleSet(rules), question)), { mode, audit })
    },
  )
  fc.assert(property, { numRuns: rounds(40).length })
})
