import type { Ctx } from '../kernel/context.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import type { AskQuestion, Principal } from '../policy-engine/cedar/question.ts'
import { type Decision, decideAskInPieces } from '../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../policy-engine/deciding/rule-set.ts'
import { readWithRules } from '../policy-engine/deciding/rule-set-store.ts'
import { findPolicyFacts, type PolicyFacts } from '../policy-facts/policy-facts.flow.ts'
import { findUnserved, namedAccounts, type Place, placesOf } from './place.ts'
import { accountDoubt, askQuestion, type Circumstances, type Known, type RequestedAccess } from './policy-question.ts'
import { type RequestInput, requireReason, requireSoundRequest, settleDuration } from './request-input.ts'
import { type CurrentAccess, readCurrentAccess } from './request-store.ts'
import { type Risk, riskOf } from './risk.ts'

/** A requester's input, and policy's current decision about it. */
export type EvaluatedRequest = Known & {
  facts: PolicyFacts
  requester_id: string
  requester: Principal
  requested: Omit<RequestedAccess, 'id'>
  when: Circumstances
  question: AskQuestion
  ruleSet: RuleSet
  decision: Decision
  risk: Risk
  /** A person decides it, though a rule would approve it at once. */
  needs_person?: boolean
}

/**
 * Evaluates policy and changes nothing. One round trip, and one more for an organizational unit, for an unknown account, and where
 * the rules name and read entities. Throws 400 for an invalid request, 403 `forbidden` where the caller is not a person, and 422
 * where a live tenant has no provisioner for the access.
 */
export async function evaluateRequest(ctx: Ctx, input: RequestInput): Promise<EvaluatedRequest> {
  requireSoundRequest(input)
  const requester_id = requirePerson(ctx)
  const metadata = input.metadata ?? {}
  const named = namedAccounts(input.resource, metadata)
  const { home, touched } = named
  const account_ids = home === undefined ? touched : [home, ...touched]
  const access = await readWithRules(ctx.tx, () => readCurrentAccess(ctx.tx, requester_id, input.resource, account_ids))
  requireReason(input, access.settings)
  const requested = {
    resource: input.resource,
    action: input.action,
    reason: input.reason ?? null,
    duration_seconds: settleDuration(input.duration_seconds, access.settings),
    break_glass: input.break_glass ?? false,
    metadata,
    places: placesOf(input.resource, named, access.under),
    home,
  }
  return evaluateAccess(ctx, requester_id, requested, access)
}

/** Policy's current decision about this access for this person, by what was read. Throws as `evaluateRequest`. */
export async function evaluateAccess(
  ctx: Ctx,
  requester_id: string,
  requested: EvaluatedRequest['requested'],
  access: CurrentAccess & { ruleSet: RuleSet },
): Promise<EvaluatedRequest> {
  const when = { now: ctx.now, via: ctx.via, source_ip: ctx.source_ip }
  const { ruleSet, principal: requester, settings, accounts, acts_in_named_account } = access
  const accountUnknown = accountDoubt(requested, access) !== undefined
  const facts = await findPolicyFacts(ctx.tx, [ruleSet], { accountUnknown })
  const question = askQuestion(requester, requested, when, { ...access, facts })
  if (question.unanswerable !== undefined) {
    throw invalidInput([{ pointer: '/metadata/account_id', why: question.unanswerable }])
  }
  const decision = await decideAskInPieces(ruleSet, question)
  // Only callers who may have the access learn whether it can be given.
  if (decision.allowed) requireServed(requested.places, access.served)
  const known = { settings, accounts, acts_in_named_account, facts }
  const risk = riskOf(requested, accounts)
  return { ...known, requester_id, requester, requested, when, question, ruleSet, decision, risk }
}

/** @throws Problem 422 for a place in which a live tenant has no provisioner: an approval there would give nothing */
function requireServed(places: readonly Place[], served: ReadonlySet<string> | null): void {
  const place = findUnserved(places, served)
  if (place === undefined) return
  const where = place.account_id === undefined ? '' : ` in the account ${place.account_id}`
  const message = `nothing gives access to \`${place.type}\`${where}: an administrator sets up a provisioner for it`
  throw new Problem('unprocessable', message, {
    details: { resource_type: place.type, account_id: place.account_id ?? null },
  })
}

/** A request belongs to a person: the token's subject, or the user who created the API key. */
export function requirePerson(ctx: Ctx): string {
  if (ctx.actor.user_id === null)
    throw new Problem('forbidden', 'only a person can request access; use a user’s token or API key')
  return ctx.actor.user_id
}
