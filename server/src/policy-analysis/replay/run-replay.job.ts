import type { WorkItem } from '../../jobs/claim.ts'
import type { DueWork } from '../../jobs/work-list.ts'
import { beside } from '../../kernel/beside.ts'
import type { Tx } from '../../kernel/context.ts'
import { Problem } from '../../kernel/errors.ts'
import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import { readPresent } from '../../policies/drafts/draft-store.ts'
import { applyDraft, type Drafted, draftedModule } from '../../policies/drafts/drafted.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { newLiterals, requireFewLiterals } from '../../policy-facts/literals.ts'
import { findPolicyFacts } from '../../policy-facts/policy-facts.flow.ts'
import { type Recording, recordedQuestion, type Span } from '../../requests/policy-question.ts'
import { countRecorded, readRecordings } from '../../requests/recorded-question-store.ts'
import { openAnswers } from './ask-both.ts'
import { compareApprovers, type FactsOfBoth } from './compare-approvers.flow.ts'
import { isReadAtOnce, maxQuestions, type ReplayResult } from './replay.ts'
import { endReplay, type OpenReplay, openReplay, removeReplay, saveProgress } from './replay-store.ts'
import { openTally } from './tally.ts'

/** A replay that was interrupted this often probably crashes the process that runs it. */
const maxAttempts = 3

const pageSize = 200

/** A replay is less urgent than API calls, so it yields to the event loop often. */
const yieldAfterMs = 4

/**
 * Runs a replay, from its beginning where an earlier process did not finish, because a result depends on one version of the current
 * rules. A finished replay is deleted when its retention ends.
 */
export const runReplay: DueWork = {
  table: 'policy_replay',
  bounds: { width: 1, perTenant: 1 },
  async run({ tx }, item) {
    const replay = await openReplay(tx, item)
    if (replay === undefined) return removeReplay(tx, item)
    if (replay.attempts > maxAttempts) {
      const message = `the replay started ${maxAttempts} times and never finished`
      return endReplay(tx, item, { status: 'failed', error: { code: 'internal', message } })
    }
    try {
      const drafted = await draftedNow(tx, item, replay)
      const result = await replayAll(tx, item, drafted, replay.span)
      if (result !== undefined) await endReplay(tx, item, { status: 'done', result })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { code, message, details } = error
      await endReplay(tx, item, { status: 'failed', error: { code, message, ...(details && { details }) } })
    }
  },
}

async function draftedNow(tx: Tx, { id }: WorkItem, { draft, created_by }: OpenReplay): Promise<Drafted> {
  const of = { id, author: created_by, pointer: '/draft' }
  const args: Parameters<typeof applyDraft> = [await readPresent(tx, draft), draft, of]
  const drafted = await beside.run(tx.tenant_id, draftedModule, applyDraft, args)
  const { before, after } = drafted
  await draftEvaluator.rules.prepare(before)
  await draftEvaluator.rules.prepare(after, before)
  await requireFewLiterals(draftEvaluator, before, after)
  // The rights of the caller are checked with a draft that is read when it is sent.
  if (!isReadAtOnce(draft) && newLiterals(draftEvaluator, before, after).length > 0) {
    const message = 'a new or changed rule in a draft of this size cannot read entities by name'
    throw new Problem('invalid_policy', message)
  }
  return drafted
}

/** For each rule set the facts that its own rules need: only the rules can cause a difference. */
async function factsOfBoth(tx: Tx, { before, after }: Drafted): Promise<FactsOfBoth> {
  const needs = { accountUnknown: true, evaluator: draftEvaluator }
  return { before: await findPolicyFacts(tx, [before], needs), after: await findPolicyFacts(tx, [after], needs) }
}

/** Answers a recording by both rule sets. */
async function openComparison(tx: Tx, drafted: Drafted) {
  const { before, after } = drafted
  const answersTo = openAnswers([before, after], draftEvaluator)
  const facts = await factsOfBoth(tx, drafted)
  return async (recording: Recording) => {
    const question = recordedQuestion(recording, facts.before)
    const one = { ruleSet: before, question }
    const other = { ruleSet: after, question: recordedQuestion(recording, facts.after) }
    return { question, answers: await answersTo(one, other) }
  }
}

/** Undefined where another worker has the replay now. */
async function replayAll(tx: Tx, item: WorkItem, drafted: Drafted, span: Span): Promise<ReplayResult | undefined> {
  const total = await countRecorded(tx, span, maxQuestions)
  const compare = await openComparison(tx, drafted)
  const isOurs = (asked: number) => saveProgress(tx, item, asked, total)
  const tally = openTally(drafted)
  const yieldToEventLoop = periodicYield(yieldAfterMs)
  let after: string | undefined
  for (let asked = 0; await isOurs(asked); ) {
    const page = await readRecordings(tx, span, { after, limit: Math.min(pageSize, total - asked) })
    for (const recording of page) {
      const { question, answers } = await compare(recording)
      tally.add(question, answers)
      await yieldToEventLoop()
    }
    asked += page.length
    after = page.at(-1)?.shown.id
    if (after === undefined || asked >= total) {
      const facts = await factsOfBoth(tx, drafted)
      const means = { facts, yieldToEventLoop, goesOn: () => isOurs(asked) }
      const approvers = await compareApprovers(tx, drafted, span, means)
      return approvers === undefined ? undefined : { ...tally.result(), approvers }
    }
  }
  return undefined
}
