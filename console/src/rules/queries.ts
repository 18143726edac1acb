import { answerOf, type Schemas } from '@sallyport/client'
import { queryOptions } from '@tanstack/react-query'
import { pageOf, type Reading, readPages } from '../access/pages.ts'
import { api, once } from '../api/api.ts'
import { isOutdated } from '../api/faults.ts'
import { ifMatch, withTag } from '../api/tagged.ts'
import { type Draft, policyName } from './draft.ts'
import { type RuleFields, tag } from './templates.ts'

/** More entries than that are of no use in a list to choose from. */
const maxPages = 5

export type AccessPolicy = Schemas['Policy']
export type AccessRule = AccessPolicy['rules'][number]

/**
 * The policies with the rules of templates: one, unless two people began at the same time. In a disabled one, a new rule would decide nothing.
 */
export const accessPoliciesQuery = queryOptions({
  queryKey: ['policy', 'list', 'access'],
  queryFn: async (): Promise<AccessPolicy[]> => {
    const { found } = await readPages(
      (cursor) => answerOf(api.GET('/v1/policies', { params: { query: { q: policyName, ...pageOf(cursor) } } })),
      { maxPages },
    )
    return found.filter(({ name, enabled }: AccessPolicy) => name === policyName && enabled)
  },
})

export type Named = { id: string; name: string }

export const groupsQuery = queryOptions({
  queryKey: ['group', 'list', 'to-choose'],
  queryFn: () =>
    readPages<Named>((cursor) => answerOf(api.GET('/v1/groups', { params: { query: pageOf(cursor) } })), { maxPages }),
})

/** Accounts by number, and the values of their tag: those that can be requested. */
export const accountsToChooseQuery = queryOptions({
  queryKey: ['cloud_account', 'list', 'to-choose'],
  queryFn: async () => {
    const { found, hasMore }: Reading<Schemas['CloudAccount']> = await readPages(
      (cursor) => answerOf(api.GET('/v1/cloud/accounts', { params: { query: pageOf(cursor) } })),
      { maxPages },
    )
    const accounts = found.filter(({ account_id }) => /^\d{12}$/.test(account_id))
    const tags = accounts.map(({ metadata }) => metadata[tag]).filter((value) => typeof value === 'string')
    return {
      accounts: accounts.map(({ account_id, name }): Named => ({ id: account_id, name })),
      tags: [...new Set(tags)].sort(),
      hasMore,
    }
  },
})

/** Actions that have a description: what people can be expected to know. */
export const actionsQuery = queryOptions({
  queryKey: ['action', 'list', 'to-choose'],
  queryFn: async () => {
    const { found, hasMore } = await readPages(
      (cursor) => answerOf(api.GET('/v1/actions', { params: { query: pageOf(cursor) } })),
      { maxPages },
    )
    return { actions: found.map(({ action }) => action), hasMore }
  },
})

export const gainsQuery = (draft: Draft) =>
  queryOptions({
    queryKey: ['preview', 'gains', draft],
    queryFn: ({ signal }) => answerOf(api.POST('/v1/policies/gains', { body: { draft }, signal })),
    // Rules may read the clock.
    staleTime: 30_000,
  })

/** Adds a rule to the policy, which is created for the first one. Each of the two calls has a key of its own. */
export async function addRule(policy: AccessPolicy | null, rule: RuleFields, key: string): Promise<AccessRule> {
  const { id } =
    policy ?? (await answerOf(api.POST('/v1/policies', { body: { name: policyName }, ...once(`${key}-policy`) })))
  return answerOf(api.POST('/v1/policies/{id}/rules', { params: { path: { id } }, body: rule, ...once(key) }))
}

/**
 * Removes a rule as it was shown. One that has changed since then stays.
 * @returns the rule as it is now, where it has changed; undefined where it was removed
 */
export async function removeRule({ id, policy_id, updated_at }: AccessRule): Promise<AccessRule | undefined> {
  const path = { id: policy_id, rule_id: id }
  const read = () => withTag(api.GET('/v1/policies/{id}/rules/{rule_id}', { params: { path } }))
  // A policy shows its rules without their tags.
  const { record, tag } = await read()
  if (record.updated_at !== updated_at) return record
  try {
    await answerOf(api.DELETE('/v1/policies/{id}/rules/{rule_id}', { params: { path, ...ifMatch(tag) } }))
    return undefined
  } catch (error) {
    if (!isOutdated(error as Error)) throw error
    return (await read()).record
  }
}
