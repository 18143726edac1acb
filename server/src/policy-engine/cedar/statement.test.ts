import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { anyCharacter, fc } from '../../../test/support/chance.ts'
import { rounds } from '../../../test/support/race.ts'
import { Problem } from '../../kernel/errors.ts'
import { startingRule } from '../../policies/starting-rule.ts'
import type { RuleInput } from '../rule.ts'
import { textEngine } from './engine.ts'
import { readStatement, statementFromInput } from './statement.ts'

const smuggled = '"); permit(principal,action,resource); //'

/** The problem that an input is refused with. */
function refusal(input: RuleInput): Problem {
  try {
    statementFromInput(input)
  } catch (error) {
    assert.ok(error instanceof Problem, String(error))
    return error
  }
  assert.fail(`accepted: ${JSON.stringify(input).slice(0, 200)}`)
}

describe('structured fields', () => {
  test('become one statement, in which an absent scope covers everything', () => {
    const { fields } = statementFromInput({ effect: 'permit' })
    assert.equal(fields.policy_text, 'permit(principal, action, resource);')
    assert.equal(fields.principal_scope_type, 'any')
    assert.equal(fields.approval_mode, 'require')
  })

  test('need an effect if there is no policy_text', () => {
    assert.equal(refusal({}).code, 'invalid_input')
  })

  test('carry any id, notice and action as a value, never as syntax (J1)', () => {
    const awkward = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 40 }).filter((text) => text.isWellFormed()),
      fc.constantFrom(smuggled, '\u0000', '\n', '\\', '"', '\u202e', "'", '\\u{0}', '*'),
    )
    const property = fc.property(
      awkward,
      awkward,
      awkward,
      fc.constantFrom('eq', 'is_in'),
      (id, notice, action, form) => {
        fc.pre(!action.startsWith('__'))
        const input: RuleInput = {
          effect: 'forbid',
          principal_scope_type: form === 'eq' ? 'eq' : 'is_in',
          principal_entity_type: 'User',
          principal_entity_id: form === 'eq' ? id : `Group::${JSON.stringify(id)}`,
          action_scope_type: 'in',
          action_ids: [action],
          conditions: 'when { context.minute > 1 } unless { principal.name like "a*" }',
          notice: notice,
        }
        const { fields } = statementFromInput(input)
        assert.equal(textEngine.use((cedar) => cedar.policyToJson(fields.policy_text)).type, 'success')
        const { policy_text: _, conditions: __, ...read } = readStatement(fields.policy_text)
        const { policy_text: ___, conditions: ____, ...stored } = fields
        assert.deepEqual(read, stored)
        assert.equal(read.effect, 'forbid')
        assert.equal(read.notice ?? '', notice)
        assert.equal(read.principal_entity_id, input.principal_entity_id)
      },
    )
    fc.assert(property, { numRuns: rounds(50).length })
  })

  test('with half a surrogate pair are refused', () => {
    const eq = { action_scope_type: 'eq' } as const
    for (const half of [{ notice: '\ud800' }, { ...eq, action_ids: ['\udc00'] }])
      assert.equal(refusal({ effect: 'permit', ...(half as RuleInput) }).code, 'invalid_policy')
  })

  test('keep the conditions as they were sent, and write them into the text', () => {
    const conditions = 'when { context.minute>=540 }\nunless { context.weekday > 5 }'
    const { fields } = statementFromInput({ effect: 'permit', conditions })
    assert.equal(fields.conditions, conditions)
    const again = statementFromInput({ policy_text: fields.policy_text }).fields
    assert.equal(again.conditions, 'when { context.minute >= 540 } unless { context.weekday > 5 }')
  })

  test('keep integers of 64 bits exactly, and refuse larger ones (J4)', () => {
    for (const number of ['9223372036854775807', '-9223372036854775808', '9007199254740993']) {
      const { fields } = statementFromInput({ effect: 'permit', conditions: `when { context.minute < ${number} }` })
      assert.ok(fields.policy_text.includes(number), fields.policy_text)
      const read = statementFromInput({ policy_text: fields.policy_text }).fields
      assert.ok(read.conditions?.includes(number), read.conditions)
    }
    const past = refusal({ effect: 'permit', conditions: 'when { context.minute < 9223372036854775808 }' })
    assert.equal(past.code, 'invalid_policy')
  })

  const hostileConditions: [name: string, conditions: string][] = [
    ['close the statement and begin another', 'when{true}} permit(principal, action, resource)'],
    ['add a statement', 'when { true }; permit(principal, action, resource)'],
    ['end the statement', 'when { true };'],
    ['are unbalanced', 'when { (true }'],
    ['are not a clause', 'resource.name == "x"'],
    ['continue the scope', ', principal)'],
    ['have 1 MB', `when { "${'a'.repeat(1_000_000)}" == "a" }`],
    ['nest 10,000 brackets', `when { ${'('.repeat(4_900)}true${')'.repeat(4_900)} }`],
    ['have a string without an end', 'when { "a }'],
    ['contain a comment', 'when { true } // '],
  ]
  for (const [name, conditions] of hostileConditions)
    test(`conditions that ${name} are refused at once, and the engine keeps its instance (J3)`, () => {
      const faults = textEngine.faults()
      const begun = performance.now()
      assert.equal(refusal({ effect: 'permit', conditions }).code, 'invalid_policy')
      assert.ok(performance.now() - begun < 1000)
      assert.equal(textEngine.faults(), faults)
    })

  test('a fault in the conditions is reported with line, column, text and help, as in the sent text', () => {
    const conditions = 'when {\n  "é" == principal.name && context.foo == 1\n}'
    const { details } = refusal({ effect: 'permit', conditions })
    assert.deepEqual(details, {
      field: 'conditions',
      line: 2,
      column: 28,
      text: 'context.foo',
      help: 'did you mean `now`?',
    })
  })
})

