import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { longVariable } from '../../../test/support/race.ts'
import {
  actions,
  anyQuestion,
  anyRule,
  conditions,
  type Question,
  quoted,
  ruleOf,
} from '../../../test/support/rules-to-slice.ts'
import { sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { createEngine } from '../cedar/engine.ts'
import { parseStatement } from '../cedar/parse.ts'
import { approveOf, askOf, type EngineQuestion } from '../cedar/question.ts'
import { sampleApproval, sampleQuestion } from '../cedar/samples.ts'
import { approveAction, schemaWith, unnamedAction } from '../cedar/schema.ts'
import { scopeFromEngine } from '../cedar/scope.ts'
import { ruleSetsOf } from '../cedar/validate.ts'
import {
  type Answer,
  createPolicyEvaluator,
  evaluate,
  evaluateBoth,
  type PolicyEvaluator,
  trusted,
} from './evaluate.ts'
import { atOnce } from './pieces.ts'
import type { Sizes } from './rule-index.ts'
import { type PolicyRule, sortRules, takesPart } from './rule-set.ts'

const sizesToTry: Sizes[] = [
  { mostWhole: 0, maxJoined: 4, maxPicked: 8 },
  { mostWhole: 0, maxJoined: 0, maxPicked: 2 },
  { mostWhole: 0, maxJoined: 0, maxPicked: 1 },
  { mostWhole: 0, maxJoined: 1000, maxPicked: 1000 },
  { mostWhole: 1000, maxJoined: 0, maxPicked: 0 },
]

/** Evaluators on one engine would overwrite each other's slots. */
const [ownEngine, plainEngine] = [createEngine(), createEngine()]

/** An evaluator that groups these rules by these sizes. */
function evaluatorFor(rules: readonly PolicyRule[], sizes: Sizes): PolicyEvaluator {
  const evaluator = createPolicyEvaluator(ownEngine)
  const sorted = atOnce(sortRules(rules, (rule) => parseStatement(rule.policy_text), undefined, sizes))
  return { ...evaluator, rules: { ...evaluator.rules, sorted: () => sorted } }
}

const tasks = ['Read', ...Array.from({ length: 23 }, (_, index) => `task ${index}`)]
const namedByRules = [...tasks, 'Write', 'a:Read', '']
const schema = schemaWith([...namedByRules, approveAction, unnamedAction])

type Subsets = Record<'ordinary' | 'at_once' | 'emergency' | 'approve', Answer>

/** What the engine itself answers, given the texts of all rules and the whole question: nothing is left out. */
function plainEvaluator(rules: readonly PolicyRule[]): (subset: keyof Subsets, question: EngineQuestion) => Answer {
  const byId = new Map(rules.map((rule) => [rule.id, rule]))
  const sets = new Map(
    rules.map((rule) => [rule.id, ruleSetsOf(scopeFromEngine(parseStatement(rule.policy_text)).action)]),
  )
  for (const subset of ['ordinary', 'at_once', 'emergency', 'approve'] as const) {
    const takes = (rule: PolicyRule) =>
      subset === 'approve'
        ? sets.get(rule.id)?.includes('approve')
        : sets.get(rule.id)?.includes('ask') && takesPart(rule, subset)
    const staticPolicies = Object.fromEntries(rules.filter(takes).map(({ id, policy_text }) => [id, policy_text]))
    plainEngine.use((cedar) => cedar.preparsePolicySet(subset, { staticPolicies }))
  }
  plainEngine.use((cedar) => cedar.preparseSchema('schema', schema))
  return (subset, question) => {
    const call = { ...question, preparsedPolicySetId: subset, preparsedSchemaName: 'schema', validateRequest: true }
    const answer = plainEngine.use((cedar) => cedar.statefulIsAuthorized(call))
    assert.equal(answer.type, 'success')
    return trusted(answer.response, byId)
  }
}

/** The questions about a request and about its approval, as functions of the name of the action. */
function putOf({ principal, resource, action, context: drawn }: Question) {
  const context = { ...sampleQuestion.context, ...drawn }
  const asked = { ...sampleQuestion, principal, context, action }
  const request = { ...sampleApproval.request, id: 'asked', requester: { ...principal, id: 'somebody else' } }
  return {
    ask: (known: string) => askOf(asked, resource, known),
    approve: () => approveOf({ ...sampleApproval, principal, request, context }, resource),
  }
}

function answers(evaluator: PolicyEvaluator, rules: readonly PolicyRule[], question: Question): Subsets {
  const [ruleSet, { ask, approve }, { action }] = [sampleRuleSet(rules), putOf(question), question]
  const { ordinary, atOnce: at_once } = evaluateBoth(evaluator, ruleSet, action, ask)
  const emergency = evaluate(evaluator, ruleSet, 'emergency', action, ask)
  return { ordinary, at_once, emergency, approve: evaluate(evaluator, ruleSet, 'approve', approveAction, approve) }
}

function plainAnswers(rules: readonly PolicyRule[], questions: readonly Question[]): Subsets[] {
  const evaluatePlainly = plainEvaluator(rules)
  return questions.map((question) => {
    const [{ ask, approve }, { action }] = [putOf(question), question]
    const put = ask(
      rules.some(({ policy_text }) => policy_text.includes(quoted('Action', action))) ? action : unnamedAction,
    )
    return {
      ordinary: evaluatePlainly('ordinary', put),
      at_once: evaluatePlainly('at_once', put),
      emergency: evaluatePlainly('emergency', put),
      approve: evaluatePlainly('approve', approve()),
    }
  })
}

const isLong = process.env[longVariable] !== undefined

test('evaluating only the rules that can matter gives the decision, reasons and errors of the engine for all of them', () => {
  let [matched, failed, cases] = [0, 0, 0]
  const property = fc.property(
    fc.array(anyRule, { minLength: 20, maxLength: 60, size: 'max' }),
    fc.array(anyQuestion, { minLength: 6, maxLength: 6 }),
    fc.constantFrom(...sizesToTry),
    (drawn, questions, sizes) => {
      const rules = drawn.map(ruleOf)
      const evaluator = evaluatorFor(rules, sizes)
      for (const [index, expected] of plainAnswers(rules, questions).entries()) {
        assert.deepEqual(answers(evaluator, rules, questions[index] as Question), expected)
        for (const { permits, forbids, errors, fault } of Object.values(expected)) {
          assert.equal(fault, undefined)
          cases += 1
          if (permits.length + forbids.length > 0) matched += 1
          if (errors.length > 0) failed += 1
        }
      }
    },
  )
  fc.assert(property, { numRuns: isLong ? 1_000 : 40 })
  // Enough rules must have matched and failed for the comparison to mean something.
  assert.ok(matched > cases / 4 && failed > cases / 8, `${matched} matched and ${failed} failed of ${cases}`)
})

/** Compares the answers over rules of these scopes with the engine's own. */
function compareOver(
  anyScope: fc.Arbitrary<[string, string, string]>,
  anyAction: fc.Arbitrary<string>,
  some = conditions,
  count = 20,
) {
  const anyScoped = fc
    .tuple(anyRule, anyScope, fc.constantFrom(...some))
    .map(([rule, scope, condition]) => ({ ...rule, scope, condition }))
  const anyAsked = fc.tuple(anyQuestion, anyAction).map(([question, action]) => ({ ...question, action }))
  const property = fc.property(
    fc.array(anyScoped, { minLength: count, maxLength: 3 * count, size: 'max' }),
    fc.array(anyAsked, { minLength: 6, maxLength: 6 }),
    fc.constantFrom(...sizesToTry),
    (drawn, questions, sizes) => {
      const rules = drawn.map(ruleOf)
      const evaluator = evaluatorFor(rules, sizes)
      const expected = plainAnswers(rules, questions)
      for (const [index, question] of questions.entries())
        assert.deepEqual(answers(evaluator, rules, question), expected[index])
    },
  )
  fc.assert(property, { numRuns: isLong ? 1_000 : 40 })
}

test('rules without a scope are told apart by their conditions', () => {
  compareOver(fc.constant(['principal', 'action', 'resource']), fc.constantFrom(...actions))
})

test('of rules that differ in the actions that they list, one is evaluated for an action, and speaks for those that list it', () => {
  const anyList = fc.subarray(tasks, { minLength: 2, maxLength: 2 })
  const anyScope = fc
    .tuple(fc.constantFrom('principal in Group::"ops"', 'principal in Group::"engineers"'), anyList)
    .map(([principal, list]): [string, string, string] => {
      return [principal, `action in [${list.map((id) => quoted('Action', id))}]`, 'resource']
    })
  const some = ['', '', '', '', 'when { context.has_reason }', `when { action == ${quoted('Action', 'Read')} }`]
  compareOver(anyScope, fc.constantFrom('Read', 'Write', ...tasks.slice(0, 2)), some, 120)
})
