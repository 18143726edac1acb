import { useQuery } from '@tanstack/react-query'
import { useMe } from '../me/me.ts'
import { rolesQuery } from '../people/queries.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { clockOf } from './clock.ts'
import { accountsToChooseQuery, actionsQuery, groupsQuery, type Named } from './queries.ts'
import type { Names } from './slot-texts.ts'

/** What the person can choose from: as much as they may see. */
export type Facts = {
  groups: readonly Named[]
  roles: readonly Named[]
  accounts: readonly Named[]
  tags: readonly string[]
  actions: readonly string[]
  names: Names
  hasMore: boolean
  /** Whether all of it has been loaded. */
  isReady: boolean
  /** Why something could not be loaded. */
  error: Error | undefined
  retry: () => unknown
  longest: number
}

const byId = (list: readonly Named[]) => new Map(list.map(({ id, name }) => [id, name]))

export function useFacts(): Facts {
  const words = useSetUpWords().rules
  const { scopes, limits, preferences } = useMe()
  const groups = useQuery({ ...groupsQuery, enabled: scopes.includes('groups:read') })
  const roles = useQuery({ ...rolesQuery, enabled: scopes.includes('roles:read') })
  const accounts = useQuery({ ...accountsToChooseQuery, enabled: scopes.includes('cloud_accounts:read') })
  const actions = useQuery(actionsQuery)
  const all = [groups, roles, accounts, actions]
  const failed = all.filter(({ error }) => error !== null)
  const lists = {
    groups: groups.data?.found ?? [],
    roles: roles.data?.found ?? [],
    accounts: accounts.data?.accounts ?? [],
  }
  return {
    ...lists,
    tags: accounts.data?.tags ?? [],
    actions: actions.data?.actions ?? [],
    names: {
      groups: byId(lists.groups),
      roles: byId(lists.roles),
      accounts: byId(lists.accounts),
      clock: clockOf(preferences, words.midnight),
    },
    hasMore: all.some(({ data }) => data?.hasMore === true),
    isReady: all.every(({ isLoading, error }) => !isLoading && error === null),
    error: failed[0]?.error ?? undefined,
    retry: () => Promise.all(failed.map(({ refetch }) => refetch())),
    longest: limits.max_duration_seconds,
  }
}
