import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { rounds } from '../../../test/support/race.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { explain, type NearMissExplanation, selectShown, type Viewer } from '../../requests/near-miss-explanation.ts'
import type { AskQuestion } from '../cedar/question.ts'
import { sampleAccount, sampleQuestion } from '../cedar/samples.ts'
import { type Decision, decideAsk } from '../deciding/decide.ts'
import { findNearMisses } from './near-miss.ts'
import { createPauser } from './pauser.ts'
import type { NearMiss } from './stage.ts'

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
  ['principal has department && principal.department == "hidden"', 'principal has manager'],
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
const bounds = { shortest: 60, longest: 43_200 }

async function nearest(drawn: readonly Drawn[], question: AskQuestion, listener: Viewer) {
  const rules = drawn.map(ruleOf)
  const ruleSet = sampleRuleSet(rules)
  const decision = decideAsk(ruleSet, question)
  const yieldToEventLoop = createPauser(Number.POSITIVE_INFINITY)
  const found = await findNearMisses(
    { ruleSet, question, decision, bounds, accountCounts: true },
    !listener.mayReadRules,
    yieldToEventLoop,
  )
  const misses = selectShown(found, { question, bounds, viewer: listener })
  const names = { policies: new Map([['policy', 'hidden']]), people: new Map() }
  return {
    rules,
    ruleSet,
    decision,
    misses: misses.map((miss) => ({ miss, ...explain(miss, { question, bounds, viewer: listener }, names) })),
  }
}

/** The question with every explained change made; at a time or from an address, with the one that was tried. */
function doneAs(one: NearMissExplanation & { miss: NearMiss }, question: AskQuestion): AskQuestion {
  const { miss, also } = one
  const once = changedAs(one, miss.change?.question, question)
  return also === undefined ? once : changedAs(also, miss.also?.change?.question, once)
}

function changedAs(
  { kind, duration_seconds }: Pick<NearMissExplanation, 'kind' | 'duration_seconds'>,
  tried: AskQuestion | undefined,
  question: AskQuestion,
): AskQuestion {
  const { context } = question
  const doing = {
    ...(kind === 'duration_seconds' && { duration_seconds: duration_seconds ?? Number.NaN }),
    ...(kind === 'has_reason' && { has_reason: !context.has_reason }),
    ...(kind === 'break_glass' && { break_glass: !context.break_glass, has_reason: true }),
    ...(kind === 'via' && { via: context.via === 'token' ? ('api_key' as const) : ('token' as const) }),
    ...(['weekday', 'minute', 'now'].includes(kind) && { now: tried?.context.now ?? context.now }),
    ...(kind === 'source_ip' && { source_ip: tried?.context.source_ip ?? '' }),
  }
  return {
    ...question,
    ...(kind === 'action' && { action: tried?.action ?? '' }),
    context: { ...context, ...doing },
  }
}

/** When the question with all changes is asked. */
const lastTried = ({ change, also }: NearMiss) => (also?.change ?? change)?.question.context.now ?? new Date(0)

/** Whether changes of the request alone fix it. */
const isChanged = ({ change, also }: NearMiss) =>
  change !== undefined && (also === undefined || also.change !== undefined)

/** RequestBounds that the words name: the ends of their range, and of those that rules name the ones between. */
const durationsIn = ({ change, also }: NearMiss) =>
  [change, also?.change].flatMap((one) => {
    if (one?.circumstance !== 'duration_seconds') return []
    return (
      one.values?.flatMap(([from, to]) => [from, 1800, 1801, 7200, 7201, to].filter((n) => from <= n && n <= to)) ?? []
    )
  })

const withDuration = (question: AskQuestion, duration_seconds: number) => ({
  ...question,
  context: { ...question.context, duration_seconds },
})

const looseness = ({ allowed, mode }: Decision) => (allowed ? (mode === 'require' ? 1 : 2) : 0)

