import { decideAskInPieces } from '../policy-engine/deciding/decide.ts'
import { askRulesOf, rulesAbout, rulesFor } from '../policy-engine/deciding/possible-requests.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { previewTurns } from './tenant-turns.ts'

/** Durations that are tried, the longest first, and evaluations: each is one for every resource. */
const most = { durations: 40, evaluations: 1_000 }

/**
 * The longest duration, in seconds, with which the request would be allowed: at least as long as requested; null where there is none. Tried
 * are the tenant's maximum, and the durations at which a rule may give another answer. A near miss names a shorter one that would be.
 */
export async function findLongestDuration(evaluated: EvaluatedRequest): Promise<number | null> {
  const { ruleSet, requester, requested, question, settings, decision } = evaluated
  const longest = settings['requests.max_duration_seconds']
  const rules = rulesFor(rulesAbout(askRulesOf(ruleSet).rules, requester), requested.action)
  const named = new Set(rules.flatMap(({ durations }) => durations))
  const { duration_seconds } = requested
  // Where no rule reads the duration, the answer is that of any other.
  if (named.size === 0) return decision.allowed ? longest : null
  const within = [...named].filter((seconds) => seconds > duration_seconds && seconds < longest)
  const possible = [longest, ...within.toSorted((one, other) => other - one)]
  const tried = possible.slice(0, Math.min(most.durations, Math.ceil(most.evaluations / question.resources.length)))
  return previewTurns({ tenant_id: ruleSet.tenant_id, user_id: requester.id }, async () => {
    for (const seconds of tried) {
      const longer = { ...question, context: { ...question.context, duration_seconds: seconds } }
      if ((await decideAskInPieces(ruleSet, longer)).allowed) return seconds
    }
    return decision.allowed ? duration_seconds : null
  })
}
