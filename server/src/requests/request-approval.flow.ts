import { refuse } from '../events/emit.ts'
import { keepRefusal } from '../events/keep-refusal.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import type { Weighed } from '../policy-engine/cedar/question.ts'
import { type Decision, decideApproveInPieces, factsOf } from '../policy-engine/deciding/decide.ts'
import { readWithRules } from '../policy-engine/deciding/rule-set-store.ts'
import { type KeptQuestion, keepRefusedTry } from './decision-store.ts'
import { approveQuestion, type Circumstances, heldInAll } from './policy-question.ts'
import { findFactsFor, reauthorizeRecorded } from './reauthorize-request.flow.ts'
import { type AccessRequest, notPending, requireMayDecide, shorterDuration } from './request.ts'
import { type Deciding, readDeciding } from './request-store.ts'
import { type SavedDecision, saveDecision } from './transition-store.ts'

/** A decision is attempted again when the rules changed in the meantime. */
const maxAttempts = 5

/** What a person decides. `duration_seconds`: less time than was requested; absent: the requested time. */
export type PersonsChoice = {
  status: 'approved' | 'denied'
  reasoning?: string | null | undefined
  duration_seconds?: number | null | undefined
}

/**
 * A person's decision, approve or deny: the same policy question, the same guarded statement. A shorter duration is what policy
 * evaluates, then and later. Throws 404; 400 for a longer duration than requested; 403 `forbidden` for the approver's own request and for one who is no longer active or no
 * approver; 409 once decided; 403 `policy_denied` with the notices.
 */
export async function decideRequest(ctx: Ctx, request_id: string, choice: PersonsChoice): Promise<AccessRequest> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const outcome = await decideOnce(ctx, request_id, choice)
    if ('saved' in outcome) return outcome.saved
    if (outcome.refused === 'may_not_decide') return refuseDecider(ctx, request_id)
    if (outcome.refused === 'not_pending') throw notPending(outcome.now)
  }
  throw new Problem('unavailable', 'the rules of the tenant are changing just now; decide again in a moment')
}

function refuseDecider(ctx: Ctx, request_id: string): Promise<never> {
  const message = 'you were suspended, deactivated or demoted just now, so you decide nothing; ask another approver'
  const problem = new Problem('forbidden', message)
  const data = { code: problem.code, source_ip: ctx.source_ip }
  return refuse(ctx, problem, { type: 'access.refused', subject_type: 'request', subject_id: request_id, data })
}

async function decideOnce(ctx: Ctx, request_id: string, choice: PersonsChoice): Promise<SavedDecision> {
  const { user_id } = ctx.actor
  if (user_id === null) throw new Problem('forbidden', 'only a person can decide a request')
  // Read once: both questions are evaluated against the same version, and the write then requires that version.
  const read = await readWithRules(ctx.tx, () => readDeciding(ctx.tx, request_id, user_id))
  if (read === undefined) throw notFound('request')
  const { status, reasoning = null } = choice
  const subject = { subject_type: 'request', subject_id: request_id } as const
  await keepRefusal(ctx, subject, async () => {
    requireMayDecide(ctx.actor, read.request)
    if (read.request.status !== 'pending') throw notPending(read.request)
    requireUntaintedScope(read)
  })
  const duration_seconds = shorterDuration(choice.duration_seconds, read.request)
  const approval = duration_seconds === null ? read : narrowed(read, duration_seconds)
  const when: Circumstances = { now: ctx.now, via: ctx.via, source_ip: ctx.source_ip }
  const { ruleSet } = approval
  const facts = await findFactsFor(ctx.tx, ruleSet, [approval])
  const approver = asCaller(approval.approver, ctx.actor)
  const permitted = await decideApproveInPieces(
    ruleSet,
    approveQuestion(approver, approval.weighed_requester, approval.requested, when, { ...approval, facts }),
  )
  const { requested } = approval
  const asked = { kind: 'approve', principal_id: user_id, requested, when } as const
  if (!permitted.allowed) return refuseTry(ctx, permitted, asked, request_id)
  const stillAllowed = status === 'approved' ? await reauthorizeRecorded(ruleSet, approval, facts) : permitted
  if (!stillAllowed.allowed) {
    // The person may decide, but the requester may no longer have the access: that answer refused the try. An allowed answer about the
    // person would stand in the record without a decision that followed from it.
    const again = { kind: 'ask_again', principal_id: approval.request.requester_id, requested } as const
    return refuseTry(ctx, stillAllowed, { ...again, when: approval.when }, request_id)
  }
  return saveDecision(ctx, { status, decided_by: user_id, reasoning, duration_seconds, requested, when, permitted })
}

/** The same request, for a shorter time. */
function narrowed<Request extends Deciding>(request: Request, duration_seconds: number): Request {
  const { requested } = request
  const inAll = heldInAll(duration_seconds, requested.extension)
  return { ...request, requested: { ...requested, duration_seconds: inAll } }
}

/** Policy refuses the decision: the event names the person who tried, and the question is recorded with its answer. */
function refuseTry(ctx: Ctx, denied: Decision, question: KeptQuestion, request_id: string): Promise<never> {
  const problem = new Problem('policy_denied', denied.reasoning, { notices: denied.notices })
  const event = { type: 'access.refused', subject_type: 'request', subject_id: request_id } as const
  const kept = keepRefusedTry(ctx.tx, denied, question, request_id)
  return refuse(ctx, problem, { ...event, data: factsOf(denied) }, kept)
}

export const noTaintedScope =
  'a role that the requester gave after making the request does not count for deciding it; ask another approver'

/** Whether roles that count for this request give the approver the scope to decide it. */
export function holdsScope({ counting }: Weighed): boolean {
  return counting.scopes.includes('requests:approve')
}

/** For an API key, its own scopes count at most. */
export function asCaller({ counting, whole }: Weighed, actor: Ctx['actor']): Weighed {
  if (actor.kind !== 'api_key') return { counting, whole }
  return { counting: { ...counting, scopes: counting.scopes.filter((scope) => actor.scopes.has(scope)) }, whole }
}

/** Throws 403 when the scope to decide comes from a role that the requester gave after the request was created. */
function requireUntaintedScope({ approver }: Deciding): void {
  if (!holdsScope(approver)) {
    throw new Problem('forbidden', noTaintedScope)
  }
}
