import { minSeconds } from '../grants/grant.ts'
import type { Ctx } from '../kernel/context.ts'
import { findPolicyNames } from '../policies/policy-name-store.ts'
import { findNearMisses } from '../policy-engine/near-misses/near-miss.ts'
import { createPauser } from '../policy-engine/near-misses/pauser.ts'
import type { NearMiss } from '../policy-engine/near-misses/stage.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { explain, type Names, type NearMissExplanation, ruleName, selectShown } from './near-miss-explanation.ts'
import { namedPeople } from './people-words.ts'
import { findPeopleWords } from './people-words-store.ts'
import { believesNamedAccount } from './policy-question.ts'

const maxMs = 2_000

type Caller = Pick<Ctx, 'tx' | 'actor'>

/** Why the request gets its answer, for the caller. */
export type Explanation = {
  /** The changes that would give a better answer, the best first, at most five. */
  nearest: NearMissExplanation[]
  /** The decision's reasoning, with what only this caller may know, or needs. */
  reasoning: string
}

/**
 * Explains the answer as far as the caller may know it. The explanation does not affect the answer: where the search takes too long
 * or fails, there is none, and the reasoning is that of the decision.
 */
export async function explainAnswer(ctx: Caller, evaluated: EvaluatedRequest): Promise<Explanation> {
  const nearest = await explainNearMisses(ctx, evaluated)
  const { decision } = evaluated
  const action = nearest.find((one) => one.action !== undefined)?.action
  const meant = action === undefined ? '' : `; did you mean \`${action}\`?`
  if (ctx.actor.scopes.has('policies:read')) {
    const named = await namesOfRules(ctx, evaluated).catch(() => '')
    return { nearest, reasoning: `${decision.reasoning}${named}${meant}` }
  }
  // Always the same words, so that they say nothing about rules: not even that others may have the access.
  const isLost = !decision.allowed && nearest.length === 0 && decision.notices.length === 0
  return { nearest, reasoning: `${decision.reasoning}${meant}${isLost ? whomToAsk : ''}` }
}

const whomToAsk = '; an administrator can tell you who may have this access'

async function explainNearMisses(ctx: Caller, evaluated: EvaluatedRequest): Promise<NearMissExplanation[]> {
  const { ruleSet, question, decision, settings, requested } = evaluated
  const { scopes } = ctx.actor
  const viewer = { mayReadRules: scopes.has('policies:read'), mayReadAccounts: scopes.has('cloud_accounts:read') }
  const accountCounts = believesNamedAccount(evaluated)
  try {
    const held_seconds = requested.extension?.held_seconds ?? 0
    const bounds = {
      shortest: held_seconds + minSeconds,
      longest: settings['requests.max_duration_seconds'],
      held_seconds,
      needs_reason: settings['requests.require_reason'],
    }
    const answered = { ruleSet, question, decision, bounds, accountCounts }
    const found = await findNearMisses(answered, !viewer.mayReadRules, createPauser(maxMs))
    const misses = selectShown(found, { question, bounds, viewer })
    const names = viewer.mayReadRules ? await namesIn(ctx, misses) : nobody
    const forPerson = (miss: NearMiss): NearMiss =>
      evaluated.needs_person && miss.approval_mode === 'auto' ? { ...miss, approval_mode: 'require' } : miss
    return misses.map((miss) => explain(forPerson(miss), { question, bounds, viewer }, names))
  } catch {
    return []
  }
}

const nobody: Names = { policies: new Map(), people: new Map() }

async function namesIn({ tx, actor }: Caller, misses: readonly NearMiss[]): Promise<Names> {
  const rules = misses.flatMap(({ rule, also }) => [rule, ...(also === undefined ? [] : [also.rule])])
  const [policies, people] = await Promise.all([
    findPolicyNames(
      tx,
      rules.map(({ policy_id }) => policy_id),
    ),
    findPeopleWords(tx, namedPeople(rules), actor.scopes),
  ])
  return { policies, people }
}

const maxRulesNamed = 3

/** The rules that decided, by name, to follow the reasoning. */
async function namesOfRules({ tx }: Caller, { ruleSet, decision }: EvaluatedRequest): Promise<string> {
  const ids = [...new Set([...decision.rule_ids, ...decision.held_by_rule_ids])]
  const rules = ids.slice(0, maxRulesNamed).flatMap((id) => ruleSet.rules.find((rule) => rule.id === id) ?? [])
  if (rules.length === 0) return ''
  const policies = await findPolicyNames(
    tx,
    rules.map(({ policy_id }) => policy_id),
  )
  const named = rules.map((rule) => ruleName({ ...rule, notice: null }, { ...nobody, policies }))
  const more = ids.length > rules.length ? ` and ${ids.length - rules.length} more` : ''
  return ` (${named.join(', ')}${more})`
}
