/** What an upgrade changes for a tenant: its recorded questions, answered as the former version did and as this one. */
import type { Tx } from '../../kernel/context.ts'
import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import { policyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { findRuleSet, readRuleSetVersion } from '../../policy-engine/deciding/rule-set-store.ts'
import { findPolicyFacts } from '../../policy-facts/policy-facts.flow.ts'
import { formerQuestion } from '../../requests/former-question.ts'
import {
  accountDoubt,
  type RecordedQuestion,
  type Recording,
  recordedQuestion,
  type Span,
} from '../../requests/policy-question.ts'
import { countRecorded, readRecordings } from '../../requests/recorded-question-store.ts'
import { openAnswers } from './ask-both.ts'
import { type ChangedQuestion, maxQuestions } from './replay.ts'
import { type Answers, type Counts, changedQuestion, count, differencesOf, isUndecidable, noCounts } from './tally.ts'

const pageSize = 200

/** A question that the two versions decide differently. */
export type ChangedByUpgrade = ChangedQuestion & {
  /** Whether the account of the requested resource is known, or why it is not. */
  account: 'known' | 'unnamed' | 'unconfirmed'
  requester_email: string
  approver_email: string | null
}

export type UpgradeReplay = {
  rule_set_version: string
  /** True: the tenant has older questions in the time span, which were not compared. */
  has_more: boolean
  /** `undecidable`: the engine could not answer, and both versions deny. What one version alone cannot answer is changed. */
  counts: Counts & { questions: number; undecidable: number }
  changed_by_account: Record<ChangedByUpgrade['account'], number>
  /** The latest first. */
  changed: ChangedByUpgrade[]
}

type Bounds = {
  maxListed: number
  /** The latest so many are compared. */
  max?: number
  /** Called before the first page and after each, with the number compared so far; the next page waits for it. */
  onPage?: (compared: number, total: number) => Promise<void>
}

/**
 * Compares the two versions on the questions of the time span, by the tenant's current rules, people and accounts.
 * Writes nothing, so that it can run on the database of the former version.
 */
export async function replayUpgrade(
  tx: Tx,
  span: Span,
  { maxListed, max = maxQuestions, onPage }: Bounds,
): Promise<UpgradeReplay> {
  // What the rules say is compared, also of a suspended tenant, which permits nothing.
  const ruleSet = { ...(await findRuleSet(tx, await readRuleSetVersion(tx))), suspended: false }
  const facts = await findPolicyFacts(tx, [ruleSet], { accountUnknown: true, isEarlier: true })
  const found = await countRecorded(tx, span, max + 1)
  const total = Math.min(found, max)
  const answersTo = openAnswers([ruleSet], policyEvaluator)
  const tally = openTally(maxListed)
  const yieldToEventLoop = periodicYield()
  let after: string | undefined
  await onPage?.(0, total)
  for (let compared = 0; compared < total; ) {
    const limit = Math.min(pageSize, total - compared)
    const page = await readRecordings(tx, span, { after, limit, isEarlier: true })
    for (const recording of page) {
      const asked = recordedQuestion(recording, facts)
      const former = formerQuestion(recording, facts)
      tally.add(recording, asked, await answersTo({ ruleSet, question: former }, { ruleSet, question: asked }))
      await yieldToEventLoop()
    }
    after = page.at(-1)?.shown.id
    if (after === undefined) break
    compared += page.length
    await onPage?.(compared, total)
  }
  return { rule_set_version: ruleSet.version, has_more: found > total, ...tally.result() }
}

function openTally(maxListed: number) {
  const counts = { ...noCounts(), questions: 0, undecidable: 0 }
  const changed_by_account = { known: 0, unnamed: 0, unconfirmed: 0 }
  const changed: ChangedByUpgrade[] = []
  return {
    add({ requester, deciding, requested, known }: Recording, asked: RecordedQuestion, answers: Answers): void {
      counts.questions += 1
      const found = differencesOf(answers, asked.kind)
      if (found.length === 0 && isUndecidable(answers)) counts.undecidable += 1
      if (found.length === 0) return
      count(counts, found)
      const account = accountDoubt(requested, known) ?? 'known'
      changed_by_account[account] += 1
      if (changed.length >= maxListed) return
      const people = { requester_email: requester.email, approver_email: deciding?.approver.counting.email ?? null }
      changed.push({ ...changedQuestion(asked, answers, found), account, ...people })
    },
    result: () => ({ counts, changed_by_account, changed }),
  }
}
