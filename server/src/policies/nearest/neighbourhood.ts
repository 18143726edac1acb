/** The few rules that speak of what is asked, or nearly do. */
import type { AskQuestion } from '../cedar/question.ts'
import { type Scope, scopeFromEngine } from '../cedar/scope.ts'
import { ruleSetsOf } from '../cedar/validate.ts'
import { inOrder, type PolicyRule, type RuleSet, type Subset, takesPart } from '../deciding/rule-set.ts'
import { askedOf, missedSides, type Side } from './near-rule.ts'
import type { Pace } from './pace.ts'
import { readRule } from './part.ts'

export type AskSubset = Exclude<Subset, 'approve'>

export type Neighbourhood = {
  /** Permits whose scope speaks of it, at most `most.permits`; those that take part in the question first. */
  permits: PolicyRule[]
  /** All forbids whose scope speaks of it. */
  forbids: PolicyRule[]
  /** Permits of the question of which one part of the scope does not speak of it, at most `most.strays`. */
  strays: { rule: PolicyRule; side: Side }[]
}

const most = { permits: 40, forbids: 60, strays: 20 } as const

/** Which part of a scope is more likely to have been meant, or to be granted. */
const sides: readonly Side[] = ['principal', 'action', 'resource']

/** Undefined where more forbids speak of it than can be looked at: then nobody knows what stands in the way. */
export async function neighbourhoodOf(
  ruleSet: RuleSet,
  question: AskQuestion,
  subset: AskSubset,
  breathe: Pace,
): Promise<Neighbourhood | undefined> {
  const asked = askedOf(question)
  const permits: PolicyRule[] = []
  const forbids: PolicyRule[] = []
  const strays: Neighbourhood['strays'] = []
  for (const rule of ruleSet.rules) {
    await breathe()
    const scope = scopeOf(rule)
    if (!ruleSetsOf(scope.action).includes('ask')) continue
    const missed = missedSides(scope, asked)
    const [side] = missed
    if (side === undefined) (rule.effect === 'permit' ? permits : forbids).push(rule)
    else if (missed.length === 1 && rule.effect === 'permit' && takesPart(rule, subset)) strays.push({ rule, side })
    if (forbids.length > most.forbids) return undefined
  }
  const aside = (rule: PolicyRule) => Number(!takesPart(rule, subset))
  return {
    permits: permits.sort((a, b) => aside(a) - aside(b) || inOrder(a, b)).slice(0, most.permits),
    forbids,
    strays: strays
      .sort((a, b) => sides.indexOf(a.side) - sides.indexOf(b.side) || inOrder(a.rule, b.rule))
      .slice(0, most.strays),
  }
}

/** Of rules as long as somebody holds them. */
const scopes = new WeakMap<PolicyRule, Scope>()

/** The scope of a stored rule. */
export function scopeOf(rule: PolicyRule): Scope {
  let scope = scopes.get(rule)
  if (scope === undefined) {
    scope = scopeFromEngine(readRule(rule.policy_text))
    scopes.set(rule, scope)
  }
  return scope
}
