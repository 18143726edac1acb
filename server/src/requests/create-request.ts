import { refuse } from '../events/emit.ts'
import { operation } from '../http/operation.ts'
import type { Ctx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { type Decision, decideAsk, factsOf } from '../policies/decide.ts'
import { findRuleSet } from '../policies/rule-set-store.ts'
import { insertRefusedAsking } from './decision-store.ts'
import { namedAccounts, placesOf } from './place.ts'
import { type AskedRequest, askQuestion, type Circumstances } from './policy-question.ts'
import { AccessRequest, RequestInput, requireReason, requireSoundRequest, settleDuration } from './request.ts'
import { readStanding } from './request-store.ts'
import { insertRequest } from './transition-store.ts'

export const createRequest = operation({
  method: 'POST',
  path: '/v1/requests',
  summary: 'Ask for access; policy answers at once: refused, pending, or approved',
  credential: 'any',
  scope: 'requests:create',
  body: RequestInput,
  replies: { 201: AccessRequest },
  errors: ['policy_denied', 'version_conflict'],
  async run(ctx, { body }) {
    requireSoundRequest(body)
    // A rule saved between the question and the answer: asked once more, by the rules as they are then.
    const request = (await askOnce(ctx, body)) ?? (await askOnce(ctx, body))
    if (request !== undefined) return request
    throw new Problem('version_conflict', 'the tenant’s policies are changing just now; ask again')
  },
})

async function askOnce(ctx: Ctx, input: RequestInput): Promise<AccessRequest | undefined> {
  const requester_id = requirePerson(ctx)
  const metadata = input.metadata ?? {}
  const named = namedAccounts(input.resource, metadata)
  const { home, touched } = named
  const account_ids = home === undefined ? touched : [home, ...touched]
  const standing = await readStanding(ctx.tx, requester_id, input.resource, account_ids)
  requireReason(input, standing.settings)
  const asked: Omit<AskedRequest, 'id'> = {
    resource: input.resource,
    action: input.action,
    reason: input.reason ?? null,
    duration_seconds: settleDuration(input.duration_seconds, standing.settings),
    break_glass: input.break_glass ?? false,
    metadata,
    places: placesOf(input.resource, named, standing.under),
    home,
  }
  const when: Circumstances = { now: ctx.now, via: ctx.via, source_ip: ctx.source_ip }
  const ruleSet = await findRuleSet(ctx.tx, standing.version)
  const decision = decideAsk(ruleSet, askQuestion(standing.principal, asked, when, standing))
  if (!decision.allowed) return refuseAsking(ctx, requester_id, asked, when, decision)
  const pending_ttl_seconds = standing.settings['requests.pending_ttl_seconds']
  return insertRequest(ctx, { requester_id, asked, when, pending_ttl_seconds }, decision)
}

/** A request belongs to a person: the token's subject, or whoever made the key. */
function requirePerson(ctx: Ctx): string {
  if (ctx.actor.user_id === null) throw new Problem('forbidden', 'only a person can ask for access')
  return ctx.actor.user_id
}

/** No request is kept, but the decision is, and the refusal stands in the audit log. */
async function refuseAsking(
  ctx: Ctx,
  principal_id: string,
  asked: Omit<AskedRequest, 'id'>,
  when: Circumstances,
  decision: Decision,
): Promise<never> {
  const decision_id = await insertRefusedAsking(ctx.tx, decision, { kind: 'ask', principal_id, asked, when })
  const { resource, action } = asked
  return refuse(ctx, new Problem('policy_denied', decision.reasoning, { notices: decision.notices }), {
    type: 'request.refused',
    subject_type: 'decision',
    subject_id: decision_id,
    data: { resource, action, ...factsOf(decision) },
  })
}
