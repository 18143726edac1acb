import { answerOf } from '@sallyport/client'
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { growing, pageBehind } from '../parts/next-page.ts'
import { now } from '../time/clock.ts'
import { pollAfter } from './inventory.ts'

/** What a connection sees. No event says that AWS was read: it is loaded again while that goes on. */
export const inventoryQuery = (id: string) =>
  queryOptions({
    queryKey: ['inventory', id],
    queryFn: () => answerOf(api.GET('/v1/provisioners/{id}/inventory', { params: { path: { id } } })),
    refetchInterval: ({ state: { data, dataUpdateCount } }) => pollAfter(data, dataUpdateCount, now()),
  })

/** Has AWS read now. */
export const refreshInventory = (id: string) =>
  answerOf(api.POST('/v1/provisioners/{id}/inventory/refresh', { params: { path: { id } } }))

/** What was shown stays while what follows it is loaded. */
const paged = { ...growing, placeholderData: keepPreviousData }

/** The people whom AWS does not know. `readAt`: when it was last read. */
export const unmatchedQuery = (id: string, readAt: string | null) =>
  infiniteQueryOptions({
    queryKey: ['inventory', id, 'unmatched', readAt],
    queryFn: ({ pageParam }) => {
      const params = { path: { id }, query: pageBehind(pageParam) }
      return answerOf(api.GET('/v1/provisioners/{id}/unmatched-users', { params }))
    },
    ...paged,
  })

/** Which of what is held is shown, and in which order. */
export type Filters = { order: 'account' | 'person'; administrators: boolean; q: string }

const queryOf = ({ order, administrators, q }: Filters) => ({
  order,
  ...(administrators && { administrators: true }),
  ...(q !== '' && { q }),
})

/** Who holds what in AWS, by one reading of it. */
export const standingQuery = (id: string, filters: Filters, reading: string) =>
  infiniteQueryOptions({
    queryKey: ['inventory', id, 'standing', filters, reading],
    queryFn: ({ pageParam }) => {
      const params = { path: { id }, query: { ...queryOf(filters), ...pageBehind(pageParam) } }
      return answerOf(api.GET('/v1/provisioners/{id}/standing-access', { params }))
    },
    ...paged,
  })

/** All of it, as a table. */
export const exportStanding = async (id: string, filters: Filters): Promise<Blob> => {
  const params = { path: { id }, query: queryOf(filters) }
  const table = await answerOf(
    api.GET('/v1/provisioners/{id}/standing-access/export', { params, parseAs: 'blob' as const }),
  )
  // The client types what one line is; asked for as a blob, it gives the whole.
  return table as unknown as Blob
}
