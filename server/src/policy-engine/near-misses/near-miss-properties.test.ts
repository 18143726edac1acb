import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { rounds } from '../../../test/support/race.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { explain, type NearMissExplanation, selectShown, type Viewer } from '../../requests/near-miss-explanation.ts'
import type { AskQuestion } from '../cedar/question.ts'
import { sampleAccount, sampleQuestion } from '../cedar/samples.ts'
import { type Decision, decideAsk } from '../deciding/decide.ts'
import { findNearMisses, type NearMiss } from './near-miss.ts'
import { createPauser } from './pauser.ts'

/** For random rules and questions: explanations are true, and reveal nothing that the requester may not know. */
const numRuns = rounds(30).length

/** Each tests something else, so each is one part. Without `policies:read`, `hidden` and 10.99 must never be shown. */
const conditions = [
  ['context.duration_seconds <= 1800', 'context.duration_seconds > 7200', 'context.duration_seconds * 2 < 9000'],
  ['context.has_reason', '!context.has_reason'],
  ['context.via == "token"', 'context.via != "token"'],
  ['[2, 3].contains(context.weekday)', 'context.weekday < 6'],
  ['context.minute >= 540 && context.minute < 1020', 'context.minute < 60 || context.minute >= 1200'],
  ['context.now < datetime("2024-01-03")', 'context.now > datetime("2024-01-05T00:00:00Z")'],
  ['context.source_ip.isInRange(ip("10.99.0.0/16"))', '!context.source_ip.isInRange(ip("192.0.2.0/24"))'],
  ['resource.hasTag("hidden") && resource.getTag("hidden") == "hidden"', 'resource.getTag("env") != "hidden"'],
  ['principal in Group::"hidden"', 'principal.name == "hidden"', 'principal.scopes.contains("requests:create")'],
  ['principal.email_verified', '!principal.email_verified'],
]
const scopes = {
  principal: ['principal', 'principal in Group::"engineers"', 'principal in Group::"hidden"'],
  action: ['action', 'action == Action::"ReadOnlyAccess"', 'action == Action::"hidden"'],
  resource: ['resource', 'resource is cloud_account', 'resource == cloud_account::"210987654321"'],
}
const modes = { permit: ['require', 'require', 'auto', 'break_glass'], forbid: ['', '', 'auto', 'break_glass'] }

const mostly = (options: readonly string[]) =>
  fc.oneof(
    { arbitrary: fc.constant(options[0] as string), weight: 3 },
    { arbitrary: fc.constantFrom(...options), weight: 1 },
  )

const anyRule = fc.record({
  effect: fc.constantFrom('permit', 'permit', 'permit', 'forbid'),
  mode: fc.nat(3),
  scope: fc.tuple(mostly(scopes.principal), mostly(scopes.action), mostly(scopes.resource)),
  conditions: fc
    .subarray(conditions, { maxLength: 3 })
    .chain((some) => fc.tuple(...some.map((one) => fc.constantFrom(...one)))),
  unless: fc.boolean(),
  saved_by: fc.constantFrom('editor', 'ada'),
})
type Drawn = typeof anyRule extends fc.Arbitrary<infer Value> ? Value : never

function ruleOf(drawn: Drawn, index: number) {
  const effect = drawn.effect as 'permit' | 'forbid'
  const mode = modes[effect][drawn.mode]
  const parts = drawn.conditions.map((condition) => `(${condition})`)
  const negated = parts.map((part) => `!${part}`).join(' || ')
  const clause = parts.length === 0 ? '' : drawn.unless ? `unless { ${negated} }` : `when { ${parts.join(' && ')} }`
  const annotations = `@notice("hidden") ${mode ? `@approval_mode("${mode}") ` : ''}`
  const text = `${annotations}${effect} (${drawn.scope.join(', ')}) ${clause};`
  return sampleRule(`hidden-${index}`, text, { saved_by: drawn.saved_by })
}

const anyQuestion: fc.Arbitrary<AskQuestion> = fc
  .record({
    duration_seconds: fc.constantFrom(60, 3600, 28_800),
    has_reason: fc.boolean(),
    glass: fc.nat(5),
    hours: fc.integer({ min: 0, max: 160 }),
    via: fc.constantFrom('token' as const, 'api_key' as const),
    wide: fc.nat(3),
    email_verified: fc.boolean(),
  })
  .map(({ duration_seconds, has_reason, glass, hours, via, wide, email_verified }) => ({
    ...sampleQuestion,
    principal: { ...sampleQuestion.principal, email_verified },
    resources: wide === 0 ? [sampleAccount, { ...sampleAccount, id: '210987654321', tags: {} }] : [sampleAccount],
    context: {
      ...sampleQuestion.context,
      ...{ duration_seconds, has_reason: has_reason || glass === 0, break_glass: glass === 0, via },
      now: new Date(Date.UTC(2024, 0, 1, hours)),
    },
  }))

const anyCase = fc.tuple(fc.array(anyRule, { minLength: 1, maxLength: 6 }), anyQuestion)
const durations = { shortest: 60, longest: 43_200 }

async function nearest(drawn: readonly Drawn[], question: AskQuestion, listener: Viewer) {
  const rules = drawn.map(ruleOf)
  const ruleSet = sampleRuleSet(rules)
  const decision = decideAsk(ruleSet, question)
  const yieldToEventLoop = createPauser(Number.POSITIVE_INFINITY)
  const found = await findNearMisses(
    { ruleSet, question, decision, durations },
    !listener.mayReadRules,
    yieldToEventLoop,
  )
  const misses = selectShown(found, { question, durations, viewer: listener })
  const names = new Map([['policy', 'hidden']])
  return {
    rules,
    ruleSet,
    decision,
    misses: misses.map((miss) => ({ miss, ...explain(miss, { question, durations, viewer: listener }, names) })),
  }
}

