import type { WorkItem } from '../../jobs/claim.ts'
import type { DueWork } from '../../jobs/work-list.ts'
import { beside } from '../../kernel/beside.ts'
import type { Tx } from '../../kernel/context.ts'
import { Problem } from '../../kernel/errors.ts'
import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import { readPresent } from '../../policies/drafts/draft-store.ts'
import { applyDraft, type Drafted, draftedModule } from '../../policies/drafts/drafted.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { findPolicyFacts } from '../../policy-facts/policy-facts.flow.ts'
import type { Span } from '../../requests/policy-question.ts'
import { countRecorded, readRecordedPage } from '../../requests/recorded-question-store.ts'
import { askBoth } from './ask-both.ts'
import { compareApprovers } from './compare-approvers.flow.ts'
import { maxQuestions, type ReplayResult } from './replay.ts'
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
  return beside.run(tx.tenant_id, draftedModule, applyDraft, [await readPresent(tx, draft), draft, of])
}

/** Undefined where another worker has the replay now. */
async function replayAll(tx: Tx, item: WorkItem, drafted: Drafted, span: Span): Promise<ReplayResult | undefined> {
  const total = await countRecorded(tx, span, maxQuestions)
  const answersTo = await askBoth(drafted)
  const facts = await findPolicyFacts(tx, [drafted.before, drafted.after], {
    accountUnknown: true,
    evaluator: draftEvaluator,
  })
  const isOurs = (asked: number) => saveProgress(tx, item, asked, total)
  const tally = openTally(drafted)
  const yieldToEventLoop = periodicYield(yieldAfterMs)
  let after: string | undefined
  for (let asked = 0; await isOurs(asked); ) {
    const page = await readRecordedPage(tx, span, { after, limit: Math.min(pageSize, total - asked) }, facts)
    for (const question of page) {
      tally.add(question, await answersTo(question))
      await yieldToEventLoop()
    }
    asked += page.length
    after = page.at(-1)?.id
    if (after === undefined || asked >= total) {
      const means = { facts, yieldToEventLoop, goesOn: () => isOurs(asked) }
      const approvers = await compareApprovers(tx, drafted, span, means)
      return approvers === undefined ? undefined : { ...tally.result(), approvers }
    }
  }
  return undefined
}
