import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { LoadFailure } from '../parts/list-states.tsx'
import { nameOf } from '../requests/request.ts'
import { useWords } from '../words/words.ts'
import { Answer } from './answer.tsx'
import type { Choice } from './choice.ts'
import { keyOf } from './entry.ts'
import { shortlistQuery } from './queries.ts'

/** Favourites and recents: what most requests are for. */
export function Shortlist({ choose }: { choose: (choice: Choice) => void }): ReactNode {
  const words = useWords().access.search
  const { data = [], error, refetch } = useQuery(shortlistQuery)
  if (error !== null) return <LoadFailure error={error} retry={refetch} />
  if (data.length === 0) return null
  return (
    <ul aria-label={words.favourites} className="flex flex-wrap gap-2">
      {data.map((entry) => (
        <li key={keyOf(entry)}>
          <button
            type="button"
            onClick={() => choose({ ...entry.resource, action: entry.action })}
            className="rounded-control border border-control bg-surface px-3 py-1.5 text-left touch:py-3 hover:bg-sunken"
          >
            <bdi className="font-medium">{nameOf(entry)}</bdi> · {entry.action}{' '}
            <span className="text-meta text-text-2">
              <Answer entry={entry} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
