import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { startingRule } from '../../policies/starting-rule.ts'
import { createEngine } from '../cedar/engine.ts'
import type { ApproveQuestion, AskQuestion, Resource } from '../cedar/question.ts'
import { sampleAccount, sampleApproval, sampleQuestion } from '../cedar/samples.ts'
import { statementFromInput } from '../cedar/statement.ts'
import { type Decision, decideApprove, decideAsk } from './decide.ts'
import { createPolicyEvaluator } from './evaluate.ts'
import type { PolicyRule } from './rule-set.ts'

const all = '(principal, action, resource);'
const mode = (name: string) => `@approval_mode("${name}") `
const require = sampleRule('permit-require', `permit${all}`)
const auto = sampleRule('permit-auto', `${mode('auto')}permit${all}`)
const emergency = sampleRule('permit-emergency', `${mode('break_glass')}permit${all}`)
const plain = sampleRule('forbid-plain', `forbid${all}`)
const noAuto = sampleRule('forbid-auto', `${mode('auto')}forbid${all}`)
const noEmergency = sampleRule('forbid-emergency', `${mode('break_glass')}forbid${all}`)
const overflow = 'when { context.duration_seconds * 9223372036854775807 > 0 };'
const failing = (text: string) => `${text.slice(0, -1)} ${overflow}`

const ask = (rules: PolicyRule[], change: Partial<AskQuestion> = {}): Decision =>
  decideAsk(sampleRuleSet(rules), { ...sampleQuestion, ...change })
const breakGlass = { context: { ...sampleQuestion.context, break_glass: true } }
const outcome = ({ allowed, mode: how }: Decision) => (allowed ? how : 'denied')

describe('rules by kind of request', () => {
  const table: [name: string, rules: PolicyRule[], ordinary: string, emergencyOutcome: string][] = [
    ['no rule', [], 'denied', 'denied'],
    ['a require permit', [require], 'require', 'denied'],
    ['an auto permit', [auto], 'auto', 'denied'],
    ['a break_glass permit', [emergency], 'denied', 'break_glass'],
    ['require and auto permits', [require, auto], 'auto', 'denied'],
    ['all permits', [require, auto, emergency], 'auto', 'break_glass'],
    ['all permits and a plain forbid', [require, auto, emergency, plain], 'denied', 'denied'],
    ['all permits and an auto forbid', [require, auto, emergency, noAuto], 'require', 'break_glass'],
    ['all permits and a break_glass forbid', [require, auto, emergency, noEmergency], 'auto', 'denied'],
    ['an auto permit and an auto forbid', [auto, noAuto], 'require', 'denied'],
    ['forbids alone', [plain, noAuto, noEmergency], 'denied', 'denied'],
    [
      'a rule about approve',
      [sampleRule('a', 'permit(principal, action == Action::"approve", resource);')],
      'denied',
      'denied',
    ],
  ]
  for (const [name, rules, ordinary, inEmergency] of table)
    test(`${name}: an ordinary request is ${ordinary}, an emergency ${inEmergency}`, () => {
      assert.equal(outcome(ask(rules)), ordinary)
      assert.equal(outcome(ask(rules, breakGlass)), inEmergency)
    })

  test('a plain forbid unless break_glass permits only emergencies', () => {
    const but = sampleRule('but', 'forbid(principal, action, resource) unless { context.break_glass };')
    assert.equal(outcome(ask([require, emergency, but])), 'denied')
    assert.equal(outcome(ask([require, emergency, but], breakGlass)), 'break_glass')
  })

  test('a rule that names actions matches only those actions', () => {
    const named = sampleRule('n', 'permit(principal, action == Action::"ReadOnlyAccess", resource);')
    const others = sampleRule('o', 'forbid(principal, action in [Action::"Admin", Action::"Power"], resource);')
    assert.equal(outcome(ask([named, others])), 'require')
    assert.equal(outcome(ask([named, others], { action: 'Admin' })), 'denied')
    assert.equal(outcome(ask([require, others], { action: 'never heard of' })), 'require')
    assert.equal(outcome(ask([require, others], { action: '__unnamed' })), 'require')
  })

  test('conditions can test groups, roles, units, tags, hours and addresses', () => {
    const text = `permit(principal in Group::"engineers", action, resource in cloud_organizational_unit::"ou-ab12-12345678")
      when { principal in Role::"user" && resource.hasTag("env") && resource.getTag("env") == "dev" }
      when { context.weekday <= 5 && context.minute >= 540 && context.now < datetime("2024-02-01") }
      when { context.source_ip.isInRange(ip("192.0.2.0/24")) && context.via == "token" };`
    assert.equal(outcome(ask([sampleRule('r', text)])), 'require')
    const night = { context: { ...sampleQuestion.context, time_zone: 'Pacific/Auckland' } }
    assert.equal(outcome(ask([sampleRule('r', text)], night)), 'denied')
  })

  test('a rule that names a group of another tenant has no effect (T10)', () => {
    const foreign = sampleRule('r', 'permit(principal in Group::"their group", action, resource);')
    assert.equal(outcome(ask([foreign])), 'denied')
  })

  test('an auto permit that the requester saved last counts as require (P15)', () => {
    const own = sampleRule('own', `${mode('auto')}permit${all}`, { saved_by: sampleQuestion.principal.id })
    const decision = ask([own])
    assert.equal(outcome(decision), 'require')
    assert.match(decision.reasoning, /saved it last/)
    assert.equal(outcome(ask([own, auto])), 'auto')
  })
})

