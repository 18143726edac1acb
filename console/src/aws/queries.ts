import { answerOf } from '@sallyport/client'
import { queryOptions } from '@tanstack/react-query'
import { pageOf, readPages } from '../access/pages.ts'
import { api, once } from '../api/api.ts'
import { ifMatch, type Tagged, withTag } from '../api/tagged.ts'
import type { Connection, Serves } from './connection.ts'

/** More provisioners than that are of no use in a list to choose from. */
const maxPages = 5

/** The connections to AWS, the first that was made first. */
export const connectionsQuery = queryOptions({
  queryKey: ['provisioner', 'list', 'aws'],
  queryFn: async (): Promise<Connection[]> => {
    const { found } = await readPages<Connection>(
      (cursor) => answerOf(api.GET('/v1/provisioners', { params: { query: pageOf(cursor) } })),
      { maxPages },
    )
    return found.filter(({ provisioner_type }) => provisioner_type === 'aws-identity-center')
  },
})

/** A connection as it is now, with the tag of its version. */
export const connectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['provisioner', id],
    queryFn: (): Promise<Tagged<Connection>> => withTag(api.GET('/v1/provisioners/{id}', { params: { path: { id } } })),
  })

/** Sets up a connection. It gives nothing before it is tested and turned on. */
export const connect = (config: { region: string; account_id: string }, key: string) => {
  const body = { name: `AWS ${config.account_id}`, provisioner_type: 'aws-identity-center' as const, config }
  return answerOf(api.POST('/v1/provisioners', { body, ...once(key) }))
}

/** Makes another external id. The one before is valid for a day more. */
export const renewExternalId = (id: string, key: string) =>
  answerOf(api.POST('/v1/provisioners/{id}/rotate-secret', { params: { path: { id } }, body: {}, ...once(key) }))

export const testConnection = (id: string) =>
  answerOf(api.POST('/v1/provisioners/{id}/test', { params: { path: { id } } }))

/** Turns a connection on, as it was shown. `serves`: undefined leaves what it serves. */
export const turnOn = ({ record: { id }, tag }: Tagged<Connection>, serves: Serves | undefined) =>
  answerOf(
    api.PATCH('/v1/provisioners/{id}', {
      params: { path: { id }, ...ifMatch(tag) },
      body: { enabled: true, ...(serves !== undefined && { serves }) },
    }),
  )
