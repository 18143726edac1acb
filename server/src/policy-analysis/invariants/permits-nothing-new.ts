/** A changed rule set permits nothing new: no request that the current set refuses, and none more easily, and no new approver. */
import type { ApproveQuestion, AskQuestion } from '../../policy-engine/cedar/question.ts'
import { approveAction } from '../../policy-engine/cedar/schema.ts'
import { covers } from '../../policy-engine/cedar/scope.ts'
import { ruleSetsOf } from '../../policy-engine/cedar/validate.ts'
import { type Decision, decideApprove, decideAsk } from '../../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { approvalTarget, couldApprove } from './approval.ts'
import type { Constraints } from './constraints.ts'
import { questionOf } from './made-question.ts'
import { couldMatchBoth } from './no-auto-approval.ts'
import type { Counterexample, Outcome } from './outcome.ts'
import { actionIn, isAboutApproving, isAsked, type ReadRule } from './read-rule.ts'
import { type Budget, isSpent, type Means, partOf, search, type Target } from './search.ts'
import { tellsMoreApart } from './told-apart.ts'
import { principalIn, resourcesIn } from './witness.ts'

/** Two rule sets, and their rules read. */
export type Compared = { before: RuleSet; after: RuleSet; old: readonly ReadRule[]; changed: readonly ReadRule[] }

/**
 * Proved where a permit of the current set covers each permit of the changed set, and a forbid of the changed set covers each forbid
 * of the current set, and where the changed set tells apart all accounts that the current set does. Then the changed set permits no
 * further question.
 */
export async function permitsNothingNew({ before, after, old, changed }: Compared, means: Means): Promise<Outcome> {
  const { budget } = means
  const wider = await without(permitsOf(changed), permitsOf(old), permitHolds, budget)
  const dropped = await without(forbidsOf(old), forbidsOf(changed), forbidHolds, budget)
  if (wider.length + dropped.length === 0) {
    return { result: tellsMoreApart(before, after, means.evaluator) ? 'not_found_in_search' : 'proved', tried: 0 }
  }
  const found = await searched({ wider, dropped, old, changed }, { before, after }, means)
  if (found !== undefined) return { result: 'counterexample', tried: budget.tried, counterexample: found }
  return { result: 'not_found_in_search', tried: budget.tried }
}

type TwoSets = Pick<Compared, 'before' | 'after'>

/** The share of the budget for questions about approvers, where there are others to search. */
const approversShare = 0.25

async function searched(differences: Differences, sets: TwoSets, means: Means): Promise<Counterexample | undefined> {
  const { budget } = means
  const { wider, dropped } = differences
  const ofAsking = [...wider, ...dropped].some(({ scope }) => ruleSetsOf(scope.action).includes('ask'))
  const part = partOf(budget, ofAsking ? approversShare : 1)
  const approver = (question: ApproveQuestion) => newApprover(sets, question, means)
  const made = await firstOf(approvalTargetsOf(differences, part), approver, part)
  budget.tried += part.tried
  if (made !== undefined) return made
  return firstOf(targetsOf(differences, budget), (question) => loosened(sets, question, means), budget)
}

async function firstOf<Question, Found>(
  targets: AsyncIterable<Target<Question>>,
  judge: (question: Question) => Found | undefined,
  budget: Budget,
): Promise<Found | undefined> {
  for await (const target of targets) {
    const found = await search(target, judge, budget)
    if (found !== undefined) return found
  }
  return undefined
}

/** Permits that may make somebody an approver: one that is wider, or one of those that a gone forbid stopped. */
async function* approvalTargetsOf({ wider, dropped, old, changed }: Differences, budget: Budget) {
  const approving = (rules: readonly ReadRule[]) => rules.filter(isAboutApproving)
  const [permits, forbids] = [approving(permitsOf(changed)), approving(forbidsOf(changed))]
  for (const permit of approving(wider))
    yield approvalTarget({ given: new Map(), holding: [permit], silent: [...forbids, ...permitsOf(old)] })
  for (const gone of approving(dropped))
    for (const permit of permits) {
      if (isSpent(budget)) return
      await budget.yieldToEventLoop()
      if (couldApprove([permit.scope, gone.scope]))
        yield approvalTarget({ given: new Map(), holding: [permit, gone], silent: forbids })
    }
}

function newApprover(
  { before, after }: TwoSets,
  question: ApproveQuestion,
  { evaluator, literals }: Means,
): Counterexample<ApproveQuestion> | undefined {
  const asked = { ...question, ...(literals && { literals }) }
  const decision = decideApprove(after, asked, evaluator)
  if (!decision.allowed) return undefined
  const was = decideApprove(before, asked, evaluator)
  return was.allowed ? undefined : { question, decision, before: was }
}

