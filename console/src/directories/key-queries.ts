import { answerOf, type Schemas } from '@sallyport/client'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, once } from '../api/api.ts'
import { growing, pageBehind } from '../parts/next-page.ts'
import { shownOnce } from '../parts/shown-once.ts'

export type ApiKey = Schemas['ApiKey']

/** The keys by which a directory calls, without those that were revoked. */
export const keysQuery = (identity_provider_id: string) =>
  infiniteQueryOptions({
    queryKey: ['api_key', 'list', identity_provider_id],
    queryFn: ({ pageParam }) => {
      const query = { ...pageBehind(pageParam), identity_provider_id, revoked: false }
      return answerOf(api.GET('/v1/api-keys', { params: { query } }))
    },
    ...growing,
  })

/** The answer shows the key once. */
export const makeKey = (identity_provider_id: string, name: string, key: string) =>
  answerOf(api.POST('/v1/api-keys', { body: { name, identity_provider_id }, ...once(key) }))

export const revokeKey = (id: string) => answerOf(api.DELETE('/v1/api-keys/{id}', { params: { path: { id } } }))

/** The key of a directory, while this window shows it. */
export const { keep: keepKey, useShown: useKey } = shownOnce<string>()
