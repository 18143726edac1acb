import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { longVariable } from '../../../test/support/race.ts'
import { sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { createEngine } from '../cedar/engine.ts'
import { parseStatement } from '../cedar/parse.ts'
import { approveOf, askOf, type Principal, type Resource } from '../cedar/question.ts'
import { sampleApproval, sampleQuestion } from '../cedar/samples.ts'
import { approveAction } from '../cedar/schema.ts'
import type { ApprovalMode, Effect } from '../rule.ts'
import { type Answer, createPolicyEvaluator, evaluate, type PolicyEvaluator } from './evaluate.ts'
import { atOnce } from './pieces.ts'
import type { Sizes } from './rule-index.ts'
import { type PolicyRule, sortRules } from './rule-set.ts'

/** Two evaluators on one engine would overwrite each other's slots. */
const [wholeEngine, slicedEngine] = [createEngine(), createEngine()]

/** An evaluator that groups these rules by these sizes; infinite ones leave the rules in one set. */
function evaluatorFor(rules: readonly PolicyRule[], sizes: Sizes): PolicyEvaluator {
  const evaluator = createPolicyEvaluator(sizes === whole ? wholeEngine : slicedEngine)
  const sorted = atOnce(sortRules(rules, (rule) => parseStatement(rule.policy_text), undefined, sizes))
  return { ...evaluator, rules: { ...evaluator.rules, sorted: () => sorted } }
}
const whole = { mostWhole: Number.POSITIVE_INFINITY, maxJoined: 0, maxPicked: 0 }
const sliced: Sizes[] = [
  { mostWhole: 0, maxJoined: 4, maxPicked: 8 },
  { mostWhole: 0, maxJoined: 0, maxPicked: 2 },
  { mostWhole: 0, maxJoined: 1000, maxPicked: 1000 },
]

const quoted = (type: string, id: string) => `${type}::${JSON.stringify(id)}`
const users = ['ada', 'grace', 'a b', 'User ada']
const groups = ['engineers', 'ops', 'ada']
const roles = ['user', 'admin']
const accounts = ['1', '2', 'cloud_account 1', '"']
const units = ['ou-1', 'ou-2']
const actions = ['Read', 'Write', 'a:Read', '', 'unnamed']

const anyUser = fc.constantFrom(...users).map((id) => quoted('User', id))
const anyHolder = fc.oneof(
  anyUser,
  fc.constantFrom(...groups).map((id) => quoted('Group', id)),
  fc.constantFrom(...roles).map((id) => quoted('Role', id)),
)
const anyPlace = fc.oneof(
  fc.constantFrom(...accounts).map((id) => quoted('cloud_account', id)),
  fc.constantFrom(...accounts).map((id) => quoted('cloud_storage_bucket', id)),
  fc.constantFrom(...units).map((id) => quoted('cloud_organizational_unit', id)),
  fc.constant(quoted('access_request', 'asked')),
)
const scopeOf = (side: string, types: string[], entity: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.constant(side),
    entity.map((one) => `${side} == ${one}`),
    entity.map((one) => `${side} in ${one}`),
    fc.constantFrom(...types).map((type) => `${side} is ${type}`),
    fc.tuple(fc.constantFrom(...types), entity).map(([type, one]) => `${side} is ${type} in ${one}`),
  )
const anyNames = fc
  .array(fc.constantFrom(...actions.slice(0, 4), approveAction), { minLength: 1, maxLength: 12 })
  .map((ids) => ids.map((id) => quoted('Action', id)))
const anyAction = fc.oneof(
  fc.constant('action'),
  anyNames.map(([one]) => `action == ${one}`),
  anyNames.map((all) => `action in [${all.join(', ')}]`),
)
const conditions = [
  '',
  '',
  'when { context.has_reason }',
  'unless { principal in Role::"admin" }',
  'when { principal.email_verified }',
  'when { principal has department && principal.department == "Finance" }',
  `unless { principal has manager && principal.manager == User::${JSON.stringify(users[0])} }`,
  'when { context.duration_seconds * 9223372036854775807 > 0 }',
  'when { resource.nothing }',
]
const anyRule = fc.record({
  effect: fc.constantFrom<Effect[]>('permit', 'permit', 'forbid'),
  approval_mode: fc.constantFrom<(ApprovalMode | null)[]>(null, 'auto', 'break_glass'),
  scope: fc.tuple(
    scopeOf('principal', ['User', 'Group'], anyHolder),
    anyAction,
    scopeOf('resource', ['cloud_account', 'cloud_storage_bucket', 'access_request'], anyPlace),
  ),
  condition: fc.constantFrom(...conditions),
  ordinal: fc.nat(3),
})
type Drawn = typeof anyRule extends fc.Arbitrary<infer Value> ? Value : never
const ruleOf = ({ effect, approval_mode, scope, condition, ordinal }: Drawn, index: number): PolicyRule => {
  const policy_text = `${effect}(${scope.join(', ')}) ${condition};`
  const place = { id: `rule-${index}`, policy_id: 'policy', priority: 1, ordinal, saved_by: null }
  return { ...place, effect, policy_text, notice: null, audit_session: false, approval_mode }
}

const anyPrincipal: fc.Arbitrary<Principal> = fc
  .record({
    id: fc.constantFrom(...users),
    email_verified: fc.boolean(),
    group_ids: fc.subarray(groups),
    role_ids: fc.subarray(roles),
    facts: fc.constantFrom({}, { department: 'Finance' }, ...users.map((manager) => ({ manager }))),
  })
  .map(({ facts, ...drawn }) => ({ ...sampleQuestion.principal, ...drawn, ...facts }))
const anyResource: fc.Arbitrary<Resource> = fc
  .record({
    type: fc.constantFrom('cloud_account' as const, 'cloud_storage_bucket' as const),
    id: fc.constantFrom(...accounts),
    above: fc.subarray(units),
    home: fc.constantFrom(...accounts),
  })
  .map(({ type, id, above, home }) => {
    const within = above.map((unit) => ({ type: 'cloud_organizational_unit' as const, id: unit }))
    const account = type === 'cloud_account' ? [] : [{ type: 'cloud_account' as const, id: home }]
    return { type, id, name: '', tags: {}, parents: [...account, ...within] }
  })
const anyQuestion = fc.record({
  principal: anyPrincipal,
  resource: anyResource,
  action: fc.constantFrom(...actions),
  has_reason: fc.boolean(),
})
type Question = { principal: Principal; resource: Resource; action: string; has_reason: boolean }

/** The answers over all four subsets. */
function answers(
  evaluator: PolicyEvaluator,
  rules: readonly PolicyRule[],
  { principal, resource, action, has_reason }: Question,
) {
  const ruleSet = sampleRuleSet(rules)
  const context = { ...sampleQuestion.context, has_reason }
  const askQuestion = { ...sampleQuestion, principal, context, action }
  const asking = (['ordinary', 'at_once', 'emergency'] as const).map(
    (subset): Answer => evaluate(evaluator, ruleSet, subset, action, (known) => askOf(askQuestion, resource, known)),
  )
  const request = { ...sampleApproval.request, id: 'asked', requester: { ...principal, id: 'somebody else' } }
  const approval = { ...sampleApproval, principal, request, context }
  const approving = evaluate(evaluator, ruleSet, 'approve', approveAction, () => approveOf(approval, resource))
  return [...asking, approving]
}

const isLong = process.env[longVariable] !== undefined

test('evaluating only the rules whose scope fits gives the same decision, reasons and errors as evaluating all', () => {
  let [matched, failed, cases] = [0, 0, 0]
  const property = fc.property(
    fc.array(anyRule, { minLength: 20, maxLength: 60, size: 'max' }),
    fc.array(anyQuestion, { minLength: 6, maxLength: 6 }),
    fc.constantFrom(...sliced),
    (drawn, questions, sizes) => {
      const rules = drawn.map(ruleOf)
      const [one, other] = [evaluatorFor(rules, whole), evaluatorFor(rules, sizes)]
      for (const question of questions) {
        const expected = answers(one, rules, question)
        assert.deepEqual(answers(other, rules, question), expected)
        cases += expected.length
        for (const { permits, forbids, errors, fault } of expected) {
          assert.equal(fault, undefined)
          if (permits.length + forbids.length > 0) matched += 1
          if (errors.length > 0) failed += 1
        }
      }
    },
  )
  fc.assert(property, { numRuns: isLong ? 400 : 16 })
  // Enough rules must have matched and failed for the comparison to mean something.
  assert.ok(matched > cases / 4 && failed > cases / 8, `${matched} matched and ${failed} failed of ${cases}`)
})
