import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { rounds } from '../../../test/support/race.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import type { ApproveQuestion, LiteralFacts, Principal } from '../cedar/question.ts'
import { sampleApproval } from '../cedar/samples.ts'
import { alikeApprovers } from './alike.ts'
import { decideApprove } from './decide.ts'

const rulesOf = (texts: readonly string[]) =>
  sampleRuleSet(texts.map((text, index) => sampleRule(`rule-${index}`, text)))
const grace = sampleApproval.principal
const eve: Principal = { ...grace, id: 'eve', name: 'Eve', email: 'eve@example.com' }
const asks = '(principal, action == Action::"approve", resource)'
const when = (condition: string) => `permit ${asks} when { ${condition} };`

suite('two approvers who differ in ids, names and addresses', () => {
  const rows: [what: string, rules: string[], other: Partial<Principal>, isAlike: boolean][] = [
    ['are alike', [`permit ${asks};`], {}, true],
    ['are not where a rule reads the name', [when('principal.name == "Eve"')], {}, false],
    ['are not where a rule reads the address', [when('principal.email like "*@example.com"')], {}, false],
    [
      'are where another question reads it',
      ['permit (principal, action == Action::"R", resource) when { principal.name == "x" };'],
      {},
      true,
    ],
    [
      'are not where a rule of several actions reads it',
      ['permit (principal, action in [Action::"R", Action::"approve"], resource) when { principal.name == "x" };'],
      {},
      false,
    ],
    [
      'are where a rule names neither',
      [`permit (principal == User::"bob", action == Action::"approve", resource);`],
      {},
      true,
    ],
    ['are where a rule names a role that both have', [when('principal in Role::"user"')], {}, true],
    ['are not where one lacks it', [when('principal in Role::"user"')], { role_ids: [] }, false],
    [
      'are not where one lacks the group of a scope',
      [`permit (principal in Group::"engineers", action == Action::"approve", resource);`],
      { group_ids: [] },
      false,
    ],
    ['are where no rule names the role that one lacks', [when('principal in Role::"other"')], { role_ids: [] }, true],
    [
      'are not where a rule reads the scopes that one lacks',
      [when('principal.scopes.contains("x")')],
      { scopes: [] },
      false,
    ],
    ['are where no rule reads the scopes', [`permit ${asks};`], { scopes: [] }, true],
    ['are not where one is inactive', [`permit ${asks};`], { active: false }, false],
    ['are not where a rule tests for a fact', [when('principal has title')], { title: 'x' }, false],
    ['are where the fact is not read', [when('principal has department')], { title: 'x' }, true],
    [
      'are not where a rule reads the manager',
      [when('principal has manager && principal.manager == User::"bob"')],
      { manager: 'bob' },
      false,
    ],
  ]
  for (const [what, texts, other, isAlike] of rows)
    test(what, () => {
      const profileOf = alikeApprovers(rulesOf(texts))
      const [one, two] = [grace, { ...eve, ...other }].map((principal) => profileOf({ ...sampleApproval, principal }))
      assert.equal(typeof one, 'string')
      assert.equal(one === two, isAlike)
    })
})

suite('an approver is evaluated alone', () => {
  const user = (id: string, manager?: string) => ({ user: { ...eve, id, ...(manager !== undefined && { manager }) } })
  const rows: [what: string, rules: string[], question: Partial<ApproveQuestion>][] = [
    [
      'whom the scope of a rule names',
      [`permit (principal == User::"grace", action == Action::"approve", resource);`],
      {},
    ],
    ['whom a condition names', [when('[User::"eve", User::"grace"].contains(principal)')], {}],
    [
      'who is the manager of the requester',
      [],
      { request: { ...sampleApproval.request, requester: { ...eve, manager: 'grace' } } },
    ],
    ['who is their own manager', [], { principal: { ...grace, manager: 'grace' } }],
    ['who is the manager of one whom a rule reads', [], { literals: new Map([['User::"bob"', user('bob', 'grace')]]) }],
    ['of whom not all counts', [], { whole: [{ principal: grace, requester: eve }] }],
  ]
  for (const [what, texts, question] of rows)
    test(what, () => assert.equal(alikeApprovers(rulesOf(texts))({ ...sampleApproval, ...question }), undefined))
})

