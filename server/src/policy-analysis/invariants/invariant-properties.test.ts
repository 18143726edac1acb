import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evaluator, readRulesOf, ruleSetOf, searchBudget } from '../../../test/support/invariant-search.ts'
import { anyOf, rounds } from '../../../test/support/race.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import type { AskQuestion } from '../../policy-engine/cedar/question.ts'
import { sampleQuestion } from '../../policy-engine/cedar/samples.ts'
import type { AskedType } from '../../policy-engine/cedar/schema.ts'
import { scopeFromFields } from '../../policy-engine/cedar/scope.ts'
import { readStatement } from '../../policy-engine/cedar/statement.ts'
import { decideAsk } from '../../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { type Named, noAutoApproval } from './no-auto-approval.ts'
import { permitsNothingNew } from './permits-nothing-new.ts'

/** Compares invariants with questions of a world so small that all its questions can be listed. */
const inProd = 'resource in cloud_organizational_unit::"prod")'

const units = ['prod', 'dev'].map((id) => ({ type: 'cloud_organizational_unit' as const, id }))
const accounts = ['1', '2'].map((id) => ({ type: 'cloud_account' as const, id }))
const subsets = <Item>(items: readonly Item[]) =>
  Array.from({ length: 2 ** items.length }, (_, chosen) => items.filter((_item, index) => (chosen >> index) % 2 === 1))
const resource = (type: AskedType, id: string, parents: readonly { type: AskedType; id: string }[]) => ({
  type,
  id,
  name: '',
  tags: {},
  parents,
})
const world = [
  ...subsets(units).flatMap((within) => [
    ...accounts.map(({ id }) => resource('cloud_account', id, within)),
    resource('cloud_account', '3', within),
  ]),
  ...subsets(units).flatMap((within) =>
    accounts.map((account) => resource('cloud_storage_bucket', 'b', [account, ...within])),
  ),
  resource('cloud_organizational_unit', 'prod', []),
  resource('cloud_organizational_unit', 'dev', [{ type: 'cloud_organizational_unit', id: 'prod' }]),
  resource('cloud_permission_set', 'p', []),
]
const people = ['u', 'v'].flatMap((id) =>
  subsets(['a', 'b']).flatMap((role_ids) =>
    [true, false].map((email_verified) => ({
      ...sampleQuestion.principal,
      ...{ id, role_ids, group_ids: [], email_verified },
      ...(email_verified === (id === 'u') && { department: 'Finance', manager: id === 'u' ? 'v' : 'u' }),
    })),
  ),
)
const questions: AskQuestion[] = [true, false].flatMap((break_glass) =>
  people.flatMap((principal) =>
    ['x', 'y'].flatMap((action) =>
      world.map((one) => ({
        principal,
        action,
        resources: [one],
        context: { ...sampleQuestion.context, break_glass },
      })),
    ),
  ),
)

const byFacts = [
  ' when { principal has department && principal.department == "Finance" }',
  ' unless { principal has department && principal.department == "Finance" }',
  ' when { principal has manager && principal.manager == User::"v" }',
]
const anyRule = () => {
  const mode = anyOf(['', '', '@approval_mode("auto") ', '@approval_mode("break_glass") '])
  const effect = anyOf(['permit', 'permit', 'forbid'])
  const principal = anyOf([
    'principal',
    'principal',
    'principal == User::"u"',
    'principal in Role::"a"',
    'principal is User in Role::"b"',
  ])
  const action = anyOf(['action', 'action', 'action == Action::"x"', 'action in [Action::"x", Action::"y"]'])
  const what = anyOf([
    'resource',
    'resource == cloud_account::"1"',
    'resource in cloud_account::"2"',
    'resource in cloud_organizational_unit::"prod"',
    'resource is cloud_storage_bucket',
    'resource is cloud_account in cloud_organizational_unit::"dev"',
  ])
  const condition = anyOf([
    '',
    '',
    '',
    ' when { principal.email_verified }',
    ' unless { principal.email_verified }',
    ...byFacts,
  ])
  return `${mode}${effect}(${principal}, ${action}, ${what})${condition};`
}
const anyRules = () => Array.from({ length: 1 + Math.floor(Math.random() * 4) }, anyRule)

test('a proof holds for the questions of a small world, and a counterexample is a real decision', async (t) => {
  const tally = { proved: 0, counterexample: 0, not_found_in_search: 0, missed: 0 }
  for (const _ of rounds(15)) {
    const [before, after] = [anyRules(), anyRules()]
    const named = scopeFromFields(
      readStatement(
        `permit(principal, action, ${anyOf([inProd.slice(0, -1), 'resource == cloud_account::"1"', 'resource is cloud_storage_bucket'])});`,
      ),
    ).resource
    const [old, fresh] = [
      ruleSetOf(before),
      ruleSetOf(
        after,
        after.map((_text, index) => `n${index}`),
      ),
    ]
    const inNamed = sampleRuleSet([sampleRule('named', `permit(principal, action, ${textOf(named)});`)])
    const ease = (set: RuleSet, question: AskQuestion) => {
      const { allowed, mode } = decideAsk(set, question, evaluator)
      return !allowed ? 0 : mode === 'require' ? 1 : 2
    }
    const isIn = (question: AskQuestion) =>
      decideAsk(inNamed, { ...question, context: { ...question.context, break_glass: false } }, evaluator).allowed
    const sample = questions.filter(() => Math.random() < 0.08)
    const auto = await noAutoApproval(fresh, await readRulesOf(fresh), {
      named: [{ scope: named, tags: {} }],
      evaluator,
      budget: searchBudget(),
    })
    const none = await permitsNothingNew(
      { before: old, after: fresh, old: await readRulesOf(old), changed: await readRulesOf(fresh) },
      { evaluator, budget: searchBudget() },
    )
    const breaks = {
      auto: sample.some((question) => ease(fresh, question) === 2 && isIn(question)),
      none: sample.some((question) => ease(fresh, question) > ease(old, question)),
    }
    for (const [outcome, isBroken] of [
      [auto, breaks.auto],
      [none, breaks.none],
    ] as const) {
      tally[outcome.result] += 1
      if (isBroken) assert.notEqual(outcome.result, 'proved', [...before, '→', ...after].join('\n'))
      if (isBroken && outcome.result !== 'counterexample') tally.missed += 1
    }
    if (auto.result === 'counterexample')
      assert.ok(ease(fresh, auto.counterexample.question) === 2 && isIn(auto.counterexample.question))
    if (none.result === 'counterexample' && 'resources' in none.counterexample.question)
      assert.ok(ease(fresh, none.counterexample.question) > ease(old, none.counterexample.question))
  }
  t.diagnostic(JSON.stringify(tally))
})

function textOf(scope: Named['scope']): string {
  if (scope.scope === 'is') return `resource is ${scope.type}`
  return scope.scope === 'eq' ? `resource == ${scope.type}::"${scope.id}"` : inProd.slice(0, -1)
}
