import { refuse } from '../events/emit.ts'
import type { Ctx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { factsOf } from '../policy-engine/deciding/decide.ts'
import { insertRefusedRequest } from './decision-store.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { explainAnswer } from './near-miss-explanation.flow.ts'
import type { CreatedRequest } from './request.ts'
import { warningsOf } from './request-warnings.flow.ts'
import { insertRequest } from './transition-store.ts'

/**
 * Makes the request that policy permits: pending, or approved at once.
 * @throws Problem 403 `policy_denied` with the notices; 409 where the rules changed twice meanwhile; or as `evaluate` does
 */
export async function makeRequest(ctx: Ctx, evaluate: () => Promise<EvaluatedRequest>): Promise<CreatedRequest> {
  // The first attempt stores nothing when a rule was saved in the meantime. The second evaluates the request against the new rules.
  const request = (await makeOnce(ctx, await evaluate())) ?? (await makeOnce(ctx, await evaluate()))
  if (request !== undefined) return request
  throw new Problem('version_conflict', 'the tenant’s policies are changing just now; send the request again')
}

async function makeOnce(ctx: Ctx, evaluated: EvaluatedRequest): Promise<CreatedRequest | undefined> {
  if (!evaluated.decision.allowed) return refuseRequest(ctx, evaluated)
  const { 'requests.pending_ttl_seconds': pending_ttl_seconds, 'notifications.reminder_seconds': reminder_seconds } =
    evaluated.settings
  const warnings = await warningsOf(ctx.tx, evaluated)
  const unapprovable = warnings.some(({ code }) => code === 'nobody_may_approve')
  const request = await insertRequest(
    ctx,
    { ...evaluated, pending_ttl_seconds, reminder_seconds, unapprovable },
    evaluated.decision,
  )
  if (request === undefined) return undefined
  const extended = evaluated.requested.extension?.grant_id ?? null
  return { ...request, extends: extended, ...evaluated.risk, ...(warnings.length > 0 && { warnings }) }
}

/** A refused request is not stored. The decision is stored, and the audit log records the refusal. */
async function refuseRequest(ctx: Ctx, evaluated: EvaluatedRequest): Promise<never> {
  const { requester_id, requested, when, decision } = evaluated
  const { nearest, reasoning } = await explainAnswer(ctx, evaluated)
  const question = { kind: 'ask', principal_id: requester_id, requested, when } as const
  const decision_id = await insertRefusedRequest(ctx.tx, decision, question)
  const { resource, action } = requested
  const extras = { notices: decision.notices, ...(nearest.length > 0 && { details: { nearest } }) }
  return refuse(ctx, new Problem('policy_denied', reasoning, extras), {
    type: 'request.refused',
    subject_type: 'decision',
    subject_id: decision_id,
    data: { resource, action, ...factsOf(decision) },
  })
}
