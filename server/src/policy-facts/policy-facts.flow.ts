import type { Ctx, Tx } from '../kernel/context.ts'
import type { LiteralFacts } from '../policy-engine/cedar/question.ts'
import { type EntityReference, unitedReadings } from '../policy-engine/cedar/reading.ts'
import { type PolicyEvaluator, policyEvaluator, readingOfRules } from '../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../policy-engine/deciding/rule-set.ts'
import type { AccountKind } from './account-kind.ts'
import { newLiterals, requireMayRead } from './literals.ts'
import { readPolicyFacts } from './policy-facts-store.ts'

/** What rules need to know beyond a question's own facts. */
export type PolicyFacts = {
  literals: LiteralFacts
  /** The kinds of account in which a resource of an unknown account may lie; none where that was not asked. */
  kinds: readonly AccountKind[] | 'too_many'
}

export const noFacts: PolicyFacts = { literals: new Map(), kinds: [] }

/**
 * The facts that these rule sets need. No round trip, except one where the rules name and read entities, or where the account of a
 * resource is unknown. `isEarlier`: the database may be of an earlier version.
 */
export async function findPolicyFacts(
  tx: Tx,
  ruleSets: readonly RuleSet[],
  {
    accountUnknown = false,
    evaluator = policyEvaluator,
    isEarlier = false,
  }: { accountUnknown?: boolean; evaluator?: PolicyEvaluator; isEarlier?: boolean } = {},
): Promise<PolicyFacts> {
  for (const [index, ruleSet] of ruleSets.entries()) await evaluator.rules.read(ruleSet, ruleSets[index - 1])
  const readings = ruleSets.map((ruleSet) => readingOfRules(evaluator, ruleSet))
  const [only, ...more] = readings
  // Most often there is one rule set, whose rules were united when it was read.
  const { literals, traits } = only !== undefined && more.length === 0 ? only : unitedReadings(readings)
  if (literals.length === 0 && !accountUnknown) return noFacts
  return readPolicyFacts(tx, literals, accountUnknown ? traits : undefined, isEarlier)
}

/** What a computation beside the main thread, which has no database, answers where the rules of a draft read entities. */
type NeedsLiterals = { needs_literals: readonly EntityReference[]; new_literals: readonly EntityReference[] }

/**
 * The entities that the rules of a draft and the current rules read, and those that its new and changed rules read, where the computation was not
 * given the facts about them; undefined where it can go on.
 */
export function literalsMissing(
  evaluator: PolicyEvaluator,
  { before, after }: { before: RuleSet; after: RuleSet },
  given: LiteralFacts | undefined,
): NeedsLiterals | undefined {
  const { literals } = unitedReadings([before, after].map((ruleSet) => readingOfRules(evaluator, ruleSet)))
  if (given !== undefined || literals.length === 0) return undefined
  return { needs_literals: literals, new_literals: newLiterals(evaluator, before, after) }
}

/** The facts about entities that rules read by name. No round trip where they read none. */
export async function findLiteralFacts(tx: Tx, named: readonly EntityReference[]): Promise<LiteralFacts> {
  return named.length === 0 ? noFacts.literals : (await readPolicyFacts(tx, named, undefined)).literals
}

/**
 * Runs a computation; where its rules read entities, once more with the facts about them.
 * @throws Problem 403 where the caller may not read what new and changed rules of the draft read
 */
export async function withLiteralFacts<Result extends object>(
  { tx, actor }: Pick<Ctx, 'tx' | 'actor'>,
  compute: (literals: LiteralFacts | undefined) => Promise<Result | NeedsLiterals>,
): Promise<Result> {
  const first = await compute(undefined)
  if (!('needs_literals' in first)) return first
  requireMayRead(actor.scopes, first.new_literals)
  return (await compute(await findLiteralFacts(tx, first.needs_literals))) as Result
}
