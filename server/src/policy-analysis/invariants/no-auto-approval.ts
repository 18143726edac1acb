/** No request in the named resources is approved without a person, neither by an `auto` permit nor by a `break_glass` one. */
import type { AskQuestion } from '../../policy-engine/cedar/question.ts'
import { covers, type EntityScope, type Scope } from '../../policy-engine/cedar/scope.ts'
import { type Decision, decideAsk } from '../../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import type { Constraint, Constraints } from './constraints.ts'
import { questionOf } from './made-question.ts'
import type { Outcome } from './outcome.ts'
import { actionIn, isAsked, type ReadRule } from './read-rule.ts'
import { type Budget, isSpent, type Means, search, type Target } from './search.ts'
import { principalIn, resourcesIn } from './witness.ts'

/** A set of resources: those of a scope that have all these tags. */
export type Named = { scope: EntityScope; tags: Readonly<Record<string, string>> }

type ApprovalPath = 'at_once' | 'emergency'

/** A permit that could approve a request in the named resources, and the forbids of the same kind of request. */
type Suspect = { permit: ReadRule; path: ApprovalPath; named: Named; forbids: readonly ReadRule[] }

export async function noAutoApproval(
  ruleSet: RuleSet,
  rules: readonly ReadRule[],
  { named, ...means }: Means & { named: readonly Named[] },
): Promise<Outcome<AskQuestion>> {
  const { budget } = means
  const suspects = await suspectsOf(rules, named, budget)
  if (suspects.length === 0) return { result: 'proved', tried: 0 }
  const judge = (question: AskQuestion) => broken(ruleSet, question, means)
  for (const suspect of suspects) {
    if (isSpent(budget)) break
    const found = await search(targetOf(suspect), judge, budget)
    if (found !== undefined) return { result: 'counterexample', tried: budget.tried, counterexample: found }
  }
  return { result: 'not_found_in_search', tried: budget.tried }
}

async function suspectsOf(rules: readonly ReadRule[], named: readonly Named[], budget: Budget): Promise<Suspect[]> {
  const suspects: Suspect[] = []
  for (const path of ['at_once', 'emergency'] as const) {
    const asked = rules.filter((one) => isAsked(one, path))
    const forbids = asked.filter(({ rule }) => rule.effect === 'forbid')
    for (const permit of asked.filter(({ rule }) => rule.effect === 'permit')) {
      await budget.yieldToEventLoop()
      const open = named.filter((one) => isSpent(budget) || mayApprove(permit, one, forbids))
      suspects.push(...open.map((one) => ({ permit, path, named: one, forbids })))
    }
  }
  return suspects
}

/** False is certain: the permit covers none of the resources, or a forbid without conditions covers all that it does. */
function mayApprove({ scope }: ReadRule, { scope: named }: Named, forbids: readonly ReadRule[]): boolean {
  if (!couldMatch(scope, [named])) return false
  const there: Scope = { ...scope, resource: named }
  return !forbids.some(
    (forbid) => forbid.conditions === '' && (covers(forbid.scope, scope) || covers(forbid.scope, there)),
  )
}

function couldMatch(scope: Scope, resources: readonly EntityScope[]): boolean {
  return (
    principalIn([scope.principal]) !== undefined &&
    actionIn(scope) !== undefined &&
    resourcesIn([scope.resource, ...resources]).length > 0
  )
}

/** Whether some question in these resources matches both scopes. */
export function couldMatchBoth(one: Scope, other: Scope, resources: readonly EntityScope[] = []): boolean {
  return (
    principalIn([one.principal, other.principal]) !== undefined &&
    actionIn(one, other.action) !== undefined &&
    resourcesIn([one.resource, other.resource, ...resources]).length > 0
  )
}

function targetOf({ permit, path, named, forbids }: Suspect): Target<AskQuestion> {
  const principal = principalIn([permit.scope.principal])
  const actions = permit.scope.action.scope === 'any' ? [actionIn(permit.scope) ?? ''] : permit.scope.action.ids
  const frames = resourcesIn([permit.scope.resource, named.scope]).flatMap((resource) =>
    actions
      .slice(0, maxActions)
      .flatMap((action) =>
        principal === undefined ? [] : { principal, action, resource, break_glass: path === 'emergency' },
      ),
  )
  const makers = frames.map((frame) => (constraints: Constraints) => questionOf(frame, constraints))
  const near = forbids.filter((forbid) => couldMatchBoth(permit.scope, forbid.scope, [named.scope]))
  return { makers, given: constraintsOf(named), holding: [permit], silent: near }
}

/** The tags that the named resources have. */
export function constraintsOf({ tags }: Named): Map<string, Constraint> {
  const given = new Map<string, Constraint>()
  for (const [key, is] of Object.entries(tags)) given.set(`has:${key}`, { is: true }).set(`tag:${key}`, { is })
  return given
}

const maxActions = 10

function broken(ruleSet: RuleSet, question: AskQuestion, { evaluator, literals }: Means) {
  const decision: Decision = decideAsk(ruleSet, { ...question, ...(literals && { literals }) }, evaluator)
  return decision.allowed && decision.mode !== 'require' ? { question, decision } : undefined
}
