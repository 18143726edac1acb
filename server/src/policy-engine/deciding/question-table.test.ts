import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { rounds } from '../../../test/support/race.ts'
import { anyQuestion, anyRule, ruleOf } from '../../../test/support/random-rules.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { textEngine } from '../cedar/engine.ts'
import { type AskQuestion, askOf, type Resource } from '../cedar/question.ts'
import { sampleAsk } from '../cedar/samples.ts'
import { schemaWith } from '../cedar/schema.ts'
import type { ApprovalMode } from '../rule.ts'
import { type Decision, decideAsk } from './decide.ts'
import type { PolicyRule } from './rule-set.ts'

/**
 * The question table, row by row, beside an answer worked out another way: each rule is put to the engine alone, and the
 * table is read as it is written.
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
    // Who saved a rule last does not approve themselves by it.
    at_once: ordinary && holds('at_once', ({ rule }) => rule.saved_by !== requester_id),
    emergency: holds('emergency'),
  }
}

/** What the rules say of one resource, by the table. */
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

/** What the engine says of a rule alone. */
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
  test(`permits: ${named(permits)}; forbids: ${named(forbids)}: both kinds of question are answered by the table`, () => {
    const rules = [
      ...permits.map((mode) => sampleRule(`permit-${mode}`, written('permit', mode))),
      ...forbids.map((mode) => sampleRule(`forbid-${mode}`, written('forbid', mode))),
    ]
    const met = rules.map((rule): Met => ({ rule, outcome: 'matched' }))
    for (const break_glass of [false, true]) {
      const question = { ...sampleAsk, context: { ...sampleAsk.context, break_glass } }
      const { mode, audit_session } = decideAsk(sampleRuleSet(rules), question)
      assert.equal(mode, expected(met, question).mode)
      assert.equal(audit_session, mode === 'break_glass')
    }
  })
}

test('rules by chance, some of which fail, are answered by the table, each resource by itself and then the strictest', () => {
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
