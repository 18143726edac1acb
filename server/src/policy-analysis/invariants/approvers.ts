/** Nobody but members of the named groups and roles, and the named users, may decide requests for the named resources. */
import type { ApproveQuestion } from '../../policy-engine/cedar/question.ts'
import { type EntityScope, entityCovers } from '../../policy-engine/cedar/scope.ts'
import { decideApprove } from '../../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { approvalTarget, couldApprove, requestedIn, usersIn } from './approval.ts'
import type { Constraints } from './constraints.ts'
import { holdForAllBut, holdOnlyFor, isMember, type Member, matchesOnly } from './membership.ts'
import { constraintsOf, type Named } from './no-auto-approval.ts'
import type { Counterexample, Outcome } from './outcome.ts'
import { isAboutApproving, type ReadRule } from './read-rule.ts'
import { type Budget, isSpent, type Means, search } from './search.ts'

export type ApproversCheck = { named: readonly Named[]; only: readonly Member[] }

/** A permit that could let somebody else decide a request for the named resources. */
type Suspect = { permit: ReadRule; named: Named }

/**
 * Proved where each permit of `approve` matches nobody else, or no request for these resources, or a forbid lets nobody else pass
 * there. A question about several resources is allowed only if it is for each of them, so that single resources are enough.
 */
export async function onlyApprovers(
  ruleSet: RuleSet,
  rules: readonly ReadRule[],
  { named, only, ...means }: Means & ApproversCheck,
): Promise<Outcome<ApproveQuestion>> {
  const { budget } = means
  const approving = rules.filter(isAboutApproving)
  const forbids = approving.filter(({ rule }) => rule.effect === 'forbid')
  const permits = approving.filter(({ rule }) => rule.effect === 'permit')
  const suspects = await suspectsOf({ permits, forbids }, { named, only }, budget)
  if (suspects.length === 0) return { result: 'proved', tried: 0 }
  const judge = (question: ApproveQuestion) => outsider(ruleSet, question, only, means)
  for (const { permit, named: one } of suspects) {
    if (isSpent(budget)) break
    const target = { given: strangers(one, only), holding: [permit], silent: forbids }
    const found = await search(approvalTarget(target, [one.scope]), judge, budget)
    if (found !== undefined) return { result: 'counterexample', tried: budget.tried, counterexample: found }
  }
  return { result: 'not_found_in_search', tried: budget.tried }
}

type ApproveRules = { permits: readonly ReadRule[]; forbids: readonly ReadRule[] }

async function suspectsOf(
  { permits, forbids }: ApproveRules,
  { named, only }: ApproversCheck,
  budget: Budget,
): Promise<Suspect[]> {
  // A forbid that lets others pass closes nothing, whatever it covers.
  const closing = forbids.filter(({ clauses }) => holdForAllBut(clauses, only))
  const suspects: Suspect[] = []
  for (const permit of permits) {
    await budget.yieldToEventLoop()
    const isFor = () => matchesOnly(usersIn(permit.scope.principal), only) || holdOnlyFor(permit.clauses, only)
    const isOpen = ({ scope }: Named) =>
      couldApprove([permit.scope], [scope]) && !isFor() && !closing.some((forbid) => closes(forbid, permit, scope))
    suspects.push(...named.flatMap((one) => (isSpent(budget) || isOpen(one) ? { permit, named: one } : [])))
  }
  return suspects
}

/** Whether the scope of the forbid covers everything that the permit's scope covers in these resources. */
function closes(forbid: ReadRule, permit: ReadRule, named: EntityScope): boolean {
  const [wide, narrow] = [requestedIn(forbid.scope.resource), requestedIn(permit.scope.resource)]
  if (wide === undefined || wide === 'one_request') return false
  const covered = narrow === undefined || narrow === 'one_request' ? [named] : [narrow, named]
  return (
    entityCovers(usersIn(forbid.scope.principal), usersIn(permit.scope.principal)) &&
    covered.some((one) => entityCovers(wide, one))
  )
}

/** The constraints that the approver is none of these. */
function strangers(named: Named, only: readonly Member[]): Constraints {
  const given = constraintsOf(named)
  const users = only.flatMap(({ type, id }) => (type === 'User' ? id : []))
  if (users.length > 0) given.set('principal.id', { not: users })
  for (const { type, id } of only) if (type !== 'User') given.set(`member:${type}::${id}`, { is: false })
  return given
}

function outsider(
  ruleSet: RuleSet,
  question: ApproveQuestion,
  only: readonly Member[],
  { evaluator, literals }: Means,
): Counterexample<ApproveQuestion> | undefined {
  if (isMember(question.principal, only)) return undefined
  const decision = decideApprove(ruleSet, { ...question, ...(literals && { literals }) }, evaluator)
  return decision.allowed ? { question, decision } : undefined
}
