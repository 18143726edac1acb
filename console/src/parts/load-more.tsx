import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useWords } from '../words/words.ts'
import { Button } from './button.tsx'
import { LoadFailure } from './list-states.tsx'

/** What the end of a list that is loaded in pages is shown from. */
export type Paged = Pick<
  UseInfiniteQueryResult,
  'error' | 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError'
>

/** The end of a list: the way to what follows, or why that did not load. */
export function LoadMore({ list, className = '' }: { list: Paged; className?: string }): ReactNode {
  const words = useWords().lists
  const { error, hasNextPage, fetchNextPage, isFetchingNextPage, isFetchNextPageError } = list
  if (isFetchNextPageError && error !== null) return <LoadFailure error={error} retry={fetchNextPage} />
  if (!hasNextPage) return null
  return (
    <Button className={className} isPending={isFetchingNextPage} onClick={() => fetchNextPage()}>
      {words.loadMore}
    </Button>
  )
}
