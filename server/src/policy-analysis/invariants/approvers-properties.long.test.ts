import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { evaluator, readRulesOf, ruleSetOf, searchBudget } from '../../../test/support/invariant-search.ts'
import { rounds } from '../../../test/support/race.ts'
import type { ApproveQuestion, Resource } from '../../policy-engine/cedar/question.ts'
import { sampleApproval } from '../../policy-engine/cedar/samples.ts'
import type { EntityScope } from '../../policy-engine/cedar/scope.ts'
import { decideApprove } from '../../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { onlyApprovers } from './approvers.ts'
import { isMember, type Member } from './membership.ts'
import { permitsNothingNew } from './permits-nothing-new.ts'

/** Compares the invariants about approvers with the questions of a small world. */
const unit = { type: 'cloud_organizational_unit', id: 'prod' } as const
const accounts = ['1', '2'].map((id) => ({ type: 'cloud_account' as const, id }))
const resource = ({ type, id }: Pick<Resource, 'type' | 'id'>, parents: Resource['parents']): Resource => ({
  ...{ type, id, name: '', tags: {}, parents },
})
const world = [
  ...accounts.flatMap((account) => [resource(account, []), resource(account, [unit])]),
  ...accounts.flatMap((account) =>
    [[], [unit]].map((above) => resource({ type: 'cloud_storage_bucket', id: 'b' }, [account, ...above])),
  ),
  resource(unit, []),
  resource({ type: 'cloud_permission_set', id: 'p' }, []),
]
const people = ['u', 'v'].flatMap((id) =>
  [[], ['a'], ['b'], ['a', 'b']].flatMap((role_ids) =>
    [[], ['g']].map((group_ids) => ({ ...sampleApproval.principal, id, role_ids, group_ids })),
  ),
)
const questions: ApproveQuestion[] = people.flatMap((principal) =>
  world.flatMap((target) =>
    (['token', 'api_key'] as const).map((via) => ({
      ...{ ...sampleApproval, principal, targets: [target] },
      context: { ...sampleApproval.context, via },
    })),
  ),
)

const anyPrincipal = fc.constantFrom(
  ...['principal', 'principal', 'principal == User::"u"', 'principal in Role::"a"'],
  ...['principal is User in Role::"b"', 'principal in Group::"g"', 'principal is User'],
)
const anyResource = fc.constantFrom(
  ...['resource', 'resource', 'resource in cloud_account::"1"', 'resource == cloud_account::"1"'],
  ...['resource in cloud_organizational_unit::"prod"', 'resource is access_request', 'resource is cloud_account'],
  ...['resource is access_request in cloud_account::"2"', 'resource == access_request::"r"'],
)
const anyAtom = fc.constantFrom(
  ...['principal in Role::"a"', 'principal in Group::"g"', 'principal == User::"u"'],
  ...['principal in [Role::"a", Role::"b"]', 'principal != User::"u"', 'principal is User in Role::"a"'],
  ...['context.via == "token"', 'resource in cloud_account::"1"', 'resource.requester in Role::"a"'],
  // These say nothing certain about the principal, or say it by a detour.
  ...['principal in [Role::"a", resource.requester]', '[User::"u"].contains(principal)', 'User::"u" == principal'],
  ...[
    '(if context.has_reason then principal else resource.requester) in Role::"a"',
    '{one: principal}.one in Role::"a"',
  ],
  ...['(principal in Role::"a") == context.has_reason', 'context.duration_seconds * 9223372036854775807 > 0'],
)
const joined = (part: fc.Arbitrary<string>) =>
  fc.oneof(
    part,
    part.map((one) => `!(${one})`),
    fc
      .tuple(part, fc.constantFrom('&&', '||'), part)
      .map(([one, operator, other]) => `(${one}) ${operator} (${other})`),
  )
const anyClause = fc
  .tuple(fc.constantFrom('when', 'unless', 'unless'), joined(joined(anyAtom)))
  .map(([kind, condition]) => ` ${kind} { ${condition} }`)
const anyRule = fc
  .record({
    effect: fc.constantFrom('permit', 'forbid'),
    principal: anyPrincipal,
    action: fc.constantFrom('== Action::"approve"', '== Action::"approve"', 'in [Action::"approve", Action::"x"]'),
    resource: anyResource,
    clauses: fc.array(anyClause, { maxLength: 2 }),
  })
  .map(
    ({ effect, principal, action, resource: of, clauses }) =>
      `${effect}(${principal}, action ${action}, ${of})${clauses.join('')};`,
  )
