import type { Ctx } from '../kernel/context.ts'
import { findPolicyNames } from '../policies/policy-name-store.ts'
import { findNearMisses } from '../policy-engine/near-misses/near-miss.ts'
import { createPauser } from '../policy-engine/near-misses/pauser.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { chosen, type NearMissExplanation, told } from './near-miss-explanation.ts'
import { minSeconds } from './request.ts'

const maxMs = 2_000

/**
 * What would have to be otherwise for a better answer, as far as whoever asked may know it; the best first, at most five. The answer
 * stands already: where this takes too long or fails, nothing is told and nothing else happens.
 */
export async function whyNot(ctx: Pick<Ctx, 'tx' | 'actor'>, asking: EvaluatedRequest): Promise<NearMissExplanation[]> {
  const { ruleSet, question, decision, settings } = asking
  const { scopes } = ctx.actor
  const listener = { mayReadRules: scopes.has('policies:read'), mayReadAccounts: scopes.has('cloud_accounts:read') }
  const durations = { shortest: minSeconds, longest: settings['requests.max_duration_seconds'] }
  try {
    const asked = { ruleSet, question, decision, durations }
    const found = await findNearMisses(asked, !listener.mayReadRules, createPauser(maxMs))
    const misses = chosen(found, { question, durations, listener })
    const policy_ids = listener.mayReadRules ? misses.map(({ rule }) => rule.policy_id) : []
    const names = await findPolicyNames(ctx.tx, policy_ids)
    return misses.map((miss) => told(miss, { question, durations, listener }, names))
  } catch {
    return []
  }
}
