import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { rounds } from '../../../test/support/race.ts'
import { hostileTexts } from '../../../test/support/random-conditions.ts'
import { anyStatement } from '../../../test/support/random-statements.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { Problem } from '../../kernel/errors.ts'
import { decideApprove, decideAsk } from '../deciding/decide.ts'
import type { RuleInput } from '../rule.ts'
import { changeStatement } from './changed-statement.ts'
import { decisionEngine, textEngine } from './engine.ts'
import type { ApproveQuestion, AskQuestion } from './question.ts'
import { sampleAccount, sampleApproval, sampleQuestion } from './samples.ts'
import { scopeFromEngine } from './scope.ts'
import { readStatement, type StatementFields, statementFromInput } from './statement.ts'

/**
 * Converts random rules from fields to text and back, and from text to fields and back. The fields and the text of a
 * rule are made from one meaning in two ways, one of which does not use the engine.
 */
const numRuns = rounds(20).length

/** What the engine reads in a text, which must be one statement. One action and a list of one action mean the same. */
function meaning(policyText: string): unknown {
  const answer = textEngine.use((cedar) => cedar.policyToJson(policyText))
  assert.ok(answer.type === 'success', `not one statement: ${policyText}`)
  const { principal, action, resource, ...rest } = answer.json
  return { ...rest, annotations: null, scope: scopeFromEngine({ principal, action, resource }) }
}

const withoutTexts = ({ policy_text, conditions, ...fields }: StatementFields) => fields

const questions: (AskQuestion | ApproveQuestion)[] = [
  sampleQuestion,
  { ...sampleQuestion, action: 'Admin', context: { ...sampleQuestion.context, break_glass: true, has_reason: false } },
  { ...sampleQuestion, resources: [{ ...sampleAccount, type: 'cloud_db_instance', id: 'db', tags: { Ada: '' } }] },
  sampleApproval,
]

/** The decisions by this rule alone, with their errors; a forbid is combined with permits of everything. */
function answers({ policy_text, ...columns }: StatementFields) {
  const { effect, audit_session, approval_mode = null, notice = null } = columns
  const rule = sampleRule('it', policy_text, { effect, audit_session, approval_mode, notice })
  const others = ['permit(principal,action,resource);', 'permit(principal,action==Action::"approve",resource);']
  const rules = effect === 'permit' ? [rule] : [rule, ...others.map((text, n) => sampleRule(`permit-${n}`, text))]
  const ruleSet = sampleRuleSet(rules)
  return questions.map((question) => {
    const { rule_set_version, ...decision } =
      'request' in question ? decideApprove(ruleSet, question) : decideAsk(ruleSet, question)
    return decision
  })
}

test('fields and text with the same meaning give the same rule and the same decisions', () => {
  const faults = textEngine.faults() + decisionEngine.faults()
  const property = fc.property(anyStatement, ({ meant, input, text }) => {
    const byFields = statementFromInput(input)
    const byText = statementFromInput({ policy_text: text })
    assert.deepEqual(meaning(byFields.fields.policy_text), meaning(text))
    assert.deepEqual(withoutTexts(byFields.fields), withoutTexts(byText.fields))
    assert.deepEqual([byFields.sets, byFields.named_actions], [byText.sets, byText.named_actions])
    // The fields are returned as they were sent.
    for (const [name, value] of Object.entries(input))
      if (value !== '')
        assert.deepEqual(byFields.fields[name as 'effect'], name === 'conditions' ? meant.conditions.trim() : value)
    assert.deepEqual(withoutTexts(readStatement(byFields.fields.policy_text)), withoutTexts(byFields.fields))

    const { policy_text, ...fields } = byText.fields
    const again = statementFromInput(fields)
    assert.deepEqual(meaning(again.fields.policy_text), meaning(text))
    assert.deepEqual(again.fields, { ...byText.fields, policy_text: again.fields.policy_text })
    assert.deepEqual(answers(byFields.fields), answers(byText.fields))
  })
  fc.assert(property, { numRuns })
  assert.equal(textEngine.faults() + decisionEngine.faults(), faults, 'an instance was lost')
})

