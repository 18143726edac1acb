import { useQuery } from '@tanstack/react-query'
import { useMe } from '../me/me.ts'
import { accountsQuery, actionsQuery, groupsQuery, type Named, rolesQuery } from './queries.ts'
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
  /** Whether all of it has been loaded, or cannot be. */
  isReady: boolean
  longest: number
}

const byId = (list: readonly Named[]) => new Map(list.map(({ id, name }) => [id, name]))

export function useFacts(): Facts {
  const { scopes, limits } = useMe()
  const groups = useQuery({ ...groupsQuery, enabled: scopes.includes('groups:read') })
  const roles = useQuery({ ...rolesQuery, enabled: scopes.includes('roles:read') })
  const accounts = useQuery({ ...accountsQuery, enabled: scopes.includes('cloud_accounts:read') })
  const actions = useQuery(actionsQuery)
  const lists = {
    groups: groups.data?.found ?? [],
    roles: roles.data?.found ?? [],
    accounts: accounts.data?.accounts ?? [],
  }
  return {
    ...lists,
    tags: accounts.data?.tags ?? [],
    actions: actions.data ?? [],
    names: { groups: byId(lists.groups), roles: byId(lists.roles), accounts: byId(lists.accounts) },
    hasMore: [groups, roles, accounts].some(({ data }) => data?.hasMore === true),
    isReady: [groups, roles, accounts].every(({ isLoading }) => !isLoading),
    longest: limits.max_duration_seconds,
  }
}
