import { answerOf } from '@sallyport/client'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { growing, pageBehind } from '../parts/next-page.ts'
import type { Act, Conflict } from './conflicts.ts'

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

/** Does what a person decided. Who left is deleted, so that the address is free: the directory then makes the other one by itself. */
export async function settleConflict(directory: string, { id, user_id }: Conflict, act: Act): Promise<void> {
  if (act === 'freesAddress') {
    await answerOf(api.DELETE('/v1/users/{id}', { params: { path: { id: user_id } } }))
    return
  }
  const params = { path: { id: directory, conflict_id: id } }
  const body = { user_id: act === 'staysOut' ? null : user_id }
  await answerOf(api.POST('/v1/identity-providers/{id}/conflicts/{conflict_id}/settle', { params, body }))
}
