import type { Ctx } from '../kernel/context.ts'
import { findPolicyNames } from '../policies/policy-name-store.ts'
import { findNearMisses } from '../policy-engine/near-misses/near-miss.ts'
import { createPauser } from '../policy-engine/near-misses/pauser.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { explain, type NearMissExplanation, selectShown } from './near-miss-explanation.ts'
import { minSeconds } from './request.ts'

const maxMs = 2_000

/**
 * The changes that would give a better answer, as far as the requester may know them; the best first, at most five. They do not
 * affect the answer: where the search takes too long or fails, the list is empty.
 */
export async function explainNearMisses(
  ctx: Pick<Ctx, 'tx' | 'actor'>,
  evaluated: EvaluatedRequest,
): Promise<NearMissExplanation[]> {
  const { ruleSet, question, decision, settings } = evaluated
  const { scopes } = ctx.actor
  const viewer = { mayReadRules: scopes.has('policies:read'), mayReadAccounts: scopes.has('cloud_accounts:read') }
  const durations = { shortest: minSeconds, longest: settings['requests.max_duration_seconds'] }
  try {
    const answered = { ruleSet, question, decision, durations }
    const found = await findNearMisses(answered, !viewer.mayReadRules, createPauser(maxMs))
    const misses = selectShown(found, { question, durations, viewer })
    const policy_ids = viewer.mayReadRules ? misses.map(({ rule }) => rule.policy_id) : []
    const names = await findPolicyNames(ctx.tx, policy_ids)
    return misses.map((miss) => explain(miss, { question, durations, viewer }, names))
  } catch {
    return []
  }
}
