import type { Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { periodicYield } from '../kernel/yield-to-event-loop.ts'
import { decideApprove } from '../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../policy-engine/deciding/rule-set.ts'
import { findRuleSet } from '../policy-engine/deciding/rule-set-store.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { approveQuestion, type Circumstances } from './policy-question.ts'
import { readApprovers, readWithApprovers } from './request-store.ts'

/** So many are read in one trip. */
const portion = 500
/** So many are asked about at most: nobody has more to tell apart. */
const maxEvaluated = 10_000

/**
 * Those who may decide that request at that moment, as far as can be said before they do: by scope, by policy, never the
 * requester. In portions by their ids; one trip for each, and one where rules changed.
 */
export async function* whoMayDecide(tx: Tx, request_id: string, at: Date): AsyncGenerator<string[]> {
  const yieldToEventLoop = periodicYield()
  let after: string | null = null
  for (let asked = 0; asked < maxEvaluated; asked += portion) {
    const found = await readWithApprovers(tx, request_id, { after, limit: portion })
    if (found === undefined) return
    const ruleSet = await findRuleSet(tx, found.version)
    const when = circumstancesOfDeciding(found.when, at)
    const may: string[] = []
    for (const approver of found.approvers) {
      const question = approveQuestion(approver, found.requester, found.asked, when, found)
      if (decideApprove(ruleSet, question).allowed) may.push(approver.id)
      await yieldToEventLoop()
    }
    yield may
    after = found.approvers.at(-1)?.id ?? null
    if (found.approvers.length < portion) return
  }
}

/** So many are read first, then so many more: the first who may is nearly always among the first. */
const portionsBefore = [50, 450]

/**
 * Whether it is certain that nobody may decide what is about to be asked, as rules and roles are now. One trip; two where
 * none of the first may. Of more people than it looks at, of an engine that failed, and of rules that look at when and
 * whence somebody decides, nothing is certain.
 */
export async function isUnapprovable(tx: Tx, asking: EvaluatedRequest): Promise<boolean> {
  const { requester, requester_id, ruleSet } = asking
  const when = circumstancesOfDeciding(asking.when, asking.when.now)
  const request = { ...asking.asked, id: newId() }
  const yieldToEventLoop = periodicYield()
  let asked = 0
  let after: string | null = null
  for (const limit of portionsBefore) {
    const approvers = await readApprovers(tx, requester_id, { after, limit })
    for (const approver of approvers) {
      const { allowed, errors } = decideApprove(ruleSet, approveQuestion(approver, requester, request, when, asking))
      if (allowed || errors.some(({ rule_id }) => rule_id === null)) return false
      await yieldToEventLoop()
    }
    asked += approvers.length
    after = approvers.at(-1)?.id ?? null
    if (approvers.length < limit) return asked === 0 || !checksApproval(ruleSet)
  }
  return false
}

/** What is only known once somebody decides. */
const ofDeciding = /\b(now|weekday|minute|via|source_ip)\b/

/** Whether a rule about deciding looks at when, how or whence it is done. By its words, and rather once too often. */
function checksApproval(ruleSet: RuleSet): boolean {
  return ruleSet.rules.some(({ policy_text }) => policy_text.includes('"approve"') && ofDeciding.test(policy_text))
}

/** A person decides by token, at that moment; whence is not known, and taken to be whence it was asked. */
function circumstancesOfDeciding({ source_ip }: Circumstances, now: Date): Circumstances {
  return { now, via: 'token', source_ip }
}
