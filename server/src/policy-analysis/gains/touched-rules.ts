/** The rules about requests that a draft adds, changes or deletes: only where one of them fits can an answer change. */
import type { Drafted } from '../../policies/drafts/drafted.ts'
import type { PolicyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { type AskRule, askRulesOf } from '../../policy-engine/deciding/possible-requests.ts'
import { type AskSubset, takesPart } from '../../policy-engine/deciding/rule-set.ts'
import { most } from './gains.ts'

/** The rules of one set, and those among them that the other set has not, or not so. */
export type Side = { rules: readonly AskRule[]; own: readonly AskRule[] }
/** The rules about requests now, and by the draft. */
export type Sides = { before: Side; after: Side }

/** Both rule sets must be read. */
export function sidesOf({ before, after, added, changed, removed }: Drafted, evaluator: PolicyEvaluator): Sides {
  const sideOf = (ruleSet: Drafted['before'], ids: readonly string[]): Side => {
    const { rules } = askRulesOf(ruleSet, evaluator)
    const own = new Set(ids)
    return { rules, own: rules.filter(({ id }) => own.has(id)) }
  }
  return { before: sideOf(before, [...changed, ...removed]), after: sideOf(after, [...changed, ...added]) }
}

export function ownRules({ before, after }: Sides): AskRule[] {
  return [...before.own, ...after.own]
}

/**
 * The actions that own rules name, in order. Where one of them covers any action, those that the other rules name come behind, and
 * `any_action` says that still others can be requested.
 */
export function actionsOf(sides: Sides): { actions: string[]; any_action: boolean } {
  const namedBy = (some: readonly AskRule[]) => [...new Set(some.flatMap(({ actions }) => actions))].sort()
  const own = ownRules(sides)
  const any_action = own.some(({ scope }) => scope.actions === undefined)
  const others = any_action ? namedBy([...sides.before.rules, ...sides.after.rules]) : []
  return { actions: [...new Set([...namedBy(own), ...others])], any_action }
}

/** What of the sides concerns these actions; of the actions, the first ones that are examined. Other rules tell nothing apart. */
export function concerning({ before, after }: Sides, actions: readonly string[]): Sides {
  const examined = actions.slice(0, most.actions)
  const isFor = ({ scope }: AskRule) =>
    scope.actions === undefined || examined.some((action) => scope.actions?.includes(action))
  const of = ({ rules, own }: Side): Side => ({ rules: rules.filter(isFor), own: own.filter(isFor) })
  return { before: of(before), after: of(after) }
}

/** Whether somebody may gain: the draft permits, or no longer forbids, something. */
export function mayGain({ before, after }: Sides): boolean {
  return after.own.some(({ effect }) => effect === 'permit') || before.own.some(({ effect }) => effect === 'forbid')
}

/** Whether the rule takes part in emergencies, or in ordinary requests. */
export function takesPartIn({ effect, mode: approval_mode }: AskRule, emergency: boolean): boolean {
  const subsets: AskSubset[] = emergency ? ['emergency'] : ['ordinary', 'at_once']
  return subsets.some((subset) => takesPart({ effect, approval_mode }, subset))
}

/** Whether the rule can concern resources other than accounts: its scope does not say that it is about accounts alone. */
export function mayConcernOthers({ scope: { resource } }: AskRule): boolean {
  const { type, is } = resource
  const typeOf = (key: string) => key.slice(0, key.indexOf(' '))
  return (type ?? (is === undefined ? undefined : typeOf(is))) !== 'cloud_account'
}
