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

/** Does what a person decided of this conflict, as they saw it: another person is another conflict. */
export async function settleConflict(directory: string, { id, user_id }: Conflict, act: Act): Promise<void> {
  const params = { path: { id: directory, conflict_id: id } }
  const isOne = act === 'joins' || act === 'comesBack'
  const body = isOne ? { user_id } : { user_id: null, ...(act === 'freesAddress' && { delete_user: true }) }
  await answerOf(api.POST('/v1/identity-providers/{id}/conflicts/{conflict_id}/settle', { params, body }))
}
