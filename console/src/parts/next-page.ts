import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'

/** A list of which further pages can be loaded. */
export type Growing = Pick<UseInfiniteQueryResult<InfiniteData<unknown>>, 'data' | 'fetchNextPage'>

/** How many entries a list shows before more are loaded. */
export const shownAtOnce = 50

/** A page of a list, behind `cursor`. */
export const pageBehind = (cursor: string | null) => ({ limit: shownAtOnce, ...(cursor !== null && { cursor }) })

/** How the pages of a list follow each other. */
export const growing = {
  initialPageParam: null as string | null,
  getNextPageParam: (page: { next_cursor?: string | undefined }) => page.next_cursor ?? null,
}

/**
 * Loads the next page of a list. A reload that is under way ends first: it would be broken off, and the pages that it brings up to date would
 * then count as new.
 */
export async function loadNextPage({ data, fetchNextPage }: Growing): Promise<void> {
  const join = { cancelRefetch: false }
  const loaded = await fetchNextPage(join)
  const wasReload = loaded.isSuccess && loaded.hasNextPage && loaded.data.pages.length === data?.pages.length
  if (wasReload) await fetchNextPage(join)
}
