/** A changed rule set permits nothing new: no request that the current set refuses, and none more easily. */
import type { AskQuestion } from '../../policy-engine/cedar/question.ts'
import { approveAction } from '../../policy-engine/cedar/schema.ts'
import { covers } from '../../policy-engine/cedar/scope.ts'
import { type Decision, decideAsk } from '../../policy-engine/deciding/decide.ts'
import { type PolicyEvaluator, readingOfRules } from '../../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { couldMatchBoth } from './no-auto-approval.ts'
import type { Counterexample, Outcome } from './outcome.ts'
import { actionIn, isAsked, type ReadRule } from './read-rule.ts'
import { type Budget, isSpent, type Means, search } from './search.ts'
import { principalIn, resourcesIn } from './witness.ts'

/** Two rule sets, and their rules read. */
export type Compared = { before: RuleSet; after: RuleSet; old: readonly ReadRule[]; changed: readonly ReadRule[] }

/**
 * Proved where a permit of the current set covers each permit of the changed set, and a forbid of the changed set covers each forbid
 * of the current set. Then the changed set permits no further question.
 */
export async function permitsNothingNew({ before, after, old, changed }: Compared, means: Means): Promise<Outcome> {
  const { budget } = means
  const wider = await without(permitsOf(changed), permitsOf(old), permitHolds, budget)
  const dropped = await without(forbidsOf(old), forbidsOf(changed), forbidHolds, budget)
  if (wider.length + dropped.length === 0) {
    return { result: tellsApart(before, after, means.evaluator) ? 'not_found_in_search' : 'proved', tried: 0 }
  }
  const judge = (question: AskQuestion) => loosened({ before, after }, question, means)
  for await (const target of targetsOf({ wider, dropped, old, changed }, budget)) {
    const found = await search(target, judge, budget)
    if (found !== undefined) return { result: 'counterexample', tried: budget.tried, counterexample: found }
  }
  return { result: 'not_found_in_search', tried: budget.tried }
}

/**
 * Whether the current rules tell accounts apart by something by which the changed rules do not. A resource of an unknown account, which
 * is refused where the rules tell too many kinds of account apart, may then be permitted.
 */
function tellsApart(before: RuleSet, after: RuleSet, evaluator: PolicyEvaluator): boolean {
  const [old, fresh] = [readingOfRules(evaluator, before).traits, readingOfRules(evaluator, after).traits]
  const misses = (some: readonly string[], others: readonly string[]) => some.some((one) => !others.includes(one))
  if (misses(old.account_ids, fresh.account_ids) || misses(old.unit_ids, fresh.unit_ids)) return true
  if (fresh.tags === 'all') return false
  return old.tags === 'all' || misses(old.tags, fresh.tags)
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

async function* targetsOf(differences: Differences, budget: Budget) {
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
function* pathsOf(permit: ReadRule, gone: ReadRule | undefined, { old, changed }: Differences) {
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
    yield { frames, given: new Map(), holding: gone === undefined ? [permit] : [permit, gone], silent }
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
): Counterexample | undefined {
  const asked = { ...question, ...(literals && { literals }) }
  const decision = decideAsk(after, asked, evaluator)
  if (!decision.allowed) return undefined
  const was = decideAsk(before, asked, evaluator)
  return ease(decision) > ease(was) ? { question, decision, before: was } : undefined
}
