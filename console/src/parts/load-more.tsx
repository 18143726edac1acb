import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useWords } from '../words/words.ts'
import { Button } from './button.tsx'
import { LoadFailure } from './list-states.tsx'
import { loadNextPage } from './next-page.ts'

/** What the end of a list that is loaded in pages is shown from. */
export type Paged = Pick<
  UseInfiniteQueryResult<InfiniteData<unknown>>,
  'data' | 'error' | 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError'
>

/** The end of a list: the way to what follows, or why that did not load. */
export function LoadMore({ list, className = '' }: { list: Paged; className?: string }): ReactNode {
  const words = useWords().lists
  const { error, hasNextPage, isFetchingNextPage, isFetchNextPageError } = list
  const more = () => loadNextPage(list)
  if (isFetchNextPageError && error !== null) return <LoadFailure error={error} retry={more} />
  if (!hasNextPage) return null
  return (
    <Button className={className} isPending={isFetchingNextPage} onClick={more}>
      {words.loadMore}
    </Button>
  )
}
