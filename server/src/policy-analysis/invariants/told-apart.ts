import { type PolicyEvaluator, readingOfRules } from '../../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'

/**
 * Whether one rule set tells accounts apart by something by which the other does not. A resource of an unknown account, which is refused
 * where the rules tell too many kinds of account apart, may then be permitted by the other.
 */
export function tellsMoreApart(one: RuleSet, other: RuleSet, evaluator: PolicyEvaluator): boolean {
  const [more, fewer] = [readingOfRules(evaluator, one).traits, readingOfRules(evaluator, other).traits]
  const misses = (some: readonly string[], others: readonly string[]) => some.some((trait) => !others.includes(trait))
  if (misses(more.account_ids, fewer.account_ids) || misses(more.unit_ids, fewer.unit_ids)) return true
  if (fewer.tags === 'all') return false
  return more.tags === 'all' || misses(more.tags, fewer.tags)
}
