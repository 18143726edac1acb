/** The outcome of a case on a set of rules. */
import { type Static, Type } from 'typebox'
import { Nullable, OneOf, Uuid } from '../../http/schema.ts'
import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import type { LiteralFacts } from '../../policy-engine/cedar/question.ts'
import type { Decision } from '../../policy-engine/deciding/decide.ts'
import type { PolicyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { approvalModes } from '../../policy-engine/rule.ts'
import { expectation, type PolicyCase } from './case.ts'
import { decideCase } from './case-question.ts'

/** At most this many of the rules that decided a question are listed. */
const maxRulesShown = 20
const maxNoticesShown = 3

export const CaseOutcome = Type.Object(
  {
    case: Type.String(),
    required: Type.Boolean(),
    passed: Type.Boolean(),
    expected: Type.Object(expectation),
    got: Type.Object({
      answer: OneOf(['permit', 'forbid']),
      mode: Nullable(OneOf(approvalModes)),
      audit_session: Type.Boolean(),
      notices: Type.Array(Type.String(), { description: `the first ${maxNoticesShown}` }),
      reasoning: Type.Optional(Type.String({ description: 'only with policies:read' })),
      rule_ids: Type.Optional(
        Type.Array(Uuid, {
          description: `the first ${maxRulesShown} of the rules that decided; only with policies:read`,
        }),
      ),
    }),
  },
  { title: 'CaseOutcome' },
)
export type CaseOutcome = Static<typeof CaseOutcome>

/** The numbers of passed and failed cases, and each outcome, in order. */
export const CaseOutcomes = Type.Object(
  { passed: Type.Integer(), failed: Type.Integer(), outcomes: Type.Array(CaseOutcome) },
  { title: 'CaseOutcomes' },
)
export type CaseOutcomes = Static<typeof CaseOutcomes>

/** Evaluates valid cases on the rules, with the facts that these need. Yields to the event loop between two cases. */
export async function tryCases(
  evaluator: PolicyEvaluator,
  ruleSet: RuleSet,
  cases: readonly PolicyCase[],
  literals?: LiteralFacts,
): Promise<CaseOutcome[]> {
  await evaluator.rules.read(ruleSet)
  const yieldToEventLoop = periodicYield()
  const outcomes: CaseOutcome[] = []
  for (const one of cases) {
    outcomes.push(outcomeOf(one, decideCase(ruleSet, one, evaluator, literals)))
    await yieldToEventLoop()
  }
  return outcomes
}

/** Outcomes as a caller with these scopes may see them. */
export function counted(scopes: ReadonlySet<string>, outcomes: readonly CaseOutcome[]): CaseOutcomes {
  const passed = outcomes.filter((outcome) => outcome.passed).length
  return { passed, failed: outcomes.length - passed, outcomes: outcomes.map((one) => visibleTo(scopes, one)) }
}

/** The visible fields of an outcome: rule ids and reasoning only for a caller who may read rules. */
export function visibleTo(scopes: ReadonlySet<string>, outcome: CaseOutcome): CaseOutcome {
  if (scopes.has('policies:read')) return outcome
  const { reasoning, rule_ids, ...got } = outcome.got
  return { ...outcome, got }
}

/** Whether the decision is what the case expects. */
function outcomeOf(one: PolicyCase, decision: Decision): CaseOutcome {
  const { expect, mode, audit_session, notice, rule_ids } = one
  const passed =
    // A question that could not be answered is denied, but no case can expect that answer.
    decision.errors.every(({ rule_id }) => rule_id !== null) &&
    decision.allowed === (expect === 'permit') &&
    (mode === undefined || decision.mode === mode) &&
    (audit_session === undefined || decision.audit_session === audit_session) &&
    (notice === undefined || decision.notices.some((text) => text.includes(notice))) &&
    (rule_ids ?? []).every((id) => decision.rule_ids.includes(id.toLowerCase()))
  return {
    case: one.case,
    required: one.required ?? false,
    passed,
    expected: {
      expect,
      ...(mode !== undefined && { mode }),
      ...(audit_session !== undefined && { audit_session }),
      ...(notice !== undefined && { notice }),
      ...(rule_ids !== undefined && { rule_ids }),
    },
    got: {
      answer: decision.allowed ? 'permit' : 'forbid',
      mode: decision.mode,
      audit_session: decision.audit_session,
      reasoning: decision.reasoning,
      notices: decision.notices.slice(0, maxNoticesShown),
      rule_ids: decision.rule_ids.slice(0, maxRulesShown),
    },
  }
}
