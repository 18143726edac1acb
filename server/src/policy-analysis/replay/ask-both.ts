/** One question, answered by the present rules and by the draft. */
import { createHash } from 'node:crypto'
import { createLruCache } from '../../kernel/lru-cache.ts'
import type { Drafted } from '../../policies/drafts/drafted.ts'
import { type Decision, decideApprove, decideAsk } from '../../policy-engine/deciding/decide.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import type { RecordedQuestion } from '../../requests/policy-question.ts'
import type { Answers } from './tally.ts'

/** So many answers are kept for a question that comes again, and at most twice as many. */
const maxAnswers = 10_000

/**
 * Answers questions, each by both rule sets on the same facts, so that a difference is the rules' alone. One that was
 * answered already, to the last fact, is not put again; the moment of asking counts as a fact only where a rule may mind it.
 */
export async function askBoth({ before, after }: Drafted): Promise<(asked: RecordedQuestion) => Answers> {
  await draftEvaluator.rules.prepare(before)
  await draftEvaluator.rules.prepare(after, before)
  const kept = createLruCache<Answers>(maxAnswers)
  const timely = [before, after].some(mayMindTime)
  return (asked) => {
    const key = keyOf(asked, timely)
    let answers = kept.get(key)
    if (answers === undefined) {
      answers = { before: decide(before, asked), after: decide(after, asked) }
      kept.set(key, answers)
    }
    return answers
  }
}

function decide(ruleSet: RuleSet, asked: RecordedQuestion): Decision {
  return asked.kind === 'ask'
    ? decideAsk(ruleSet, asked.policyQuestion, draftEvaluator)
    : decideApprove(ruleSet, asked.policyQuestion, draftEvaluator)
}

/** A rule gets at the moment by one of these names, or by one that is written with escapes. */
function mayMindTime({ rules }: RuleSet): boolean {
  return rules.some(({ policy_text }) => /\b(?:now|weekday|minute)\b|\\/.test(policy_text))
}

function keyOf({ kind, policyQuestion }: RecordedQuestion, timely: boolean): string {
  const { now, ...context } = policyQuestion.context
  const facts = [kind, { ...policyQuestion, context }, timely ? now.getTime() : null]
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64')
}
