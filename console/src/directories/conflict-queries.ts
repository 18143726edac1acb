import { answerOf } from '@sallyport/client'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { growing, pageBehind } from '../parts/next-page.ts'

/** Those whom somebody has to settle. */
export const conflictsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['identity_provider', id, 'conflicts'],
    queryFn: ({ pageParam }) => {
      const params = { path: { id }, query: pageBehind(pageParam) }
      return answerOf(api.GET('/v1/identity-providers/{id}/conflicts', { params }))
    },
    ...growing,
  })

/** `user_id`: who the user of the directory is here; null: nobody. */
export const settleConflict = (id: string, conflict_id: string, user_id: string | null) => {
  const params = { path: { id, conflict_id } }
  return answerOf(api.POST('/v1/identity-providers/{id}/conflicts/{conflict_id}/settle', { params, body: { user_id } }))
}
