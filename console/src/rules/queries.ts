import { answerOf, type Schemas } from '@sallyport/client'
import { queryOptions } from '@tanstack/react-query'
import { pageOf, type Reading, readPages } from '../access/pages.ts'
import { api, once } from '../api/api.ts'
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

export const removeRule = ({ id, policy_id }: AccessRule) =>
  answerOf(api.DELETE('/v1/policies/{id}/rules/{rule_id}', { params: { path: { id: policy_id, rule_id: id } } }))