describe('failures deny', () => {
  test('an error in a plain forbid denies, and is reported (J5)', () => {
    const decision = ask([require, sampleRule('f', failing(`forbid${all}`))])
    assert.equal(decision.allowed, false)
    assert.deepEqual(decision.rule_ids, ['f'])
    assert.match(decision.errors[0]?.message ?? '', /overflow/)
    assert.match(decision.reasoning, /could not be evaluated/)
  })

  test('an error in an auto forbid denies only approval by rule (J5)', () => {
    const decision = ask([auto, sampleRule('f', failing(`${mode('auto')}forbid${all}`))])
    assert.equal(outcome(decision), 'require')
    assert.equal(decision.errors[0]?.rule_id, 'f')
  })

  test('an error in a break_glass forbid denies only emergencies (J5)', () => {
    const rules = [require, emergency, sampleRule('f', failing(`${mode('break_glass')}forbid${all}`))]
    assert.equal(outcome(ask(rules)), 'require')
    assert.equal(outcome(ask(rules, breakGlass)), 'denied')
  })

  test('an error in a permit does not affect other permits', () => {
    assert.equal(outcome(ask([require, sampleRule('p', failing(`permit${all}`))])), 'require')
  })

  const undecidable: [name: string, rules: PolicyRule[], change: Partial<AskQuestion>][] = [
    ['a deactivated principal', [require], { principal: { ...sampleQuestion.principal, active: false } }],
    ['no resource', [require], { resources: [] }],
    ['the action approve', [require], { action: 'approve' }],
    ['two rules with one id', [require, { ...auto, id: require.id }], {}],
    ['a rule that does not parse', [require, { ...require, id: 'x', policy_text: 'permit(' }], {}],
    ['a rule whose column has another effect than its text', [{ ...plain, effect: 'permit' }], {}],
    ['an invalid address', [require], { context: { ...sampleQuestion.context, source_ip: 'x' } }],
    ['an unknown time zone', [require], { context: { ...sampleQuestion.context, time_zone: 'Mars/Base' } }],
    [
      'a duration that is not a number',
      [require],
      { context: { ...sampleQuestion.context, duration_seconds: Number.NaN } },
    ],
  ]
  for (const [name, rules, change] of undecidable)
    test(`${name}: denied, without throwing`, () => {
      const decision = ask(rules, change)
      assert.equal(decision.allowed, false)
      assert.notEqual(decision.reasoning, '')
    })

  test('an engine that traps denies, and answers the next tenant', () => {
    const evaluator = createPolicyEvaluator(createEngine())
    const trap = {
      ...require,
      policy_text: `permit(principal, action, resource) when { ${'('.repeat(400)}true${')'.repeat(400)} };`,
    }
    const decision = decideAsk({ tenant_id: 'a', version: '1', rules: [trap] }, sampleQuestion, evaluator)
    assert.equal(decision.allowed, false)
    assert.match(decision.reasoning, /could not be answered/)
    assert.equal(evaluator.engine.faults(), 1)
    assert.equal(decideAsk({ tenant_id: 'b', version: '1', rules: [require] }, sampleQuestion, evaluator).allowed, true)
  })
})

