/** One question, answered in two ways. */
import { createHash } from 'node:crypto'
import { createLruCache } from '../../kernel/lru-cache.ts'
import { type Decision, decideApproveInPieces, decideAskInPieces } from '../../policy-engine/deciding/decide.ts'
import type { PolicyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { mayMindTime } from '../../policy-engine/deciding/reads-time.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import type { PutQuestion } from '../../requests/policy-question.ts'
import type { Answers } from './tally.ts'

/** At least this many answers are cached for repeated questions, and at most twice as many. */
const maxAnswers = 10_000

/** Rules, and the question as it is put to them. */
export type Asked = { ruleSet: RuleSet; question: PutQuestion }

/** Keeps the answers to repeated questions, by the facts that they depend on. */
export function keepAnswers(): (facts: unknown, answer: () => Promise<Answers>) => Promise<Answers> {
  const kept = createLruCache<Answers>(maxAnswers)
  return async (facts, answer) => {
    const key = createHash('sha256').update(JSON.stringify(facts)).digest('base64')
    let answers = kept.get(key)
    if (answers === undefined) {
      answers = await answer()
      kept.set(key, answers)
    }
    return answers
  }
}

/**
 * Answers questions in two ways, each time by the same two rule sets. A question with exactly the same facts as an earlier one is not
 * evaluated again. Its time counts as a fact only where a rule may depend on it; the facts about entities that rules name must be
 * the same for all questions.
 */
export function openAnswers(
  ruleSets: readonly RuleSet[],
  evaluator: PolicyEvaluator,
): (before: Asked, after: Asked) => Promise<Answers> {
  const answersTo = keepAnswers()
  const timely = ruleSets.some(({ rules }) => rules.some(({ policy_text }) => mayMindTime(policy_text)))
  return (before, after) =>
    answersTo([factsOf(before.question, timely), factsOf(after.question, timely)], async () => ({
      before: await decide(before, evaluator),
      after: await decide(after, evaluator),
    }))
}

function decide({ ruleSet, question: { kind, policyQuestion } }: Asked, evaluator: PolicyEvaluator): Promise<Decision> {
  return kind === 'ask'
    ? decideAskInPieces(ruleSet, policyQuestion, evaluator)
    : decideApproveInPieces(ruleSet, policyQuestion, evaluator)
}

function factsOf({ kind, policyQuestion }: PutQuestion, timely: boolean) {
  const { now, ...context } = policyQuestion.context
  return [kind, { ...policyQuestion, context }, timely ? now.getTime() : null]
}
