import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { maxUnmatched } from './inventory.ts'
import { unmatchedQuery } from './inventory-queries.ts'

type UnmatchedProps = {
  id: string
  /** Null: the people in AWS were not read yet. */
  count: number | null
  readAt: string | null
}

/** The people whom AWS does not know: access that is approved for them would fail. */
export function Unmatched({ id, count, readAt }: UnmatchedProps): ReactNode {
  const words = useSetUpWords().aws.sight
  if (count === null) return null
  if (count === 0) return <p>{words.allMatch}</p>
  return (
    <div className="grid gap-2">
      <p>
        <strong className="font-medium text-wait">{words.unmatched(count, count >= maxUnmatched)}</strong>{' '}
        {words.unmatchedText}
      </p>
      <List id={id} readAt={readAt} />
    </div>
  )
}

function List({ id, readAt }: Pick<UnmatchedProps, 'id' | 'readAt'>): ReactNode {
  const words = useSetUpWords().aws.sight
  const list = useInfiniteQuery(unmatchedQuery(id, readAt))
  const { data, error, refetch } = list
  if (data === undefined) return error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />
  return (
    <>
      <ul aria-label={words.unmatchedList} className="divide-y divide-line border-y border-line">
        {data.pages
          .flatMap((page) => page.data)
          .map(({ id: user, name, email, looked_for, why }) => (
            <li key={user} className="flex flex-wrap items-baseline justify-between gap-x-4 py-2">
              <p className="min-w-0 wrap-anywhere">
                <bdi className="font-medium">{name}</bdi> <span className="text-text-2">{email}</span>
              </p>
              <p className="text-text-2 wrap-anywhere">
                {why === 'other_domain' ? words.otherDomain : words.lookedFor(looked_for)}
              </p>
            </li>
          ))}
      </ul>
      <LoadMore list={list} className="justify-self-start" />
    </>
  )
}