const permitsOf = (rules: readonly ReadRule[]) => rules.filter(({ rule }) => rule.effect === 'permit')
const forbidsOf = (rules: readonly ReadRule[]) => rules.filter(({ rule }) => rule.effect === 'forbid')

/** The rules that no rule of `others` covers. */
async function without(
  rules: readonly ReadRule[],
  others: readonly ReadRule[],
  holds: (rule: ReadRule, other: ReadRule) => boolean,
  budget: Budget,
): Promise<ReadRule[]> {
  const byId = new Map(others.map((other) => [other.rule.id, other]))
  const left: ReadRule[] = []
  for (const rule of rules) {
    const same = byId.get(rule.rule.id)
    if (same !== undefined && holds(rule, same)) continue
    await budget.yieldToEventLoop()
    if (isSpent(budget) || !others.some((other) => holds(rule, other))) left.push(rule)
  }
  return left
}

/** Whether the wide rule matches whenever the narrow one does; false where that is uncertain. */
function matchesWhenever(wide: ReadRule, narrow: ReadRule): boolean {
  return (wide.conditions === '' || wide.conditions === narrow.conditions) && covers(wide.scope, narrow.scope)
}

/** The old permit gives everything that the new one gives, as easily. An `auto` permit does not count for the user who saved it. */
function permitHolds(fresh: ReadRule, old: ReadRule): boolean {
  const [mode, given] = [fresh.rule.approval_mode ?? 'require', old.rule.approval_mode ?? 'require']
  const sameSaver = old.rule.saved_by === fresh.rule.saved_by || old.rule.saved_by === null
  const asEasily = given === mode ? mode !== 'auto' || sameSaver : given === 'auto' && mode === 'require'
  return asEasily && matchesWhenever(old, fresh)
}

/** The new forbid stops everything that the old one stops. */
function forbidHolds(old: ReadRule, fresh: ReadRule): boolean {
  const { approval_mode: mode } = fresh.rule
  return (mode === null || mode === old.rule.approval_mode) && matchesWhenever(fresh, old)
}

type Differences = Pick<Compared, 'old' | 'changed'> & { wider: readonly ReadRule[]; dropped: readonly ReadRule[] }

async function* targetsOf(differences: Differences, budget: Budget): AsyncGenerator<Target<AskQuestion>> {
  const { wider, dropped, changed } = differences
  for (const permit of wider) yield* pathsOf(permit, undefined, differences)
  for (const forbid of dropped)
    for (const permit of permitsOf(changed)) {
      if (isSpent(budget)) return
      await budget.yieldToEventLoop()
      if (couldMatchBoth(permit.scope, forbid.scope)) yield* pathsOf(permit, forbid, differences)
    }
}

/** Permits that may permit something new, for each kind of request: where a forbid is gone, or where there was no permit. */
function* pathsOf(
  permit: ReadRule,
  gone: ReadRule | undefined,
  { old, changed }: Differences,
): Generator<Target<AskQuestion>> {
  for (const path of ['ordinary', 'emergency'] as const) {
    if (!isAsked(permit, path)) continue
    const scopes = gone === undefined ? [permit.scope] : [permit.scope, gone.scope]
    const principal = principalIn(scopes.map((scope) => scope.principal))
    const action = gone === undefined ? actionIn(permit.scope) : actionIn(permit.scope, gone.scope.action)
    if (principal === undefined || action === undefined) continue
    const others = permit.scope.action.ids.filter((id) => id !== approveAction && id !== action && gone === undefined)
    const frames = resourcesIn(scopes.map((scope) => scope.resource)).flatMap((resource) =>
      [action, ...others.slice(0, maxActions)].map((one) => ({
        principal,
        action: one,
        resource,
        break_glass: path === 'emergency',
      })),
    )
    const near = (one: ReadRule) => isAsked(one, path) && couldMatchBoth(permit.scope, one.scope)
    const silent = [...forbidsOf(changed), ...(gone === undefined ? permitsOf(old) : [])].filter(near)
    const makers = frames.map((frame) => (constraints: Constraints) => questionOf(frame, constraints))
    yield { makers, given: new Map(), holding: gone === undefined ? [permit] : [permit, gone], silent }
  }
}

const maxActions = 10

/** How easily a decision gives access: not at all, by a person's decision, at once. */
function ease({ allowed, mode }: Decision): number {
  return !allowed ? 0 : mode === 'require' ? 1 : 2
}

function loosened(
  { before, after }: Pick<Compared, 'before' | 'after'>,
  question: AskQuestion,
  { evaluator, literals }: Means,
): Counterexample<AskQuestion> | undefined {
  const asked = { ...question, ...(literals && { literals }) }
  const decision = decideAsk(after, asked, evaluator)
  if (!decision.allowed) return undefined
  const was = decideAsk(before, asked, evaluator)
  return ease(decision) > ease(was) ? { question, decision, before: was } : undefined
}