/** The question with the explained change made; for a schedule or an address, with the nearest of several changes. */
function doneAs(
  { kind, duration_seconds, miss }: NearMissExplanation & { miss: NearMiss },
  question: AskQuestion,
): AskQuestion {
  const { context } = question
  const doing = {
    ...(kind === 'duration_seconds' && { duration_seconds: duration_seconds ?? Number.NaN }),
    ...(kind === 'has_reason' && { has_reason: !context.has_reason }),
    ...(kind === 'break_glass' && { break_glass: !context.break_glass, has_reason: true }),
    ...(kind === 'via' && { via: context.via === 'token' ? ('api_key' as const) : ('token' as const) }),
    ...(['weekday', 'minute', 'now'].includes(kind) && { now: miss.change?.question.context.now ?? context.now }),
    ...(kind === 'source_ip' && { source_ip: miss.change?.question.context.source_ip ?? '' }),
  }
  return { ...question, context: { ...context, ...doing } }
}

const looseness = ({ allowed, mode }: Decision) => (allowed ? (mode === 'require' ? 1 : 2) : 0)

for (const [who, listener] of [
  ['a requester who may read rules', { mayReadRules: true, mayReadAccounts: true }],
  ['a requester who may not read rules', { mayReadRules: false, mayReadAccounts: false }],
] as const) {
  test(`a change that is explained to ${who} gives a better answer, by that rule`, async () => {
    let improved = 0
    const property = fc.asyncProperty(anyCase, async ([drawn, question]) => {
      const { ruleSet, decision, misses } = await nearest(drawn, question, listener)
      for (const one of misses.filter(({ miss }) => miss.change !== undefined)) {
        const { rule } = one.miss
        const better = decideAsk(ruleSet, doneAs(one, question))
        assert.ok(looseness(better) > looseness(decision), one.words)
        assert.equal(better.mode, one.approval_mode)
        assert.equal(better.rule_ids.includes(rule.id), rule.effect === 'permit', one.words)
        improved += 1
      }
    })
    await fc.assert(property, { numRuns })
    assert.ok(improved > 0, 'no change was explained')
  })
}

/** How many of the rule's conditions and parts of its scope do not hold on the resource, each evaluated by itself. */
function failing(drawn: Drawn, question: AskQuestion, miss: NearMiss): number {
  const alone = (scope: string, clause = '') => {
    const rule = sampleRule('alone', `permit (${scope}) ${clause};`)
    return Number(
      !decideAsk(sampleRuleSet([rule]), {
        ...question,
        resources: [miss.resource],
        context: { ...question.context, break_glass: false },
      }).allowed,
    )
  }
  const [principal, action, resource] = drawn.scope
  const sides = [`${principal}, action, resource`, `principal, ${action}, resource`, `principal, action, ${resource}`]
  const held = drawn.conditions.map((condition) => alone('principal, action, resource', `when { ${condition} }`))
  return [...sides.map((side) => alone(side)), ...held].reduce((sum, one) => sum + one, 0)
}

test('if a person decides, the only permits shown are auto permits saved by other users', async () => {
  const property = fc.asyncProperty(anyCase, async ([drawn, question]) => {
    const { decision, misses } = await nearest(drawn, question, { mayReadRules: true, mayReadAccounts: true })
    const permits = misses.map(({ miss }) => miss.rule).filter(({ effect }) => effect === 'permit')
    if (!decision.allowed) return
    for (const { approval_mode, saved_by } of permits) assert.deepEqual([approval_mode, saved_by], ['auto', 'editor'])
  })
  await fc.assert(property, { numRuns })
})

test('a permit is shown only if one part of it does not hold, a forbid only if all of it holds', async () => {
  const property = fc.asyncProperty(anyCase, async ([drawn, question]) => {
    const { rules, misses } = await nearest(drawn, question, { mayReadRules: true, mayReadAccounts: true })
    for (const { miss, kind, words } of misses) {
      // An emergency is another question, with other rules.
      if (kind === 'break_glass') continue
      const rule = drawn[rules.indexOf(miss.rule)] as Drawn
      assert.equal(failing(rule, question, miss), miss.rule.effect === 'permit' ? 1 : 0, words)
    }
  })
  await fc.assert(property, { numRuns })
})

test('a requester who may not read rules sees no rule, name, notice, tag, group, network or past time', async () => {
  const own = ['duration_seconds', 'has_reason', 'via', 'minute', 'weekday', 'now', 'source_ip', 'break_glass']
  const property = fc.asyncProperty(anyCase, async ([drawn, question]) => {
    const { misses } = await nearest(drawn, question, { mayReadRules: false, mayReadAccounts: false })
    for (const { miss, ...one } of misses) {
      assert.doesNotMatch(JSON.stringify(one), /hidden|10\.99|when \{/)
      assert.ok(own.includes(one.kind))
      const { now } = miss.change?.question.context ?? question.context
      assert.ok(one.kind !== 'now' || now > question.context.now)
    }
    const kinds = misses.map(({ kind }) => kind)
    assert.equal(new Set(kinds).size, kinds.length, 'one of each kind')
  })
  await fc.assert(property, { numRuns })
})
