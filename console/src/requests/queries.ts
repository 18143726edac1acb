import { answerOf, type Schemas } from '@sallyport/client'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, once } from '../api/api.ts'
import { growing, pageBehind, shownAtOnce } from '../parts/next-page.ts'
import { now } from '../time/clock.ts'

export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ['request', id],
    queryFn: () => answerOf(api.GET('/v1/requests/{id}', { params: { path: { id } } })),
  })

export const decidersQuery = (id: string) =>
  queryOptions({
    queryKey: ['request', id, 'deciders'],
    queryFn: () => answerOf(api.GET('/v1/requests/{id}/deciders', { params: { path: { id } } })),
  })

/** All comments on a request: 100 are the most that it may have. */
export const commentsQuery = (id: string) =>
  queryOptions({
    queryKey: ['comment', id],
    queryFn: () => answerOf(api.GET('/v1/requests/{id}/comments', { params: { path: { id }, query: { limit: 100 } } })),
  })

/** The requests that the person may decide, in the order in which to decide them. */
export const inboxQuery = infiniteQueryOptions({
  queryKey: ['request', 'list', 'inbox'],
  queryFn: ({ pageParam: cursor }) =>
    answerOf(
      api.GET('/v1/requests', {
        params: { query: { decidable_by: 'me', ...pageBehind(cursor) } },
      }),
    ),
  ...growing,
})

/** How many requests the person may decide, up to 100. */
export const inboxCountQuery = queryOptions({
  queryKey: ['request', 'list', 'count'],
  queryFn: () => answerOf(api.GET('/v1/requests/count', { params: { query: { decidable_by: 'me' } } })),
})

const decidedWithinMs = 7 * 86_400_000

/** What the person decided lately. The list is in the order of the requests, not of the decisions, so it reaches back some days. */
export const decidedQuery = queryOptions({
  queryKey: ['request', 'list', 'decided'],
  queryFn: () => {
    const created_after = new Date(now() - decidedWithinMs).toISOString()
    return answerOf(
      api.GET('/v1/requests', { params: { query: { decided_by: ['me'], created_after, limit: shownAtOnce } } }),
    )
  },
})

/** The person's own requests that wait: 100 are the most that a user may have. */
export const waitingQuery = queryOptions({
  queryKey: ['request', 'list', 'waiting'],
  queryFn: () =>
    answerOf(
      api.GET('/v1/requests', {
        params: { query: { status: ['pending'], requester_id: ['me'], limit: 100 } },
      }),
    ),
})

/** The person's newest requests, whatever became of them. */
export const ownRequestsQuery = queryOptions({
  queryKey: ['request', 'list', 'own'],
  queryFn: () => answerOf(api.GET('/v1/requests', { params: { query: { requester_id: ['me'], limit: 100 } } })),
})

export type RequestInput = {
  resource: Schemas['ResourceReference']
  action: string
  duration_seconds: number
  reason: string | null
  break_glass: boolean
}

export const previewQuery = (input: RequestInput) =>
  queryOptions({
    queryKey: ['preview', input],
    queryFn: () => answerOf(api.POST('/v1/requests/preview', { body: input })),
    // Rules may read the clock.
    staleTime: 30_000,
  })

export const sendRequest = (body: RequestInput, key: string) =>
  answerOf(api.POST('/v1/requests', { body, ...once(key) }))

export const cancelRequest = (id: string) => answerOf(api.DELETE('/v1/requests/{id}', { params: { path: { id } } }))

export const remindDeciders = (id: string) =>
  answerOf(api.POST('/v1/requests/{id}/remind', { params: { path: { id } } }))

export const sendComment = (id: string, text: string, key: string) =>
  answerOf(api.POST('/v1/requests/{id}/comments', { params: { path: { id } }, body: { text }, ...once(key) }))

export const approve = (id: string, body: { duration_seconds: number; reasoning: string | null }, key: string) =>
  answerOf(api.POST('/v1/requests/{id}/approve', { params: { path: { id } }, body, ...once(key) }))

export const deny = (id: string, reasoning: string, key: string) =>
  answerOf(api.POST('/v1/requests/{id}/deny', { params: { path: { id } }, body: { reasoning }, ...once(key) }))
