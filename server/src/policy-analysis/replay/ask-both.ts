/** One question, evaluated by the current rules and by the draft. */
import { createHash } from 'node:crypto'
import { createLruCache } from '../../kernel/lru-cache.ts'
import type { Drafted } from '../../policies/drafts/drafted.ts'
import { type Decision, decideApproveInPieces, decideAskInPieces } from '../../policy-engine/deciding/decide.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import type { RecordedQuestion } from '../../requests/policy-question.ts'
import type { Answers } from './tally.ts'

/** At least this many answers are cached for repeated questions, and at most twice as many. */
const maxAnswers = 10_000

/**
 * Evaluates each question by both rule sets on the same facts, so that only the rules can cause a difference. A question with exactly
 * the same facts as an earlier one is not evaluated again. Its time counts as a fact only where a rule may depend on it.
 */
export async function askBoth({ before, after }: Drafted): Promise<(asked: RecordedQuestion) => Promise<Answers>> {
  await draftEvaluator.rules.prepare(before)
  await draftEvaluator.rules.prepare(after, before)
  const kept = createLruCache<Answers>(maxAnswers)
  const timely = [before, after].some(mayMindTime)
  return async (asked) => {
    const key = keyOf(asked, timely)
    let answers = kept.get(key)
    if (answers === undefined) {
      answers = { before: await decide(before, asked), after: await decide(after, asked) }
      kept.set(key, answers)
    }
    return answers
  }
}

function decide(ruleSet: RuleSet, asked: RecordedQuestion): Promise<Decision> {
  return asked.kind === 'ask'
    ? decideAskInPieces(ruleSet, asked.policyQuestion, draftEvaluator)
    : decideApproveInPieces(ruleSet, asked.policyQuestion, draftEvaluator)
}

/** A rule can read the time only by one of these names, or by a name that is written with escapes. */
function mayMindTime({ rules }: RuleSet): boolean {
  return rules.some(({ policy_text }) => /\b(?:now|weekday|minute)\b|\\/.test(policy_text))
}

function keyOf({ kind, policyQuestion }: RecordedQuestion, timely: boolean): string {
  const { now, ...context } = policyQuestion.context
  const facts = [kind, { ...policyQuestion, context }, timely ? now.getTime() : null]
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64')
}
