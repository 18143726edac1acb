import { answerOf, type Schemas } from '@sallyport/client'
import { queryOptions } from '@tanstack/react-query'
import { type Reading, readPages } from '../access/pages.ts'
import { api, once } from '../api/api.ts'
import { type Draft, policyName } from './draft.ts'
import { type RuleFields, tag } from './templates.ts'

const pageSize = 200
/** More entries than that are of no use in a list to choose from. */
const maxPages = 5

const pageOf = (cursor: string | undefined) => ({ limit: pageSize, ...(cursor !== undefined && { cursor }) })

export type AccessPolicy = Schemas['Policy']
export type AccessRule = AccessPolicy['rules'][number]

/** The policy with the rules of templates; null before there is one. In a disabled one, a new rule would decide nothing. */
export const accessPolicyQuery = queryOptions({
  queryKey: ['policy', 'list', 'access'],
  queryFn: async (): Promise<AccessPolicy | null> => {
    const isIt = ({ name, enabled }: AccessPolicy) => name === policyName && enabled
    const { found } = await readPages(
      async (cursor) => {
        const query = { q: policyName, ...pageOf(cursor) }
        const page = await answerOf(api.GET('/v1/policies', { params: { query } }))
        return { ...page, data: page.data.filter(isIt) }
      },
      { maxPages, wanted: 1 },
    )
    return found[0] ?? null
  },
})

export type Named = { id: string; name: string }

export const groupsQuery = queryOptions({
  queryKey: ['group', 'list', 'to-choose'],
  queryFn: () =>
    readPages<Named>((cursor) => answerOf(api.GET('/v1/groups', { params: { query: pageOf(cursor) } })), { maxPages }),
})

export const rolesQuery = queryOptions({
  queryKey: ['role', 'list', 'to-choose'],
  queryFn: () =>
    readPages<Named>((cursor) => answerOf(api.GET('/v1/roles', { params: { query: pageOf(cursor) } })), { maxPages }),
})

/** Accounts by number, and the values of their tag: those that can be requested. */
export const accountsQuery = queryOptions({
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
    const { data } = await answerOf(api.GET('/v1/actions', { params: { query: { limit: pageSize } } }))
    return data.map(({ action }) => action)
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
