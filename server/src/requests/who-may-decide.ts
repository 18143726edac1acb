import type { Tx } from '../kernel/context.ts'
import { givingWay } from '../kernel/give-way.ts'
import { decideApprove } from '../policies/deciding/decide.ts'
import { findRuleSet } from '../policies/deciding/rule-set-store.ts'
import { approveQuestion, type Circumstances } from './policy-question.ts'
import { readWithApprovers } from './request-store.ts'

/** So many are read in one trip. */
const portion = 500
/** So many are asked about at most: nobody has more to tell apart. */
const mostAsked = 10_000

/**
 * Those who may decide that request at that moment, as far as can be said before they do: by scope, by policy, never the
 * requester. In portions by their ids; one trip for each, and one where rules changed.
 */
export async function* whoMayDecide(tx: Tx, request_id: string, at: Date): AsyncGenerator<string[]> {
  const giveWay = givingWay()
  let after: string | null = null
  for (let asked = 0; asked < mostAsked; asked += portion) {
    const found = await readWithApprovers(tx, request_id, { after, limit: portion })
    if (found === undefined) return
    const ruleSet = await findRuleSet(tx, found.version)
    const when = circumstancesOfDeciding(found.when, at)
    const may: string[] = []
    for (const approver of found.approvers) {
      const question = approveQuestion(approver, found.requester, found.asked, when, found)
      if (decideApprove(ruleSet, question).allowed) may.push(approver.id)
      await giveWay()
    }
    yield may
    after = found.approvers.at(-1)?.id ?? null
    if (found.approvers.length < portion) return
  }
}

/** A person decides by token, at that moment; whence is not known, and taken to be whence it was asked. */
function circumstancesOfDeciding({ source_ip }: Circumstances, now: Date): Circumstances {
  return { now, via: 'token', source_ip }
}
