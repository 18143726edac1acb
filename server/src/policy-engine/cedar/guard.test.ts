import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Problem } from '../../kernel/errors.ts'
import { decideAsk } from '../deciding/decide.ts'
import type { PolicyRule } from '../deciding/rule-set.ts'
import { decisionEngine, textEngine } from './engine.ts'
import { requireSafeStatement, requireSafeText, statementLimits } from './guard.ts'
import { sampleQuestion } from './samples.ts'
import { statementFromInput } from './statement.ts'

const when = (condition: string) => `permit(principal, action, resource) when { ${condition} };`
const times = (count: number, text: string, glue: string) => Array<string>(count).fill(text).join(glue)
const nested = (count: number, open: string, core: string, close: string) =>
  open.repeat(count) + core + close.repeat(count)

const actions = (count: number) => Array.from({ length: count }, (_, n) => `Action::"${n}"`)

const bystander: PolicyRule = {
  id: 'bystander',
  policy_id: 'p',
  priority: 1,
  ordinal: 1,
  effect: 'permit',
  policy_text: 'permit(principal, action, resource) when { context.minute < 1440 };',
  notice: null,
  audit_session: false,
  approval_mode: 'require',
  saved_by: null,
}

const hostile: [name: string, text: string, message: RegExp][] = [
  ['110 nested brackets', when(nested(110, '(', 'true', ')')), /brackets nest deeper/],
  ['400 nested sets', when(nested(400, '[', '1', ']')), /brackets nest deeper/],
  ['400 nested records', when(`${nested(400, '{a:', '1', '}')} == context`), /brackets nest deeper/],
  ['a chain of 365 &&', when(times(365, 'context.break_glass', '&&')), /nests deeper than 60/],
  ['a chain of 61 ||', when(times(61, 'context.break_glass', '||')), /nests deeper than 60/],
  [
    'a chain of 400 clauses',
    `permit(principal, action, resource) ${times(400, 'when{1<2}', ' ')};`,
    /nests deeper than 60/,
  ],
  ['a sum of 400 terms', when(`${times(400, '1', '+')} > 1`), /nests deeper than 60/],
  ['1,000 nested ifs without brackets', when(`if true then ${times(700, 'if true then', ' ')} true`), /more than/],
  ['3,000 operators', when(times(3000, '1', '+')), /more than 1500 operators/],
  ['a path of 61 steps', when(`context has ${times(61, 'a', '.')}`), /nests deeper than 60/],
  ['3,000 attributes', when(`context${'.a'.repeat(3000)}`), /more than 1500 operators/],
  [
    '17 actions distinguished',
    when(
      actions(17)
        .map((one) => `action == ${one}`)
        .join('||'),
    ),
    /distinguishes more than 16 actions/,
  ],
  ['10,001 bytes', when(`"${'a'.repeat(10_001)}" == "a"`), /more than 10000/],
  ['10,001 bytes in fewer characters', when(`"${'é'.repeat(4_990)}" == "a"`), /more than 10000/],
  ['half a surrogate pair', when('principal.name == "\ud800"'), /surrogate/],
  ['a string without an end', when('principal.name == "a'), /not closed/],
  ['unknown', when('unknown("x")'), /`unknown`/],
  ['unknown with a space outside ASCII', when('unknown\u0085("x")'), /`unknown`/],
  ['unknown as a method', when('"x".unknown()'), /`unknown`/],
  ['unknown with a space', when('unknown\n ("x")'), /`unknown`/],
  [
    'a key that is an escape of the engine',
    when('{"__extn": {fn: "unknown", arg: "x"}} == context'),
    /two underscores/,
  ],
  ['an attribute that is an escape of the engine', when('context has __entity'), /two underscores/],
]

describe('a statement past the limits', () => {
  for (const [name, policyText, message] of hostile)
    test(`${name}: refused before the engine receives it, and another tenant is answered`, () => {
      const faults = textEngine.faults() + decisionEngine.faults()
      assert.throws(
        () => statementFromInput({ policy_text: policyText }),
        (error) => error instanceof Problem && error.code === 'invalid_policy' && message.test(error.message),
      )
      assert.equal(textEngine.faults() + decisionEngine.faults(), faults, 'an instance was lost')
      const other = decideAsk({ tenant_id: 'other', version: '1', rules: [bystander] }, sampleQuestion)
      assert.equal(other.allowed, true)
    })
})

const legal: [name: string, text: string][] = [
  ['32 nested brackets', when(nested(30, '(', 'true', ')'))],
  ['a chain of 60 &&', when(times(59, 'context.break_glass', '&&'))],
  ['a set of 4,500 numbers', when(`[${times(4500, '1', ',')}].contains(context.minute)`)],
  ['a pattern of 1,000 wildcards', when(`principal.name like "${'*a'.repeat(1000)}"`)],
  ['59 clauses', `permit(principal, action, resource)${' when{context.break_glass}'.repeat(59)};`],
  ['58 nested ifs', when(`${'if context.break_glass then '.repeat(58)}true${' else false'.repeat(58)}`)],
  ['brackets within a string', when(`principal.name like "${'('.repeat(200)}"`)],
  ['a word that begins like an operator', when('principal.name == "unknown("')],
  ['500 actions in one set', when(`true || action in [${actions(500)}]`)],
  [
    '16 actions distinguished',
    when(
      `true || ${actions(16)
        .map((one) => `action == ${one}`)
        .join('||')}`,
    ),
  ],
  ['everything at once', when(`${nested(14, '(context.break_glass && ', times(20, 'context.has_reason', '||'), ')')}`)],
]

describe('a statement within the limits', () => {
  for (const [name, policyText] of legal)
    test(`${name}: accepted, and used in a decision`, () => {
      assert.ok(Buffer.byteLength(policyText) <= statementLimits.bytes)
      const { fields } = statementFromInput({ policy_text: policyText })
      const faults = decisionEngine.faults()
      const rules = [{ ...bystander, id: 'legal', policy_text: fields.policy_text }, bystander]
      const decision = decideAsk({ tenant_id: 'legal', version: name, rules }, sampleQuestion)
      assert.equal(decision.allowed, true)
      assert.deepEqual(decision.errors, [])
      assert.equal(decisionEngine.faults(), faults)
    })
})

describe('unknown, which voids a forbid,', () => {
  const source = (text: string) => ({ field: 'policy_text', text }) as const

  test('is refused in the text', () => {
    assert.throws(() => requireSafeText(source(when('unknown("x")'))), /is not allowed/)
  })

  test('is refused in the parsed statement', () => {
    const text = when('true || [unknown("x")] == []')
    const parsed = textEngine.use((cedar) => cedar.policyToJson(text))
    assert.ok(parsed.type === 'success')
    assert.throws(() => requireSafeStatement(parsed.json, source(text)), /is not allowed/)
  })
})