const everybody = 'permit(principal, action == Action::"approve", resource);'
const anyRules = fc
  .tuple(fc.constantFrom([everybody], [everybody], []), fc.array(anyRule, { minLength: 1, maxLength: 3 }))
  .map(([first, more]) => [...first, ...more])
const anyMembers = fc.subarray<Member>(
  [
    { type: 'Role', id: 'a' },
    { type: 'Role', id: 'b' },
    { type: 'Group', id: 'g' },
    { type: 'User', id: 'u' },
  ],
  { minLength: 1 },
)
const anyScope = fc.constantFrom<EntityScope[]>(
  { scope: 'any' },
  { scope: 'in', ...unit },
  { scope: 'eq', type: 'cloud_account', id: '1' },
  { scope: 'in', type: 'cloud_account', id: '2' },
  { scope: 'is', type: 'cloud_storage_bucket' },
  { scope: 'is_in', type: 'cloud_account', group: unit },
)

function isIn({ type, id, parents }: Resource, scope: EntityScope): boolean {
  const isWithin = (container: { type: string; id: string }) =>
    [{ type, id }, ...parents].some((one) => one.type === container.type && one.id === container.id)
  if (scope.scope === 'any') return true
  if (scope.scope === 'eq') return type === scope.type && id === scope.id
  if (scope.scope === 'in') return isWithin(scope)
  return type === scope.type && (scope.scope !== 'is_in' || isWithin(scope.group))
}

const allows = (ruleSet: RuleSet, question: ApproveQuestion) => decideApprove(ruleSet, question, evaluator).allowed

test('what only these may approve, nobody else approves in a small world, and a counterexample is a real decision', async (t) => {
  const tally = { proved: 0, counterexample: 0, not_found_in_search: 0, missed: 0 }
  for (const [texts, only, scope] of fc.sample(fc.tuple(anyRules, anyMembers, anyScope), rounds(70).length)) {
    const ruleSet = ruleSetOf(texts)
    const check = { named: [{ scope, tags: {} }], only, evaluator, budget: searchBudget() }
    const outcome = await onlyApprovers(ruleSet, await readRulesOf(ruleSet), check)
    const breaks = (question: ApproveQuestion) =>
      !isMember(question.principal, only) &&
      question.targets.every((one) => isIn(one, scope)) &&
      allows(ruleSet, question)
    tally[outcome.result] += 1
    const told = `${JSON.stringify({ scope, only })}\n${texts.join('\n')}`
    if (outcome.result === 'counterexample') assert.ok(breaks(outcome.counterexample.question), told)
    else if (outcome.result === 'proved') assert.ok(!questions.some(breaks), told)
    else if (questions.some(breaks)) tally.missed += 1
  }
  t.diagnostic(JSON.stringify(tally))
  assert.ok(tally.proved > 5 && tally.counterexample > 5)
})

test('what permits nothing new makes nobody an approver, and a counterexample is a real decision', async (t) => {
  const tally = { proved: 0, counterexample: 0, not_found_in_search: 0, missed: 0 }
  const drawn = fc.tuple(anyRules, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), fc.option(anyRule))
  for (const [before, stays, added] of fc.sample(drawn, rounds(20).length)) {
    const after = [...before.filter((_text, index) => stays[index]), ...(added === null ? [] : [added])]
    const [old, fresh] = [
      ruleSetOf(before),
      ruleSetOf(
        after,
        after.map((_text, index) => `n${index}`),
      ),
    ]
    const compared = { before: old, after: fresh, old: await readRulesOf(old), changed: await readRulesOf(fresh) }
    const outcome = await permitsNothingNew(compared, { evaluator, budget: searchBudget() })
    const isNew = (question: ApproveQuestion) => allows(fresh, question) && !allows(old, question)
    tally[outcome.result] += 1
    const told = [...before, '→', ...after].join('\n')
    if (outcome.result === 'counterexample') {
      const { question } = outcome.counterexample
      assert.ok('resources' in question || isNew(question), told)
    } else if (outcome.result === 'proved') assert.ok(!questions.some(isNew), told)
    else if (questions.some(isNew)) tally.missed += 1
  }
  t.diagnostic(JSON.stringify(tally))
  assert.ok(tally.proved > 2 && tally.counterexample > 2)
})
