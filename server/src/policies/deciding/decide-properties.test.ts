import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AskQuestion } from '../cedar/question.ts'
import { sampleAccount, sampleAsk } from '../cedar/samples.ts'
import { type Decision, decideAsk } from './decide.ts'
import { sampleRule, sampleRuleSet } from './sample-rule.ts'

const principals = [
  'principal',
  'principal == User::"ada"',
  'principal in Group::"engineers"',
  'principal in Role::"admin"',
]
const actions = ['action', 'action == Action::"ReadOnlyAccess"', 'action in [Action::"Admin", Action::"Power"]']
const resources = ['resource', 'resource is cloud_account', 'resource == cloud_account::"2"']
const conditions = [
  '',
  'when { context.break_glass }',
  'unless { resource.hasTag("env") }',
  'when { context.duration_seconds * 9223372036854775807 > 0 }',
]
const modes = { permit: ['require', 'auto', 'break_glass'], forbid: ['', 'auto', 'break_glass'] }

const anyRule = (effects: ('permit' | 'forbid')[]) =>
  fc
    .record({
      effect: fc.constantFrom(...effects),
      mode: fc.nat(2),
      notice: fc.constantFrom('', 'one', 'two'),
      audit: fc.boolean(),
      scope: fc.tuple(fc.constantFrom(...principals), fc.constantFrom(...actions), fc.constantFrom(...resources)),
      condition: fc.constantFrom(...conditions),
      place: fc.record({ priority: fc.nat(2), ordinal: fc.nat(2), saved_by: fc.constantFrom('ada', 'editor') }),
    })
    .map(({ effect, mode, notice, audit, scope, condition, place }) => {
      const named = modes[effect][mode]
      const annotations = `${named ? `@approval_mode("${named}") ` : ''}@notice("${notice}") @audit_session("${audit}")`
      return { text: `${annotations} ${effect}(${scope.join(', ')}) ${condition};`, place }
    })

type Drawn = { text: string; place: { priority: number; ordinal: number; saved_by: string } }
const ruleOf = ({ text, place }: Drawn, index: number) => sampleRule(`rule-${index}`, text, place)

const anyQuestion: fc.Arbitrary<AskQuestion> = fc
  .record({ breakGlass: fc.boolean(), action: fc.constantFrom('ReadOnlyAccess', 'Admin', 'new'), wide: fc.boolean() })
  .map(({ breakGlass, action, wide }) => ({
    ...sampleAsk,
    action,
    resources: wide ? [sampleAccount, { ...sampleAccount, id: '2', tags: {} }] : [sampleAccount],
    context: { ...sampleAsk.context, break_glass: breakGlass },
  }))

const decide = (rules: ReturnType<typeof ruleOf>[], question: AskQuestion): Decision =>
  decideAsk(sampleRuleSet(rules), question)

const looseness = ({ allowed, mode }: Decision) => (allowed ? (mode === 'require' ? 1 : 2) : 0)

test('the whole decision is the same whatever the order of the rules', () => {
  const property = fc.property(
    fc.array(anyRule(['permit', 'forbid']), { maxLength: 8 }),
    anyQuestion,
    (drawn, question) => {
      const rules = drawn.map(ruleOf)
      const { rule_set_version: _, ...one } = decide(rules, question)
      const { rule_set_version: __, ...other } = decide(rules.toReversed(), question)
      assert.deepEqual(one, other)
    },
  )
  fc.assert(property, { numRuns: 150 })
})

test('moving a rule changes words, never the decision (P14)', () => {
  const property = fc.property(
    fc.array(anyRule(['permit', 'forbid']), { maxLength: 8 }),
    fc.array(fc.nat(9), { minLength: 8, maxLength: 8 }),
    anyQuestion,
    (drawn, places, question) => {
      const rules = drawn.map(ruleOf)
      const moved = rules.map((rule, index) => ({ ...rule, priority: places[index] ?? 0, ordinal: places[index] ?? 0 }))
      const [one, other] = [decide(rules, question), decide(moved, question)]
      const matter = ({ allowed, mode, audit_session }: Decision) => ({ allowed, mode, audit_session })
      assert.deepEqual(matter(one), matter(other))
      assert.deepEqual([...one.rule_ids].sort(), [...other.rule_ids].sort())
    },
  )
  fc.assert(property, { numRuns: 100 })
})

test('one more forbid never loosens', () => {
  const property = fc.property(
    fc.array(anyRule(['permit', 'forbid']), { maxLength: 8 }),
    anyRule(['forbid']),
    anyQuestion,
    (drawn, forbid, question) => {
      const rules = drawn.map(ruleOf)
      const more = [...rules, ruleOf(forbid, rules.length)]
      assert.ok(looseness(decide(more, question)) <= looseness(decide(rules, question)))
    },
  )
  fc.assert(property, { numRuns: 150 })
})

test('one more resource never loosens', () => {
  const property = fc.property(
    fc.array(anyRule(['permit', 'forbid']), { maxLength: 8 }),
    anyQuestion,
    (drawn, question) => {
      const rules = drawn.map(ruleOf)
      const more = [...question.resources, { ...sampleAccount, id: '3', tags: { env: 'prod' } }]
      assert.ok(looseness(decide(rules, { ...question, resources: more })) <= looseness(decide(rules, question)))
    },
  )
  fc.assert(property, { numRuns: 100 })
})
