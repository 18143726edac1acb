import type { Query, QueryClient } from '@tanstack/react-query'
import type { Key } from './changes.ts'

/**
 * Loads again what is shown, and marks the rest as old. To load a list again ends what it is loading: a list that loads a further page, which a
 * person asked for, is loaded again after that.
 */
export function refresh(queries: QueryClient, isStale: (key: Key) => boolean): void {
  // Each of our queries names its kind first.
  const isOld = ({ queryKey }: Query) => isStale(queryKey as unknown as Key)
  const invalidate = (predicate: (query: Query) => boolean) => {
    // A query that fails says so where it is shown.
    queries.invalidateQueries({ predicate }).catch(() => undefined)
  }
  const growing = queries.getQueryCache().findAll({ predicate: (query) => isOld(query) && isGrowing(query) })
  invalidate((query) => isOld(query) && !growing.includes(query))
  for (const query of growing) {
    const again = () => invalidate((one) => one === query)
    // It joins what is under way.
    query.fetch().then(again, again)
  }
}

const isGrowing = ({ state }: Query) => state.fetchStatus === 'fetching' && state.fetchMeta?.fetchMore !== undefined
