/** The few rules whose scopes match the question, or nearly do. */

import type { Reaches } from '../deciding/keyed-scope.ts'
import {
  type AskSubset,
  inOrder,
  type PolicyRule,
  type RuleSet,
  type SortedRules,
  takesPart,
} from '../deciding/rule-set.ts'
import { missedSides, type Side } from './near-rule.ts'
import type { Pauser } from './pauser.ts'

export type Neighbourhood = {
  /** Permits whose scope matches, at most `most.permits`; those that take part in the question first. */
  permits: PolicyRule[]
  /** All forbids whose scope matches. */
  forbids: PolicyRule[]
  /** Permits of the question whose scope matches except for one part, at most `most.strays`. */
  strays: { rule: PolicyRule; side: Side }[]
}

const most = { permits: 40, forbids: 60, strays: 20 } as const

/** Which part of a scope is more likely to have been meant, or to be granted. */
const sides: readonly Side[] = ['principal', 'action', 'resource']

const rulesAtOnce = 64

/** Undefined where more forbids match than can be checked: then it is unknown what prevents a better answer. */
export async function neighbourhoodOf(
  { rules }: RuleSet,
  { read }: SortedRules,
  asked: readonly Reaches[],
  subset: AskSubset,
  yieldToEventLoop: Pauser,
): Promise<Neighbourhood | undefined> {
  const permits: PolicyRule[] = []
  const forbids: PolicyRule[] = []
  const strays: Neighbourhood['strays'] = []
  for (const [at, rule] of rules.entries()) {
    if (at % rulesAtOnce === 0) await yieldToEventLoop()
    const known = read.get(rule.id)
    if (!known?.sets.includes('ask')) continue
    const missed = missedSides(known.scope, asked)
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
