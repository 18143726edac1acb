import { refuse } from '../events/emit.ts'
import { keepRefusal } from '../events/keep-refusal.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import type { Principal } from '../policy-engine/cedar/question.ts'
import { decideApprove, factsOf } from '../policy-engine/deciding/decide.ts'
import { findRuleSet } from '../policy-engine/deciding/rule-set-store.ts'
import { approveQuestion, type Circumstances } from './policy-question.ts'
import { reauthorizeRecorded } from './reauthorize-request.flow.ts'
import { type AccessRequest, notPending, requireMayDecide } from './request.ts'
import { type Deciding, readDeciding } from './request-store.ts'
import { type SavedDecision, saveDecision } from './transition-store.ts'

/** How often a decision is begun again because somebody changed the rules meanwhile. */
const maxAttempts = 5

/**
 * A person's decision, approve or deny: the same question to policy, the same guarded statement.
 * Throws 404, 403 `forbidden` for one's own, 409 once decided, 403 `policy_denied` with the notices.
 */
export async function decideRequest(
  ctx: Ctx,
  request_id: string,
  status: 'approved' | 'denied',
  reasoning: string | null,
): Promise<AccessRequest> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const outcome = await decideOnce(ctx, request_id, status, reasoning)
    if ('saved' in outcome) return outcome.saved
    // Still pending, but its time is over: the worker that says so has not come by yet.
    if (outcome.refused === 'not_pending') {
      throw notPending(outcome.now.status === 'pending' ? { status: 'expired', decided_by: null } : outcome.now)
    }
  }
  throw new Problem('unavailable', 'the rules of the tenant are changing just now; decide again in a moment')
}

async function decideOnce(
  ctx: Ctx,
  request_id: string,
  status: 'approved' | 'denied',
  reasoning: string | null,
): Promise<SavedDecision> {
  const { user_id } = ctx.actor
  if (user_id === null) throw new Problem('forbidden', 'only a person can decide a request')
  const deciding = await readDeciding(ctx.tx, request_id, user_id)
  if (deciding === undefined) throw notFound('request')
  const subject = { subject_type: 'request', subject_id: request_id } as const
  await keepRefusal(ctx, subject, async () => {
    requireMayDecide(ctx.actor, deciding.request)
    if (deciding.request.status !== 'pending') throw notPending(deciding.request)
    requireUntaintedScope(deciding)
  })
  const when: Circumstances = { now: ctx.now, via: ctx.via, source_ip: ctx.source_ip }
  // Read once: both questions are put to the same version, the one that the write then holds to.
  const ruleSet = await findRuleSet(ctx.tx, deciding.version)
  const approver = narrowed(deciding.approver, ctx.actor)
  const permitted = decideApprove(
    ruleSet,
    approveQuestion(approver, deciding.requester, deciding.asked, when, deciding),
  )
  const stillAllowed = status === 'approved' ? reauthorizeRecorded(ruleSet, deciding) : permitted
  const denied = [permitted, stillAllowed].find((decision) => !decision.allowed)
  if (denied !== undefined) {
    const problem = new Problem('policy_denied', denied.reasoning, { notices: denied.notices })
    return refuse(ctx, problem, { type: 'access.refused', ...subject, data: factsOf(denied) })
  }
  return saveDecision(ctx, { status, decided_by: user_id, reasoning, asked: deciding.asked, when, permitted })
}

/** An API key decides with no more than its own scopes. */
function narrowed(approver: Principal, actor: Ctx['actor']): Principal {
  if (actor.kind !== 'api_key') return approver
  return { ...approver, scopes: approver.scopes.filter((scope) => actor.scopes.has(scope)) }
}

/** Throws 403 when the scope to decide rests on a role that the requester gave after asking. */
function requireUntaintedScope({ approver }: Deciding): void {
  if (!approver.scopes.includes('requests:approve')) {
    throw new Problem('forbidden', 'a role that the requester gave after asking does not count for deciding it')
  }
}
