/** Entities that rules name and read: how many a rule set may have, and what the author of a rule is told about them. */
import { Problem } from '../kernel/errors.ts'
import type { LiteralFacts } from '../policy-engine/cedar/question.ts'
import { type EntityReference, entityKey, maxLiterals } from '../policy-engine/cedar/reading.ts'
import { type PolicyEvaluator, readingOfRules } from '../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../policy-engine/deciding/rule-set.ts'

/**
 * The rule sets must be read.
 * @throws Problem 400 where a change makes the rules read more entities than they may; no more than before is always fine
 */
export function requireFewLiterals(evaluator: PolicyEvaluator, before: RuleSet, after: RuleSet): void {
  const [earlier, count] = [before, after].map((ruleSet) => readingOfRules(evaluator, ruleSet).literals.length) as [
    number,
    number,
  ]
  if (count <= Math.max(maxLiterals, earlier)) return
  const message =
    `with this, the rules would read attributes, tags or parents of ${count} entities that they name; ` +
    `at most ${maxLiterals} are possible: let rules read \`principal\` and \`resource\` instead`
  throw new Problem('invalid_policy', message, { details: { count, limit: maxLiterals } })
}

/** What a rule says about entities that it names and reads. */
export function literalWarnings(literals: readonly EntityReference[], facts: LiteralFacts): string[] {
  const [known, unknown] = [[] as string[], [] as string[]]
  for (const one of literals) {
    const key = entityKey(one)
    if (facts.get(key) == null) unknown.push(`\`${key}\``)
    else known.push(`\`${key}\``)
  }
  const warnings: string[] = []
  if (known.length > 0) warnings.push(`this rule reads what is known of ${known.join(', ')} at each decision`)
  if (unknown.length > 0)
    warnings.push(
      `this rule reads ${unknown.join(', ')}, of which nothing is known: no attributes, no tags and no parents`,
    )
  return warnings
}
