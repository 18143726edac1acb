import { type ExtendableGrant, requireExtendable } from '../grants/extension.ts'
import { findExtendable } from '../grants/extension-store.ts'
import { maySeeGrant, minSeconds } from '../grants/grant.ts'
import type { Ctx } from '../kernel/context.ts'
import { invalidInput, notFound, Problem } from '../kernel/errors.ts'
import { duration } from '../kernel/plain-words.ts'
import type { Decision } from '../policy-engine/deciding/decide.ts'
import { readWithRules } from '../policy-engine/deciding/rule-set-store.ts'
import type { Settings } from '../settings/setting.ts'
import { type EvaluatedRequest, evaluateAccess, requirePerson } from './evaluate-request.flow.ts'
import { namedAccounts, type Place } from './place.ts'
import { heldInAll } from './policy-question.ts'
import type { ResourceReference } from './request.ts'
import { type ExtensionInput, hasReason, missingReason, requireReason } from './request-input.ts'
import { readAccessIn } from './request-store.ts'

/**
 * Evaluates the extension of a grant, and changes nothing: the request that gave the grant, at the grant's place alone, for the whole time
 * that its holder would have the access without a gap. Two round trips, and more as `evaluateRequest`. Throws 404; 403 for anybody but
 * the holder; 409 for a grant that cannot be extended now; 400 and 422 as `evaluateRequest`.
 */
export async function evaluateExtension(ctx: Ctx, grant_id: string, input: ExtensionInput): Promise<EvaluatedRequest> {
  const requester_id = requirePerson(ctx)
  const grant = await findExtendable(ctx.tx, grant_id)
  if (grant === undefined || !maySeeGrant(ctx.actor, grant)) throw notFound('grant')
  if (grant.user_id !== requester_id) {
    throw new Problem('forbidden', 'only its holder extends access; ask them to')
  }
  requireExtendable(grant)
  const { resource, action, metadata, break_glass } = formerRequest(grant)
  if (break_glass && !hasReason(input.reason)) throw invalidInput([missingReason])
  const place = placeOf(grant)
  const { home } = namedAccounts(resource, metadata)
  const account_ids = [...new Set([home, place.account_id])].filter((id) => id !== undefined)
  const access = await readWithRules(ctx.tx, () => readAccessIn(ctx.tx, requester_id, resource, { account_ids }))
  requireReason(input, access.settings)
  requireWithinMaximum(input.duration_seconds, grant, access.settings)
  const extension = { grant_id, held_seconds: grant.held_seconds }
  const requested = {
    ...{ resource, action, metadata, break_glass, home, extension },
    reason: input.reason ?? null,
    duration_seconds: heldInAll(input.duration_seconds, extension),
    places: [place],
  }
  const evaluated = await evaluateAccess(ctx, requester_id, requested, access)
  return grant.by_person ? { ...evaluated, decision: byPerson(evaluated.decision), needs_person: true } : evaluated
}

/** What was requested, as far as it concerns the one place of the grant. */
function formerRequest({ request, place }: ExtendableGrant) {
  const { resource_type, resource_id, action, break_glass } = request
  const resource = { type: resource_type as ResourceReference['type'], id: resource_id }
  const metadata = { ...request.metadata, ...(place.permission_set !== null && { account_ids: [place.account_id] }) }
  return { resource, action, metadata, break_glass }
}

function placeOf({ place: { type, id, account_id, permission_set } }: ExtendableGrant): Place {
  return {
    type: type as Place['type'],
    id,
    ...(account_id !== null && { account_id }),
    ...(permission_set !== null && { permission_set }),
  }
}

/** Throws 400 for a duration that leads beyond the tenant's maximum, and 422 where every one does. */
function requireWithinMaximum(duration_seconds: number, { held_seconds }: ExtendableGrant, settings: Settings): void {
  const cap = settings['requests.max_duration_seconds']
  const left = cap - held_seconds
  const binds = `with what came before it, the access may last ${duration(cap)} without a gap, the tenant’s maximum`
  if (left < minSeconds) {
    const message = `the access cannot be extended any further: it may last ${duration(cap)} without a gap, the tenant’s maximum`
    throw new Problem('unprocessable', message)
  }
  if (duration_seconds > left) {
    throw invalidInput([{ pointer: '/duration_seconds', why: `must be at most ${left}: ${binds}` }])
  }
}

/** Where a person decided a part of the time, a person decides about the rest of it. In an emergency nobody can wait for one. */
function byPerson(decision: Decision): Decision {
  if (decision.mode !== 'auto') return decision
  const reasoning = `${decision.reasoning}; a person decided the access that this extends, so a person decides this too`
  return { ...decision, mode: 'require', reasoning }
}
