import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { rounds } from '../../../test/support/race.ts'
import { anyQuestion, anyRule, ruleOf } from '../../../test/support/random-rules.ts'
import { sampleRuleSet } from '../../../test/support/sample-rule.ts'
import type { AskQuestion } from '../cedar/question.ts'
import { sampleAccount } from '../cedar/samples.ts'
import { type Decision, decideAsk } from './decide.ts'

const decide = (rules: ReturnType<typeof ruleOf>[], question: AskQuestion): Decision =>
  decideAsk(sampleRuleSet(rules), question)

const looseness = ({ allowed, mode }: Decision) => (allowed ? (mode === 'require' ? 1 : 2) : 0)

test('the whole decision does not depend on the order in which rules are read', () => {
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
  fc.assert(property, { numRuns: rounds(40).length })
})

test('moving a rule changes texts, never the decision (P14)', () => {
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
  fc.assert(property, { numRuns: rounds(40).length })
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
  fc.assert(property, { numRuns: rounds(40).length })
})

test('one more permit never tightens, and never removes an audit', () => {
  const property = fc.property(
    fc.array(anyRule(['permit', 'forbid']), { maxLength: 8 }),
    anyRule(['permit']),
    anyQuestion,
    (drawn, permit, question) => {
      const rules = drawn.map(ruleOf)
      const [fewer, more] = [decide(rules, question), decide([...rules, ruleOf(permit, rules.length)], question)]
      assert.ok(looseness(more) >= looseness(fewer))
      assert.ok(more.audit_session || !fewer.audit_session)
    },
  )
  fc.assert(property, { numRuns: rounds(40).length })
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
  fc.assert(property, { numRuns: rounds(40).length })
})
