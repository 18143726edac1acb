import type { AccountPolicyView } from '../cloud/cloud-account.ts'
import type { Ctx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import type { AskQuestion, Principal } from '../policy-engine/cedar/question.ts'
import { type Decision, decideAsk } from '../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../policy-engine/deciding/rule-set.ts'
import { findRuleSet } from '../policy-engine/deciding/rule-set-store.ts'
import type { Settings } from '../settings/setting.ts'
import { namedAccounts, placesOf } from './place.ts'
import { type AskedRequest, askQuestion, type Circumstances } from './policy-question.ts'
import { type RequestInput, requireReason, requireSoundRequest, settleDuration } from './request.ts'
import { readCurrentAccess } from './request-store.ts'

/** What somebody asks for, and policy's answer of this moment. */
export type EvaluatedRequest = {
  requester_id: string
  requester: Principal
  asked: Omit<AskedRequest, 'id'>
  when: Circumstances
  settings: Settings
  accounts: ReadonlyMap<string, AccountPolicyView>
  question: AskQuestion
  ruleSet: RuleSet
  decision: Decision
}

/**
 * Asks policy, changes nothing. One trip, two for a unit. Throws 400 for what cannot be asked, 403 `forbidden` where nobody
 * asks.
 */
export async function evaluateRequest(ctx: Ctx, input: RequestInput): Promise<EvaluatedRequest> {
  requireSoundRequest(input)
  const requester_id = requirePerson(ctx)
  const metadata = input.metadata ?? {}
  const named = namedAccounts(input.resource, metadata)
  const { home, touched } = named
  const account_ids = home === undefined ? touched : [home, ...touched]
  const standing = await readCurrentAccess(ctx.tx, requester_id, input.resource, account_ids)
  requireReason(input, standing.settings)
  const asked = {
    resource: input.resource,
    action: input.action,
    reason: input.reason ?? null,
    duration_seconds: settleDuration(input.duration_seconds, standing.settings),
    break_glass: input.break_glass ?? false,
    metadata,
    places: placesOf(input.resource, named, standing.under),
    home,
  }
  const when = { now: ctx.now, via: ctx.via, source_ip: ctx.source_ip }
  const ruleSet = await findRuleSet(ctx.tx, standing.version)
  const { principal: requester, settings, accounts } = standing
  const question = askQuestion(requester, asked, when, standing)
  const decision = decideAsk(ruleSet, question)
  return { requester_id, requester, asked, when, settings, accounts, question, ruleSet, decision }
}

/** A request belongs to a person: the token's subject, or whoever made the key. */
function requirePerson(ctx: Ctx): string {
  if (ctx.actor.user_id === null) throw new Problem('forbidden', 'only a person can ask for access')
  return ctx.actor.user_id
}
