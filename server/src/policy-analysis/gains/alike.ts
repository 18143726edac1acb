/** People, accounts and actions that no rule of either set tells apart: one answer is that of all. */
import type { CountedKind } from '../../cloud/cloud-account.ts'
import type { Principal, Resource } from '../../policy-engine/cedar/question.ts'
import { reachOf } from '../../policy-engine/deciding/keyed-scope.ts'
import type { AskRule } from '../../policy-engine/deciding/possible-requests.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { resourceUnder } from '../../policy-facts/resource.ts'

/**
 * `people`: with their places in the order of names. The answer for the first is that for all. `rights`: the same for people with the same
 * rights. `author`: their id, if they saved a rule.
 */
export type PersonKind = {
  person: Principal
  people: { id: string; name: string; place: number }[]
  rights: string
  author: string | undefined
}
export type AccountKind = { resource: Resource } & Pick<CountedKind, 'count' | 'first'>
export type ActionKind = { action: string; actions: string[] }

/**
 * People whom the rules cannot tell apart. By scopes: the groups, roles and people that rules name there. By conditions: the rights of a
 * person where a condition reads the person, and who they are where it may read that. By authors: a rule approves nothing of its own.
 */
export function peopleAlike(
  people: readonly Principal[],
  rules: readonly AskRule[],
  ruleSets: readonly RuleSet[],
): PersonKind[] {
  const named = new Set(
    rules.flatMap(({ scope: { principal } }) => [principal.is ?? [], principal.within ?? []].flat()),
  )
  const authors = new Set(ruleSets.flatMap((ruleSet) => ruleSet.rules.flatMap(({ saved_by }) => saved_by ?? [])))
  const reads = new Set(rules.map(({ readsPerson }) => readsPerson))
  const kinds = new Map<string, PersonKind>()
  for (const [place, person] of people.entries()) {
    const { id, name, email, ...others } = person
    const author = authors.has(id) ? id : undefined
    const rights = reads.has('rights') || reads.has('identity') ? JSON.stringify(others) : ''
    const scopes = keysOf(person).filter((key) => named.has(key))
    const key = JSON.stringify([scopes.sort(), author, rights, reads.has('identity') && [id, name, email]])
    const one = { id, name, place }
    const kind = kinds.get(key)
    if (kind === undefined) kinds.set(key, { person, people: [one], rights, author })
    else kind.people.push(one)
  }
  return [...kinds.values()]
}

/** The person, their groups and their roles, as scopes name them. */
function keysOf({ id, group_ids, role_ids }: Principal): string[] {
  const groups = group_ids.map((group) => ({ type: 'Group', id: group }))
  const roles = role_ids.map((role) => ({ type: 'Role', id: role }))
  return [...reachOf({ type: 'User', id }, [...groups, ...roles]).within]
}

/** The kinds of account, each by its first. The database told them apart by all that the rules read. */
export function accountKinds(kinds: readonly CountedKind[]): AccountKind[] {
  return kinds.flatMap(({ kind: { account_id, ...seen }, name, count, first }) => {
    const [one] = first
    if (one === undefined) return []
    const reference = { type: 'cloud_account', id: account_id ?? one.id } as const
    return { resource: resourceUnder(reference, undefined, { ...seen, name: name ?? one.name }), count, first }
  })
}

/** Actions that the same rules cover; each by itself where a condition may read the action. */
export function actionsAlike(actions: readonly string[], rules: readonly AskRule[]): ActionKind[] {
  const isRead = rules.some(({ readsAction }) => readsAction)
  const keyOf = (action: string) => {
    if (isRead) return action
    return rules.flatMap(({ serial, scope }) => (scope.actions?.includes(action) ? serial : [])).join()
  }
  return [...Map.groupBy(actions, keyOf).values()].flatMap((alike) => {
    const [action] = alike
    return action === undefined ? [] : { action, actions: alike }
  })
}
