import { answerOf, type Schemas } from '@sallyport/client'
import { queryOptions } from '@tanstack/react-query'
import { createContext, use } from 'react'
import { api } from '../api/api.ts'

export type Me = Schemas['OwnUser']

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: () => answerOf(api.GET('/v1/users/me')),
})

export const MeContext = createContext<Me | undefined>(undefined)

/** The person who is signed in. */
export function useMe(): Me {
  const me = use(MeContext)
  if (me === undefined) throw new Error('nobody is signed in here')
  return me
}

export const mayApprove = ({ scopes }: Pick<Me, 'scopes'>): boolean => scopes.includes('requests:approve')

/** Whether the page of the first steps has something for this person. */
export const maySetUp = ({ scopes }: Pick<Me, 'scopes'>): boolean =>
  ['cloud_accounts:write', 'policies:write', 'provisioners:write', 'users:write'].some((scope) =>
    scopes.includes(scope),
  )

/** Whether the person may see what gives access in AWS and elsewhere. */
export const maySeeConnections = ({ scopes }: Pick<Me, 'scopes'>): boolean => scopes.includes('provisioners:read')

/** Whether the person may see where users and groups come from. */
export const maySeeDirectories = ({ scopes }: Pick<Me, 'scopes'>): boolean => scopes.includes('identity_providers:read')