for (const [who, listener] of [
  ['a requester who may read rules', { mayReadRules: true, mayReadAccounts: true }],
  ['a requester who may not read rules', { mayReadRules: false, mayReadAccounts: false }],
] as const) {
  test(`a change that is explained to ${who} gives a better answer, by that rule`, async () => {
    let [improved, twice] = [0, 0]
    const property = fc.asyncProperty(anyCase, async ([drawn, question]) => {
      const { ruleSet, decision, misses } = await nearest(drawn, question, listener)
      for (const one of misses.filter(({ miss }) => isChanged(miss))) {
        const { rule, also } = one.miss
        const better = decideAsk(ruleSet, doneAs(one, question))
        assert.ok(looseness(better) > looseness(decision), one.words)
        assert.equal(better.mode, one.approval_mode)
        for (const duration_seconds of durationsIn(one.miss))
          assert.ok(
            looseness(decideAsk(ruleSet, withDuration(doneAs(one, question), duration_seconds))) > looseness(decision),
            one.words,
          )
        for (const { id, effect } of [rule, ...(also === undefined ? [] : [also.rule])])
          assert.equal(better.rule_ids.includes(id), effect === 'permit', one.words)
        improved += 1
        if (also !== undefined) twice += 1
        assert.ok(lastTried(one.miss) >= question.context.now, one.words)
      }
    })
    await fc.assert(property, { numRuns })
    assert.ok(improved > 0 && twice > 0, `${improved} changes were explained, ${twice} of them two at once`)
  })
}

/** How many of the rule's conditions and parts of its scope do not hold on the resource, each evaluated by itself; times are one. */
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
  const held = drawn.conditions.map((condition) => ({
    isTime: /context[.](weekday|minute|now)/.test(condition),
    fails: alone('principal, action, resource', `when { ${condition} }`),
  }))
  // Waiting is one thing, whatever it changes.
  const time = Math.max(0, ...held.filter(({ isTime }) => isTime).map(({ fails }) => fails))
  const others = held.filter(({ isTime }) => !isTime).map(({ fails }) => fails)
  return [...sides.map((side) => alone(side)), time, ...others].reduce((sum, one) => sum + one, 0)
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

test('a permit is shown only if as many things of it do not hold as are named, a forbid only if all of it holds', async () => {
  const property = fc.asyncProperty(anyCase, async ([drawn, question]) => {
    const { rules, misses } = await nearest(drawn, question, { mayReadRules: true, mayReadAccounts: true })
    for (const { miss, kind, words } of misses) {
      // An emergency is another question, with other rules; so is another action.
      if (kind === 'break_glass' || kind === 'action') continue
      const flaws = [miss, ...(miss.also === undefined ? [] : [miss.also])]
      for (const { rule } of flaws) {
        const named = flaws.filter((flaw) => flaw.rule === rule).length
        const missing = failing(drawn[rules.indexOf(rule)] as Drawn, question, miss)
        assert.equal(missing, rule.effect === 'permit' ? named : 0, words)
      }
    }
  })
  await fc.assert(property, { numRuns })
})

test('a requester who may not read rules sees no rule, name, notice, tag, group, network or past time', async () => {
  const own = [
    'action',
    'duration_seconds',
    'has_reason',
    'via',
    'minute',
    'weekday',
    'now',
    'source_ip',
    'break_glass',
  ]
  const property = fc.asyncProperty(anyCase, async ([drawn, question]) => {
    const { misses } = await nearest(drawn, question, { mayReadRules: false, mayReadAccounts: false })
    for (const { miss, ...one } of misses) {
      assert.doesNotMatch(JSON.stringify(one), /hidden|10\.99|when \{/)
      assert.ok(own.includes(one.kind))
      assert.ok(isChanged(miss))
      assert.ok(one.also === undefined || own.includes(one.also.kind))
    }
    const kinds = misses.map(({ kind, also }) => `${kind} ${also?.kind}`)
    assert.equal(new Set(kinds).size, kinds.length, 'one of each kind')
  })
  await fc.assert(property, { numRuns })
})