describe('policy_text', () => {
  test('fills the structured fields and is kept as it was sent', () => {
    const text = `@notice("n") @audit_session("true") @approval_mode("auto") @id("mine")
permit(principal in Group::"g", action == Action::"R", resource is cloud_account in cloud_organizational_unit::"o")
when { context.has_reason };`
    assert.deepEqual(statementFromInput({ policy_text: text }).fields, {
      effect: 'permit',
      principal_scope_type: 'in',
      principal_entity_type: 'Group',
      principal_entity_id: 'g',
      action_scope_type: 'eq',
      action_ids: ['R'],
      resource_scope_type: 'is_in',
      resource_entity_type: 'cloud_account',
      resource_entity_id: 'cloud_organizational_unit::"o"',
      conditions: 'when { context.has_reason }',
      policy_text: text,
      notice: 'n',
      audit_session: true,
      approval_mode: 'auto',
    })
  })

  test('wins over the fields, except for annotations that it lacks', () => {
    const fields: RuleInput = {
      effect: 'forbid',
      principal_scope_type: 'eq',
      conditions: 'nonsense',
      notice: 'field',
      audit_session: true,
      approval_mode: 'auto',
    }
    const plain = statementFromInput({ ...fields, policy_text: 'permit(principal, action, resource);' }).fields
    assert.deepEqual(
      [plain.effect, plain.notice, plain.audit_session, plain.approval_mode],
      ['permit', 'field', true, 'auto'],
    )
    const text =
      '@notice("text") @audit_session("false") @approval_mode("break_glass") permit(principal, action, resource);'
    const annotated = statementFromInput({ ...fields, policy_text: text }).fields
    assert.deepEqual(
      [annotated.notice, annotated.audit_session, annotated.approval_mode],
      ['text', false, 'break_glass'],
    )
  })

  const permit = 'permit(principal, action, resource)'
  const hostileTexts: [name: string, text: string][] = [
    ['is empty', ''],
    ['has two statements', `${permit}; ${permit};`],
    ['is a template', 'permit(principal == ?principal, action, resource);'],
    ['contains a comment', `${permit}; // hello`],
    ['has an unknown annotation', `@foo("x") ${permit};`],
    ['repeats an annotation', `@notice("a") @notice("b") ${permit};`],
    ['repeats an id', `@id("a") @id("b") ${permit};`],
    ['has an audit_session that is neither true nor false', `@audit_session("yes") ${permit};`],
    ['has an unknown approval mode', `@approval_mode("never") ${permit};`],
    ['has an annotation named like a property of the prototype', `@constructor("x") ${permit};`],
    ['reads an attribute that does not exist', `${permit} when { resource.owner == principal };`],
    ['reads a tag without a test that it exists', `${permit} when { resource.getTag("env") == "prod" };`],
    ['compares across types', `${permit} when { context.minute == "1" };`],
    ['has an empty list of actions', 'permit(principal, action in [], resource);'],
    [
      'names a longer action than a field allows',
      `permit(principal, action == Action::"${'a'.repeat(257)}", resource);`,
    ],
    ['names a longer id than a field allows', `permit(principal == User::"${'a'.repeat(2049)}", action, resource);`],
    [
      'names more actions than a field allows',
      `permit(principal, action in [${'Action::"a",'.repeat(501)}], resource);`,
    ],
    ['names an unknown type', 'permit(principal in Team::"x", action, resource);'],
    ['names approve only in its conditions', `${permit} when { action == Action::"approve" };`],
    ['names a reserved action', 'permit(principal, action == Action::"__unnamed", resource);'],
    ['is a forbid with require', '@approval_mode("require") forbid(principal, action, resource);'],
    [
      'gives approve an approval mode',
      '@approval_mode("auto") permit(principal, action == Action::"approve", resource);',
    ],
  ]
  for (const [name, policyText] of hostileTexts)
    test(`a text that ${name} is invalid_policy (J2)`, () => {
      const { code, details } = refusal({ policy_text: policyText })
      assert.equal(code, 'invalid_policy')
      assert.ok(Number(details?.line) >= 1 && Number(details?.column) >= 1)
    })

  test('is refused with a short message, however long it is', () => {
    const { message } = refusal({ policy_text: `permit(principal is ${'a'.repeat(9_000)}, action, resource);` })
    assert.ok(message.length < 500, message)
  })

  test('is validated with the actions that it names, in its scope and in its conditions', () => {
    const text = `permit(principal, action, resource) when { action in [Action::"a", Action::"b"] };`
    const statement = statementFromInput({ policy_text: text })
    assert.deepEqual(statement.named_actions, ['a', 'b'])
    assert.deepEqual(statement.warnings, [])
  })

  const hundred = Array.from({ length: 100 }, (_, n) => `Action::"${n}"`)

  test('is type-checked once for equivalent actions, and once for each other action', () => {
    const text = (conditions: string) => `permit(principal, action in [${hundred}], resource) when { ${conditions} };`
    assert.equal(refusal({ policy_text: text('context.foo == 1') }).message.includes('attribute `foo`'), true)
    assert.deepEqual(statementFromInput({ policy_text: text('action == Action::"99"') }).warnings, [])
    assert.deepEqual(statementFromInput({ policy_text: text(`action in [${hundred}]`) }).warnings, [])
    assert.match(statementFromInput({ policy_text: text('action == Action::"other"') }).warnings.join(), /never match/)
    assert.match(
      statementFromInput({ policy_text: text('action in [Action::"other"]') }).warnings.join(),
      /never match/,
    )
    const guarded = 'action == Action::"7" && context.foo == 1'
    assert.equal(refusal({ policy_text: text(guarded) }).message.includes('attribute `foo`'), true)
  })

  test('is accepted with a warning if it can never match', () => {
    const { warnings } = statementFromInput({ policy_text: `${permit} when { false };` })
    assert.match(warnings.join(), /can never match/)
  })
})

describe('rule sets', () => {
  const sets: [name: string, input: RuleInput, sets: string[]][] = [
    ['any action means requests only', { effect: 'permit' }, ['ask']],
    ['approve by eq', { effect: 'permit', action_scope_type: 'eq', action_ids: ['approve'] }, ['approve']],
    [
      'approve in a list',
      { effect: 'forbid', action_scope_type: 'in', action_ids: ['approve', 'a'] },
      ['ask', 'approve'],
    ],
    ['another action', { effect: 'permit', action_scope_type: 'eq', action_ids: ['a'] }, ['ask']],
    ['the starting rule', startingRule, ['approve']],
  ]
  for (const [name, input, expected] of sets)
    test(`${name}: ${expected.join(' and ')}`, () => {
      assert.deepEqual(statementFromInput(input).sets, expected)
    })

  test('a rule about approve may test the request to decide', () => {
    const conditions = 'when { resource.requester in Group::"g" && resource.duration_seconds < 3600 }'
    const statement = statementFromInput({ ...startingRule, conditions })
    assert.equal(statement.fields.approval_mode, undefined)
  })
})