describe('a request that fans out', () => {
  const account = (id: string, env: string): Resource => ({
    ...sampleAccount,
    id,
    name: `account ${id}`,
    tags: { env },
  })
  const resources = [account('1', 'dev'), account('2', 'dev'), account('3', 'prod')]
  const tagged = (effect: string, env: string) =>
    `${effect}(principal, action, resource) when { resource.hasTag("env") && resource.getTag("env") == "${env}" };`

  test('is allowed only if every question is, and a denial names the account', () => {
    const decision = ask([require, sampleRule('f', `@notice("not in production") ${tagged('forbid', 'prod')}`)], {
      resources,
    })
    assert.equal(decision.allowed, false)
    assert.match(decision.reasoning, /cloud_account `3` \(account 3\)/)
    assert.deepEqual(decision.notices, ['not in production'])
    assert.equal(outcome(ask([sampleRule('p', tagged('permit', 'dev'))], { resources })), 'denied')
  })

  test('gets the strictest mode, and the audit and notices of all questions', () => {
    const rules = [
      sampleRule('a', `@notice("dev") ${mode('auto')}${tagged('permit', 'dev')}`, { ordinal: 1 }),
      sampleRule('r', `@notice("prod") @audit_session("true") ${tagged('permit', 'prod')}`, { ordinal: 2 }),
    ]
    const decision = ask(rules, { resources })
    assert.deepEqual(
      [decision.mode, decision.audit_session, decision.notices, decision.governing_rule_id],
      ['require', true, ['prod', 'dev'], 'r'],
    )
  })
})

describe('the texts of a decision', () => {
  const first = sampleRule('z', `@notice("first") permit${all}`, { priority: 1, ordinal: 1 })
  const second = sampleRule('a', `@notice("second") @audit_session("true") permit${all}`, { priority: 1, ordinal: 2 })
  const third = sampleRule('b', `@notice("first") permit${all}`, { priority: 2, ordinal: 1 })

  test('the governing rule is the first by priority, ordinal and id; it leads the notices', () => {
    const decision = ask([third, second, first])
    assert.equal(decision.governing_rule_id, 'z')
    assert.deepEqual(decision.notices, ['first', 'second'])
    assert.deepEqual(decision.rule_ids, ['z', 'a', 'b'])
    assert.equal(decision.audit_session, true)
  })

  test('an approval by rule is governed by the first rule that approves at once', () => {
    const decision = ask([first, sampleRule('auto', `@notice("at once") ${mode('auto')}permit${all}`, { ordinal: 9 })])
    assert.equal(decision.governing_rule_id, 'auto')
    assert.deepEqual(decision.notices, ['at once', 'first'])
    assert.equal(decision.reasoning, 'approved at once by a rule (at once)')
  })

  test('a denial has the notices of all matching forbids, in order, without repeats', () => {
    const forbids = ['two', 'one', 'two'].map((notice, ordinal) =>
      sampleRule(`f${ordinal}`, `@notice("${notice}") forbid${all}`, { ordinal }),
    )
    const decision = ask([first, ...forbids.toReversed()])
    assert.deepEqual(decision.notices, ['two', 'one'])
    assert.deepEqual(decision.rule_ids, ['f0', 'f1', 'f2'])
    assert.equal(decision.reasoning, 'a rule (two) forbids `ReadOnlyAccess` on cloud_account `123456789012` (sample)')
  })

  test('a default deny has no notices, and shows only a caller who may write policies how to permit it', () => {
    const decision = ask([])
    assert.deepEqual(decision.notices, [])
    assert.equal(decision.reasoning, 'no rule permits `ReadOnlyAccess` on cloud_account `123456789012` (sample)')
    const writer = { ...sampleQuestion.principal, scopes: ['policies:write'] }
    assert.match(ask([], { principal: writer }).reasoning, /add a rule/)
  })

  test('an emergency is always audited', () => {
    assert.equal(ask([emergency], breakGlass).audit_session, true)
  })
})

