import { refuse } from '../events/emit.ts'
import { operation } from '../http/operation.ts'
import type { Ctx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { factsOf } from '../policy-engine/deciding/decide.ts'
import { insertRefusedRequest } from './decision-store.ts'
import { type EvaluatedRequest, evaluateRequest } from './evaluate-request.flow.ts'
import { whyNot } from './near-miss-explanation.flow.ts'
import { CreatedRequest, RequestInput } from './request.ts'
import { warningsOf } from './request-warnings.flow.ts'
import { insertRequest } from './transition-store.ts'

export const createRequest = operation({
  method: 'POST',
  path: '/v1/requests',
  summary: 'Ask for access; policy answers at once: refused, pending, or approved',
  credential: 'any',
  scope: 'requests:create',
  body: RequestInput,
  replies: { 201: CreatedRequest },
  errors: ['policy_denied', 'version_conflict'],
  async run(ctx, { body }) {
    // A rule saved between the question and the answer: asked once more, by the rules as they are then.
    const request = (await evaluateOnce(ctx, body)) ?? (await evaluateOnce(ctx, body))
    if (request !== undefined) return request
    throw new Problem('version_conflict', 'the tenant’s policies are changing just now; ask again')
  },
})

async function evaluateOnce(ctx: Ctx, input: RequestInput): Promise<CreatedRequest | undefined> {
  const asking = await evaluateRequest(ctx, input)
  if (!asking.decision.allowed) return refuseRequest(ctx, asking)
  const { 'requests.pending_ttl_seconds': pending_ttl_seconds, 'notifications.reminder_seconds': reminder_seconds } =
    asking.settings
  const warnings = await warningsOf(ctx.tx, asking)
  const unapprovable = warnings.some(({ code }) => code === 'nobody_may_approve')
  const request = await insertRequest(
    ctx,
    { ...asking, pending_ttl_seconds, reminder_seconds, unapprovable },
    asking.decision,
  )
  return request && { ...request, ...(warnings.length > 0 && { warnings }) }
}

/** No request is kept, but the decision is, and the refusal stands in the audit log. */
async function refuseRequest(ctx: Ctx, asking: EvaluatedRequest): Promise<never> {
  const { requester_id, asked, when, decision } = asking
  const nearest = await whyNot(ctx, asking)
  const question = { kind: 'ask', principal_id: requester_id, asked, when } as const
  const decision_id = await insertRefusedRequest(ctx.tx, decision, question)
  const { resource, action } = asked
  const extras = { notices: decision.notices, ...(nearest.length > 0 && { details: { nearest } }) }
  return refuse(ctx, new Problem('policy_denied', decision.reasoning, extras), {
    type: 'request.refused',
    subject_type: 'decision',
    subject_id: decision_id,
    data: { resource, action, ...factsOf(decision) },
  })
}
