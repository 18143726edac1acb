import { answerOf, type Schemas } from '@sallyport/client'
import { queryOptions } from '@tanstack/react-query'
import { api, once } from '../api/api.ts'
import { isMoving } from './grant.ts'

/** How often a page asks for access that a target works on. */
const movingMs = 2_000

/** Access that the person has, and the newest of what they had: a grant of some weeks may be older than the last hundred. */
export const ownGrantsQuery = queryOptions({
  queryKey: ['grant', 'list', 'own'],
  queryFn: async () => {
    const pages = await Promise.all([
      answerOf(
        api.GET('/v1/grants', {
          params: { query: { user_id: ['me'], status: ['active', 'pending'], limit: 100 } },
        }),
      ),
      answerOf(api.GET('/v1/grants', { params: { query: { user_id: ['me'], limit: 100 } } })),
    ])
    const byId = new Map(pages.flatMap(({ data }) => data).map((grant) => [grant.id, grant]))
    return [...byId.values()].sort((one, other) => (one.created_at < other.created_at ? 1 : -1))
  },
  refetchInterval: ({ state }) => (state.data?.some(isMoving) === true ? movingMs : false),
})

export const grantsOfRequestQuery = (request_id: string) =>
  queryOptions({
    queryKey: ['grant', 'list', 'request', request_id],
    queryFn: () => answerOf(api.GET('/v1/grants', { params: { query: { request_id, limit: 100 } } })),
    refetchInterval: ({ state }) => (state.data?.data.some(isMoving) === true ? movingMs : false),
  })

export const grantQuery = (id: string) =>
  queryOptions({
    queryKey: ['grant', id],
    queryFn: () => answerOf(api.GET('/v1/grants/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data !== undefined && isMoving(state.data) ? movingMs : false),
  })

export const catalogueQuery = (q: string) =>
  queryOptions({
    queryKey: ['catalogue', 'search', q],
    queryFn: () => search(q),
    staleTime: 60_000,
  })

/** A page may be short, or empty, though more follows: it examines so many candidates and no more. */
const [wanted, maxPages] = [20, 40]

async function search(q: string): Promise<Schemas['CatalogueEntry'][]> {
  const found: Schemas['CatalogueEntry'][] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages && found.length < wanted; page += 1) {
    const query = { limit: wanted, ...(q !== '' && { q }), ...(cursor !== undefined && { cursor }) }
    const { data, next_cursor } = await answerOf(api.GET('/v1/catalogue', { params: { query } }))
    found.push(...data)
    if (next_cursor === undefined) break
    cursor = next_cursor
  }
  return found
}

/** Up to five favourites and recents, as far as the person may request them now. */
export const shortlistQuery = queryOptions({
  queryKey: ['catalogue', 'shortlist'],
  queryFn: async () => {
    const lists: Schemas['CatalogueEntry'][] = []
    // One after another: the service evaluates one call of a person at a time.
    for (const only of ['favourites', 'recents'] as const) {
      const { data } = await answerOf(api.GET('/v1/catalogue', { params: { query: { only, limit: 5 } } }))
      lists.push(...data)
    }
    const byPair = new Map(lists.map((entry) => [`${entry.resource.type}/${entry.resource.id}/${entry.action}`, entry]))
    return [...byPair.values()].slice(0, 5)
  },
})

/** What the person may request on one resource. */
export const entriesOfQuery = (resource: Schemas['ResourceReference']) =>
  queryOptions({
    queryKey: ['catalogue', 'resource', resource],
    queryFn: async () => (await search(resource.id)).filter((entry) => isSame(entry.resource, resource)),
  })

const isSame = (one: Schemas['ResourceReference'], other: Schemas['ResourceReference']) =>
  one.type === other.type && one.id === other.id

export const endAccess = (id: string) =>
  answerOf(api.POST('/v1/grants/{id}/revoke', { params: { path: { id } }, body: {} }))

export const retryAccess = (id: string) => answerOf(api.POST('/v1/grants/{id}/retry', { params: { path: { id } } }))

export const extendAccess = (id: string, body: { duration_seconds: number; reason: string | null }, key: string) =>
  answerOf(api.POST('/v1/grants/{id}/extend', { params: { path: { id } }, body, ...once(key) }))

export const favouritesQuery = queryOptions({
  queryKey: ['catalogue', 'favourites'],
  queryFn: () => answerOf(api.GET('/v1/users/me/favourites', { params: { query: { limit: 100 } } })),
})

export const removeFavourite = (id: string) =>
  answerOf(api.DELETE('/v1/users/me/favourites/{id}', { params: { path: { id } } }))

export const addFavourite = (body: { resource: Schemas['ResourceReference']; action: string }) =>
  answerOf(api.POST('/v1/users/me/favourites', { body }))