test('a change to the same values changes nothing, and a change of annotations keeps the statement as written', () => {
  const property = fc.property(anyStatement, anyStatement, ({ input, text }, other) => {
    for (const { fields } of [statementFromInput(input), statementFromInput({ policy_text: text })]) {
      const { policy_text, ...same } = fields
      for (const change of [{}, same]) {
        const after = changeStatement(fields, change).fields
        assert.deepEqual({ ...after, policy_text }, fields)
        assert.deepEqual(meaning(after.policy_text), meaning(policy_text))
      }
      const { notice = '', audit_session = false } = other.meant.words
      const after = changeStatement(fields, { notice, audit_session }).fields
      assert.deepEqual([after.notice ?? '', after.audit_session], [notice, audit_session])
      assert.deepEqual(withoutTexts(readStatement(after.policy_text)), withoutTexts(after))
      assert.ok(after.policy_text.endsWith(policy_text.slice(policy_text.lastIndexOf(`${fields.effect}(`))))
      assert.equal(after.conditions, fields.conditions)
    }
  })
  fc.assert(property, { numRuns: Math.ceil(numRuns / 2) })
})

/** The place of a cut in a text and what is inserted there: syntax that would end one construct and begin another. */
const anyWound = fc.record({
  at: fc.nat(99),
  drop: fc.constantFrom(0, 0, 0, 1, 5),
  put: fc
    .array(
      fc.constantFrom(
        ...hostileTexts,
        'permit(principal, action, resource);',
        '; forbid(principal, action, resource)',
        'when { true }',
        'unless { false }',
        '@approval_mode("auto")',
        ' || true',
        'unknown\u0085("x") ||',
        ...['}', '{', '(', ')', ';', ',', '.', '!', '//', '"', 'principal', 'when', 'User::"x"'],
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((parts) => parts.join('')),
})
type Wound = { at: number; drop: number; put: string }
function wounded(text: string, { at, drop, put }: Wound): string {
  const place = Math.floor((text.length * at) / 99)
  return (text.slice(0, place) + put + text.slice(place + drop)).toWellFormed()
}

/** A field's value as it is returned: a reference may spell its id in any form of JSON, and is returned in one form. */
function usual(tried: RuleInput, field: string, value: unknown): unknown {
  if (field === 'conditions') return String(value).trim()
  const side = /^(principal|resource)_entity_id$/.exec(field)?.[1] as 'principal' | 'resource' | undefined
  if (side === undefined || tried[`${side}_scope_type`] !== 'is_in') return value
  const [type, id] = String(value).split(/::(.*)/s)
  return `${type}::${JSON.stringify(JSON.parse(String(id)))}`
}

/** The rule; undefined if it was refused with the right error. */
function attempt(input: RuleInput): StatementFields | undefined {
  try {
    return statementFromInput(input).fields
  } catch (error) {
    assert.ok(error instanceof Problem && /^invalid_(policy|input)$/.test(error.code), String(error))
    return undefined
  }
}

test('an accepted rule is one statement with the meaning of its fields, whatever a field contains', () => {
  const faults = textEngine.faults() + decisionEngine.faults()
  let accepted = 0
  const fieldNames = fc.constantFrom<(keyof RuleInput)[]>(
    ...([
      'conditions',
      'conditions',
      'notice',
      'principal_entity_id',
      'resource_entity_id',
      'principal_entity_type',
    ] as const),
  )
  const property = fc.property(anyStatement, anyWound, fieldNames, ({ input }, wound, name) => {
    const given = name === 'conditions' ? 'when { true }' : ''
    const tried: RuleInput = { ...input, [name]: wounded(String(input[name] ?? given), wound) }
    const fields = attempt(tried)
    if (fields === undefined) return
    accepted += 1
    for (const [field, value] of Object.entries(tried))
      if (value !== '') assert.deepEqual(fields[field as 'effect'], usual(tried, field, value))
    assert.deepEqual(withoutTexts(readStatement(fields.policy_text)), withoutTexts(fields))
  })
  fc.assert(property, { numRuns: numRuns * 3 })
  assert.ok(accepted > numRuns / 4, `only ${accepted} were accepted: too few to test anything`)
  assert.equal(textEngine.faults() + decisionEngine.faults(), faults, 'an instance was lost')
})

test('an accepted text is one statement whose fields have the same meaning, whatever it contains', () => {
  const faults = textEngine.faults() + decisionEngine.faults()
  const property = fc.property(anyStatement, anyWound, ({ text }, wound) => {
    const fields = attempt({ policy_text: wounded(text, wound) })
    if (fields === undefined) return
    const { policy_text, ...others } = fields
    assert.deepEqual(meaning(statementFromInput(others).fields.policy_text), meaning(policy_text))
  })
  fc.assert(property, { numRuns: numRuns * 3 })
  assert.equal(textEngine.faults() + decisionEngine.faults(), faults, 'an instance was lost')
})
