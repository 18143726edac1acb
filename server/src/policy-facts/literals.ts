/** Entities that rules name and read: how many a rule set may have, and what the author of a rule is told about them. */
import { Problem } from '../kernel/errors.ts'
import type { LiteralFacts } from '../policy-engine/cedar/question.ts'
import { type EntityReference, entityKey, maxLiterals, unitedReadings } from '../policy-engine/cedar/reading.ts'
import { type PolicyEvaluator, readingOfRules } from '../policy-engine/deciding/evaluate.ts'
import type { ReadRule, RuleSet } from '../policy-engine/deciding/rule-set.ts'

/**
 * Reads the rule sets, where that is not done.
 * @throws Problem 400 where a change makes the rules read more entities than they may; no more than before is always fine
 */
export async function requireFewLiterals(evaluator: PolicyEvaluator, before: RuleSet, after: RuleSet): Promise<void> {
  await evaluator.rules.read(before)
  await evaluator.rules.read(after, before)
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

/**
 * The entities that new and changed rules read by name, also where another rule reads them already: each condition tells something else
 * of them. Both rule sets must be read.
 */
export function newLiterals(evaluator: PolicyEvaluator, before: RuleSet, after: RuleSet): EntityReference[] {
  const texts = new Set(before.rules.map(({ policy_text }) => policy_text))
  const changed = readRules(evaluator, after).filter(({ text }) => !texts.has(text))
  return [...unitedReadings(changed.map(({ reading }) => reading)).literals]
}

/** None where the rules cannot be parsed, because every question is then denied. */
function readRules(evaluator: PolicyEvaluator, ruleSet: RuleSet): ReadRule[] {
  try {
    return [...evaluator.rules.sorted(ruleSet).read.values()]
  } catch {
    return []
  }
}

/** The scope with which a caller may read what rules can read of an entity. */
const scopeToRead = (one: EntityReference) => (one.type === 'User' ? 'users:read' : 'cloud_accounts:read')

/** Whether the caller may know of the entity. */
function mayRead(scopes: ReadonlySet<string>, one: EntityReference): boolean {
  return scopes.has(scopeToRead(one))
}

/**
 * Rules are evaluated with the tenant's own facts about entities that they name, so that their outcome tells of them, be it as a draft or
 * once they are saved.
 * @throws Problem 403 naming the scope without which the caller may not read one of them
 */
export function requireMayRead(scopes: ReadonlySet<string>, named: readonly EntityReference[]): void {
  const one = named.find((literal) => !mayRead(scopes, literal))
  if (one === undefined) return
  const scope = scopeToRead(one)
  const message = `a new or changed rule reads \`${entityKey(one)}\`, which you may read only with the scope \`${scope}\``
  throw new Problem('forbidden', message, { details: { scope } })
}

/** The keys of the entities of which nothing is known, as far as the caller may know that. */
export function unknownTo(scopes: ReadonlySet<string>, literals: readonly EntityReference[], facts: LiteralFacts) {
  const unknown = literals.filter((one) => mayRead(scopes, one) && facts.get(entityKey(one)) === null)
  return new Set(unknown.map(entityKey))
}

/** What the author of a rule is told about the entities that it names and reads. */
export function literalWarnings(literals: readonly EntityReference[], unknown: ReadonlySet<string>): string[] {
  const keys = literals.map(entityKey)
  const listed = (some: readonly string[]) => some.map((key) => `\`${key}\``).join(', ')
  const read = keys.filter((key) => !unknown.has(key))
  const gone = keys.filter((key) => unknown.has(key))
  return [
    ...(read.length > 0 ? [`this rule reads what is known of ${listed(read)} at each decision`] : []),
    ...(gone.length > 0
      ? [`this rule reads ${listed(gone)}, of which nothing is known: no attributes, no tags and no parents`]
      : []),
  ]
}
