import { answerOf, type Schemas } from '@sallyport/client'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, once } from '../api/api.ts'
import { growing, pageBehind } from '../parts/next-page.ts'
import { type Entry, keyOf } from './entry.ts'
import { type Grant, isMoving } from './grant.ts'
import { type Reading, readPages } from './pages.ts'

/** How often a page asks for access that a target works on. */
const movingMs = 2_000

/** What is live, however old; what should be gone and is not, however old; and the newest of the rest. */
const ownGrants: { status?: Grant['status'][]; provisioning_status?: 'deprovisioning_failed'[] }[] = [
  { status: ['active', 'pending'] },
  { provisioning_status: ['deprovisioning_failed'] },
  {},
]

/** Access that the person has, and the newest of what they had: a grant of some weeks may be older than the last hundred. */
export const ownGrantsQuery = queryOptions({
  queryKey: ['grant', 'list', 'own'],
  queryFn: async () => {
    const pages = await Promise.all(
      ownGrants.map((filter) =>
        answerOf(api.GET('/v1/grants', { params: { query: { user_id: ['me'], limit: 200, ...filter } } })),
      ),
    )
    const byId = new Map(pages.flatMap(({ data }) => data).map((grant) => [grant.id, grant]))
    return [...byId.values()].sort((one, other) => (one.created_at < other.created_at ? 1 : -1))
  },
  refetchInterval: ({ state }) => (state.data?.some(isMoving) === true ? movingMs : false),
})

/** The access that a request gave: of a unit, one grant for each of its accounts. */
export const grantsOfRequestQuery = (request_id: string) =>
  infiniteQueryOptions({
    queryKey: ['grant', 'list', 'request', request_id],
    queryFn: ({ pageParam: cursor }) =>
      answerOf(api.GET('/v1/grants', { params: { query: { request_id, ...pageBehind(cursor) } } })),
    ...growing,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(isMoving)) === true ? movingMs : false,
  })

export const grantQuery = (id: string) =>
  queryOptions({
    queryKey: ['grant', id],
    queryFn: () => answerOf(api.GET('/v1/grants/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data !== undefined && isMoving(state.data) ? movingMs : false),
  })

/** A search answers slowly, so one that is typed over stops. */
export const catalogueQuery = (q: string) =>
  queryOptions({
    queryKey: ['catalogue', 'search', q],
    queryFn: ({ signal }) => search(q, { signal, wanted: 20 }),
    staleTime: 60_000,
  })

type SearchOptions = { signal: AbortSignal; wanted?: number }

/** The service examines so many candidates for a page and no more, so a search reads a few pages, and never all of a large tenant. */
const maxPages = 40

function search(q: string, { signal, wanted }: SearchOptions): Promise<Reading<Entry>> {
  const read = (cursor: string | undefined) => {
    const query = { limit: wanted ?? 200, ...(q !== '' && { q }), ...(cursor !== undefined && { cursor }) }
    return answerOf(api.GET('/v1/catalogue', { params: { query }, signal }))
  }
  return readPages(read, { maxPages, ...(wanted !== undefined && { wanted }) })
}

/** Up to five favourites and recents, as far as the person may request them now. */
export const shortlistQuery = queryOptions({
  queryKey: ['catalogue', 'shortlist'],
  queryFn: async ({ signal }) => {
    const lists: Entry[] = []
    // One after another: the service evaluates one call of a person at a time.
    for (const only of ['favourites', 'recents'] as const) {
      const { data } = await answerOf(api.GET('/v1/catalogue', { params: { query: { only, limit: 5 } }, signal }))
      lists.push(...data)
    }
    const byPair = new Map(lists.map((entry) => [keyOf(entry), entry]))
    return [...byPair.values()].slice(0, 5)
  },
})

/** All that the person may request on one resource. */
export const entriesOfQuery = (resource: Schemas['ResourceReference']) =>
  queryOptions({
    queryKey: ['catalogue', 'resource', resource],
    queryFn: async ({ signal }) => {
      const { found } = await search(resource.id, { signal })
      return found.filter((entry) => isSame(entry.resource, resource))
    },
  })

const isSame = (one: Schemas['ResourceReference'], other: Schemas['ResourceReference']) =>
  one.type === other.type && one.id === other.id

export const endAccess = (id: string) =>
  answerOf(api.POST('/v1/grants/{id}/revoke', { params: { path: { id } }, body: {} }))

export const retryAccess = (id: string) => answerOf(api.POST('/v1/grants/{id}/retry', { params: { path: { id } } }))

export const extendAccess = (id: string, body: { duration_seconds: number; reason: string | null }, key: string) =>
  answerOf(api.POST('/v1/grants/{id}/extend', { params: { path: { id } }, body, ...once(key) }))

/** The favourites of the person: 100 are the most that a user may have. */
export const favouritesQuery = queryOptions({
  queryKey: ['catalogue', 'favourites'],
  queryFn: () => answerOf(api.GET('/v1/users/me/favourites', { params: { query: { limit: 100 } } })),
})

export const removeFavourite = (id: string) =>
  answerOf(api.DELETE('/v1/users/me/favourites/{id}', { params: { path: { id } } }))

export const addFavourite = (body: { resource: Schemas['ResourceReference']; action: string }) =>
  answerOf(api.POST('/v1/users/me/favourites', { body }))
