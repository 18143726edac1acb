import type { PolicyVerdict, Reauthorize, Refusal } from '../grants/policy-verdict.ts'
import { batched } from '../kernel/batch.ts'
import type { Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { type Decision, decideAskInPieces, factsOf } from '../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../policy-engine/deciding/rule-set.ts'
import { readWithRules, rulesAreStill } from '../policy-engine/deciding/rule-set-store.ts'
import { findPolicyFacts, type PolicyFacts } from '../policy-facts/policy-facts.flow.ts'
import { keepDecision } from './decision-store.ts'
import { accountDoubt, askQuestion } from './policy-question.ts'
import type { AccessRequest } from './request.ts'
import { type Recorded, readRecorded } from './request-store.ts'

/**
 * Policy's decision on whether the requester may still have the requested access, in the circumstances of the request. Rules,
 * accounts and the requester's own roles and groups may have changed since.
 */
export function reauthorizeRecorded(ruleSet: RuleSet, recorded: Recorded, facts: PolicyFacts): Promise<Decision> {
  const { requester, requested, when } = recorded
  return decideAskInPieces(ruleSet, askQuestion(requester, requested, when, { ...recorded, facts }))
}

/** The further facts that the rules need for these requests. */
export function findFactsFor(tx: Tx, ruleSet: RuleSet, recorded: readonly Recorded[]): Promise<PolicyFacts> {
  const accountUnknown = recorded.some((one) => accountDoubt(one.requested, one) !== undefined)
  return findPolicyFacts(tx, [ruleSet], { accountUnknown })
}

/** Whether one of many calls may be the cause. The others are then tried without it. */
const isOfOne = (error: unknown) => !(error instanceof Problem && error.code === 'unavailable')

/** The maximum number of grants whose requests are evaluated together: the first of them waits for the last. */
const maxBatch = 32

/**
 * Policy's verdict about approved requests right before provisioning. Each request is evaluated in full. Calls that a tenant's runs make at
 * the same moment share one round trip, one more after the rules changed, and one where they need further facts.
 */
export const reauthorize: Reauthorize = batched(maxBatch, reauthorizeEach, isOfOne)

async function reauthorizeEach(tx: Tx, calls: readonly (readonly string[])[]): Promise<PolicyVerdict[]> {
  const ids = new Set(calls.flat())
  const { recorded, ruleSet } = await readWithRules(tx, async () => {
    const recorded = await readRecorded(tx, [...ids])
    const [first] = recorded
    if (first === undefined || recorded.length !== ids.size) throw new Error('a request to reauthorize does not exist')
    return { recorded, version: first.version }
  })
  const facts = await findFactsFor(tx, ruleSet, recorded)
  const refusals = new Map<string, Refusal>()
  for (const one of recorded) {
    const decision = await reauthorizeRecorded(ruleSet, one, facts)
    const why = whyNotGiven(one.request, decision)
    if (why !== undefined) refusals.set(one.request.id, refusalOf(tx, one, decision, why))
  }
  const rulesUnchanged = rulesAreStill(tx, ruleSet.version)
  return calls.map((request_ids) => {
    const refused = new Map([...refusals].filter(([id]) => request_ids.includes(id)))
    return { rulesUnchanged, refused }
  })
}

/**
 * Why an approved request is not provisioned; undefined when it is. A request that a person approved must still be allowed. A
 * request that policy approved must still get the same approval mode.
 */
export function whyNotGiven(
  request: Pick<AccessRequest, 'decided_by' | 'approval_mode'>,
  decision: Pick<Decision, 'allowed' | 'mode' | 'reasoning'>,
): string | undefined {
  if (!decision.allowed) return `policy no longer permits it: ${decision.reasoning}`
  if (request.decided_by !== null || decision.mode === request.approval_mode) return undefined
  return `policy no longer approves it without a person: ${decision.reasoning}`
}

function refusalOf(tx: Tx, { request, requested, when }: Recorded, decision: Decision, reason: string): Refusal {
  const question = { kind: 'ask_again', principal_id: request.requester_id, requested, when } as const
  return {
    reason,
    data: { cause: 'policy_denied', ...factsOf(decision) },
    insertDecision: (refused) => keepDecision(tx, decision, question, refused),
  }
}