test('rules that do not parse have no approvers who are alike', () => {
  const [rule] = rulesOf([`permit ${asks};`]).rules
  assert.ok(rule)
  assert.equal(alikeApprovers(sampleRuleSet([{ ...rule, policy_text: 'permit' }]))(sampleApproval), undefined)
})

test('approvers who are alike get the same answer', () => {
  const ids = ['ada', 'grace', 'eve', 'bob', 'kim']
  const conditions = [
    ...[
      '',
      'principal.email like "g*"',
      'principal.is_owner',
      'principal.scopes.contains("a")',
      'principal in Group::"g1"',
    ],
    ...[
      'principal in Role::"r1"',
      'principal == User::"bob"',
      'principal in [User::"eve", Group::"g2"]',
      'principal has title',
    ],
    ...[
      'principal has manager && principal.manager == resource.requester',
      'principal has manager && principal.manager == principal',
    ],
    ...[
      'resource.requester has manager && resource.requester.manager == principal',
      'User::"bob".name == principal.name',
    ],
    ...['User::"kim" has manager && User::"kim".manager == principal', 'resource.requester in Group::"g1"'],
  ]
  const rule = fc
    .record({
      effect: fc.constantFrom('permit', 'forbid'),
      scope: fc.constantFrom(
        'principal',
        'principal == User::"eve"',
        'principal in Group::"g1"',
        'principal in Role::"r1"',
      ),
      kind: fc.constantFrom('when', 'unless'),
      condition: fc.constantFrom(...conditions),
    })
    .map(
      ({ effect, scope, kind, condition }) =>
        `${effect} (${scope}, action == Action::"approve", resource) ${condition && `${kind} { ${condition} }`};`,
    )
  const some = (...all: string[]) => fc.subarray(all)
  const person = fc
    .record({
      ...{
        id: fc.constantFrom(...ids),
        name: fc.constantFrom('N', 'M'),
        email: fc.constantFrom('g@x.example', 'h@x.example'),
      },
      ...{
        is_owner: fc.boolean(),
        active: fc.boolean(),
        scopes: some('a', 'b'),
        group_ids: some('g1', 'g2'),
        role_ids: some('r1', 'r2'),
      },
      ...{ title: fc.constantFrom(undefined, 'T'), manager: fc.constantFrom(undefined, ...ids) },
    })
    .map(
      ({ title, manager, ...rest }): Principal => ({
        ...grace,
        ...rest,
        ...(title !== undefined && { title }),
        ...(manager !== undefined && { manager }),
      }),
    )
  let shared = 0
  const property = fc.property(
    fc.array(rule, { maxLength: 4 }),
    fc.array(person, { minLength: 6, maxLength: 12 }),
    fc.tuple(person, person, person),
    (texts, approvers, [requester, bob, kim]) => {
      const rules = rulesOf(texts)
      const profileOf = alikeApprovers(rules)
      const literals: LiteralFacts = new Map([
        ['User::"bob"', { user: { ...bob, id: 'bob' } }],
        ['User::"kim"', { user: { ...kim, id: 'kim' } }],
      ])
      const answers = new Map<string, boolean>()
      for (const principal of approvers.filter(({ id }) => id !== requester.id)) {
        const question = { ...sampleApproval, principal, request: { ...sampleApproval.request, requester }, literals }
        const profile = profileOf(question)
        if (profile === undefined) continue
        const { allowed } = decideApprove(rules, question)
        if (answers.has(profile)) shared += 1
        assert.equal(answers.get(profile) ?? allowed, allowed, `${profile} ${texts.join('\n')}`)
        answers.set(profile, allowed)
      }
    },
  )
  fc.assert(property, { numRuns: rounds(150).length })
  assert.ok(shared > 20, `only ${shared} answers were shared`)
})
