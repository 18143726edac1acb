/** Who may decide the requests of a span, by the current rules and by the draft. */
import type { Tx } from '../../kernel/context.ts'
import type { Drafted } from '../../policies/drafts/drafted.ts'
import type { ApproveQuestion } from '../../policy-engine/cedar/question.ts'
import { decideApproveInPieces } from '../../policy-engine/deciding/decide.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { mayMindTime } from '../../policy-engine/deciding/reads-time.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import type { PolicyFacts } from '../../policy-facts/policy-facts.flow.ts'
import type { Span } from '../../requests/policy-question.ts'
import { possibleApprovers } from '../../requests/possible-approvers.flow.ts'
import { listRequestsAsked } from '../../requests/recorded-question-store.ts'
import { differenceOf, openApproverTally, openRequestTally } from './approver-tally.ts'
import { keepAnswers } from './ask-both.ts'
import { type ComparedApprovers, maxPairs, maxRequests } from './replay.ts'
import type { Answers } from './tally.ts'

/** After this many requests the run checks that it still has the replay. */
const requestsBetweenChecks = 50

/** What each of the two rule sets needs to know beyond a question's own facts. */
export type FactsOfBoth = { before: PolicyFacts; after: PolicyFacts }

export type Means = {
  facts: FactsOfBoth
  yieldToEventLoop: () => Promise<void>
  /** False where another worker has the replay now. */
  goesOn: () => Promise<boolean>
  /** The number of pairs of a request and a possible approver that are evaluated at most. */
  most?: number
}

/**
 * Compares the approvers of the requests of the span, the latest first, until the next request would exceed `most`. Null where nothing
 * can differ: both rule sets have the same rules of `approve`, and can both be asked about resources of unknown accounts; undefined where another worker has the replay now.
 */
export async function compareApprovers(
  tx: Tx,
  { before, after }: Pick<Drafted, 'before' | 'after'>,
  span: Span,
  { facts, yieldToEventLoop, goesOn, most = maxPairs }: Means,
): Promise<ComparedApprovers | null | undefined> {
  const [old, fresh] = [approveTextsOf(before), approveTextsOf(after)]
  if (JSON.stringify(old) === JSON.stringify(fresh) && hasTooMany(facts.before) === hasTooMany(facts.after)) return null
  const answersTo = askBothAboutApprovers({ before, after }, readableFacts([...(old ?? []), ...(fresh ?? [])], facts))
  const ids = await listRequestsAsked(tx, span, maxRequests)
  const tally = openApproverTally(ids.length)
  let pairs = 0
  for (const [index, id] of ids.entries()) {
    if (index % requestsBetweenChecks === 0 && !(await goesOn())) return undefined
    const one = openRequestTally()
    for await (const { request, approvers, questionFor } of possibleApprovers(tx, id)) {
      pairs += approvers.length
      if (pairs > most) return tally.result()
      one.isAbout(request)
      for (const approver of approvers) {
        const questions = { before: questionFor(approver, facts.before), after: questionFor(approver, facts.after) }
        one.add(approver.whole.id, differenceOf(await answersTo(questions)))
        await yieldToEventLoop()
      }
    }
    tally.add(one.result())
  }
  return tally.result()
}

/** The texts of the rules of `approve`, which alone decide who may decide; undefined where the rules cannot be parsed. */
function approveTextsOf(ruleSet: RuleSet): string[] | undefined {
  try {
    const { read } = draftEvaluator.rules.sorted(ruleSet)
    return [...read.values()].flatMap(({ sets, text }) => (sets.includes('approve') ? text : [])).sort()
  } catch {
    return undefined
  }
}

/** Whether the rules tell so many accounts apart that nothing is decided about a resource of an unknown one. */
function hasTooMany({ kinds }: PolicyFacts): boolean {
  return kinds === 'too_many'
}

/** Which facts that differ from request to request the rules may read: a name, or one that is written with escapes. */
function readableFacts(texts: readonly string[], { before, after }: FactsOfBoth) {
  const isIn = (words: RegExp) => texts.some((text) => words.test(text))
  return {
    time: texts.some(mayMindTime),
    address: isIn(/\bsource_ip\b|\\/),
    // The requester is among the entities of the question, so that a rule that reads a user by id may read the requester.
    requester: before.literals.size + after.literals.size > 0 || isIn(/\brequester\b|\\/),
    request: isIn(/\baccess_request\s*[:/]/),
  }
}

/** A question as it is put to each of the two rule sets. */
type PutToBoth = { before: ApproveQuestion; after: ApproveQuestion }

/** Decides by both rule sets. A question whose facts equal those of an earlier one, as far as rules can read them, is not evaluated again. */
function askBothAboutApprovers(
  { before, after }: Pick<Drafted, 'before' | 'after'>,
  reads: ReturnType<typeof readableFacts>,
): (questions: PutToBoth) => Promise<Answers> {
  const answersTo = keepAnswers()
  return (questions) =>
    answersTo([readFacts(questions.before, reads), readFacts(questions.after, reads)], async () => ({
      before: await decideApproveInPieces(before, questions.before, draftEvaluator),
      after: await decideApproveInPieces(after, questions.after, draftEvaluator),
    }))
}

function readFacts({ request, context, ...question }: ApproveQuestion, reads: ReturnType<typeof readableFacts>) {
  const { id, requester, ...asked } = request
  const { now, source_ip, ...circumstances } = context
  return [
    ...[question, asked, circumstances],
    ...[reads.request && id, reads.requester && requester, reads.time && now.getTime(), reads.address && source_ip],
  ]
}