describe('approve', () => {
  const starting = sampleRule('starting', statementFromInput(startingRule).fields.policy_text)
  const approve = (rules: PolicyRule[], change: Partial<ApproveQuestion> = {}) =>
    decideApprove(sampleRuleSet(rules), { ...sampleApproval, ...change })

  test('is permitted by the starting rule only to users with the scope', () => {
    assert.equal(approve([starting]).allowed, true)
    assert.equal(approve([starting]).mode, null)
    assert.equal(approve([starting], { principal: { ...sampleApproval.principal, scopes: [] } }).allowed, false)
  })

  test('is not permitted by a rule about any action', () => {
    assert.equal(approve([require, auto, emergency]).allowed, false)
    assert.equal(approve([starting, plain]).allowed, true)
  })

  test('is scoped by the requested resource', () => {
    const text = (unit: string) =>
      `permit(principal, action == Action::"approve", resource in cloud_organizational_unit::"${unit}");`
    assert.equal(approve([sampleRule('r', text('ou-ab12-12345678'))]).allowed, true)
    assert.equal(approve([sampleRule('r', text('ou-zz99-12345678'))]).allowed, false)
  })

  test('can test the requester', () => {
    const text =
      'permit(principal, action == Action::"approve", resource) when { resource.requester in Group::"engineers" };'
    assert.equal(approve([sampleRule('r', text)]).allowed, true)
  })

  test('takes permits from the rights that count, and forbids from all rights too', () => {
    const { principal } = sampleApproval
    const plain = { ...principal, group_ids: [] }
    const whole = { ...plain, group_ids: ['contractors'] }
    const about = (effect: string, condition: string) =>
      sampleRule(effect, `@notice("n") ${effect}(principal, action == Action::"approve", resource) ${condition};`)
    const inGroup = '{ principal in Group::"contractors" }'
    const [open, onlyThey] = [about('permit', ''), about('permit', `when ${inGroup}`)]
    const [notThey, butThey] = [about('forbid', `when ${inGroup}`), about('forbid', `unless ${inGroup}`)]
    const rows: [string, PolicyRule[], boolean][] = [
      ['a permit for everybody', [open], true],
      ['a permit by the right', [onlyThey], false],
      ['a forbid by the right', [open, notThey], false],
      ['a forbid unless by the right', [open, butThey], false],
    ]
    const people = [{ principal: whole, requester: sampleApproval.request.requester }]
    for (const [what, rules, allowed] of rows)
      assert.equal(approve(rules, { principal: plain, whole: people }).allowed, allowed, what)
    const denied = approve([open, notThey], { principal: plain, whole: people })
    assert.deepEqual([denied.notices, denied.rule_ids], [['n'], ['forbid']])
    assert.equal(approve([open, notThey], { principal: plain }).allowed, true, 'without the right at all')
  })

  test('is denied for the approver’s own request, whatever the rules say (P5)', () => {
    const own = { ...sampleApproval.request, requester: sampleApproval.principal }
    assert.equal(approve([starting], { request: own }).allowed, false)
  })

  test('is denied to a deactivated user, if any target denies it, and without a target', () => {
    const { principal } = sampleApproval
    const elsewhere: Resource = { ...sampleAccount, id: '999999999999', parents: [] }
    const inUnit = sampleRule(
      'r',
      'permit(principal, action == Action::"approve", resource in cloud_organizational_unit::"ou-ab12-12345678");',
    )
    assert.equal(approve([starting], { principal: { ...principal, active: false } }).allowed, false)
    assert.match(approve([inUnit], { targets: [sampleAccount, elsewhere] }).reasoning, /999999999999/)
    assert.equal(approve([starting], { targets: [] }).allowed, false)
  })
})
