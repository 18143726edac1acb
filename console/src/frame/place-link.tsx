import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { inboxCountQuery } from '../requests/queries.ts'
import { useWords } from '../words/words.ts'
import type { Place } from './places.ts'

/** How an entry of the navigation looks: in a column, in the bar at the top, and as a tab. */
export const placeClass =
  'flex items-center justify-center gap-2 rounded-control px-3 py-1.5 text-text-2 hover:bg-sunken hover:text-text max-sm:flex-col max-sm:gap-0 max-sm:px-1 max-sm:text-meta sm:max-md:[&>svg]:hidden lg:justify-start aria-[current=page]:bg-accent-tint aria-[current=page]:font-medium aria-[current=page]:text-accent'

/** The ways to pages. */
export function PlaceLinks({ of }: { of: readonly Place[] }): ReactNode {
  return of.map((place) =>
    place.to === '/inbox' ? <InboxPlace key={place.to} {...place} /> : <PlaceLink key={place.to} {...place} />,
  )
}

type PlaceLinkProps = Place & { count?: string | undefined }

function InboxPlace(place: Place): ReactNode {
  const { data } = useQuery(inboxCountQuery)
  const count = data === undefined || data.count === 0 ? undefined : `${data.count}${data.is_complete ? '' : '+'}`
  return <PlaceLink {...place} count={count} />
}

function PlaceLink({ to, icon: Icon, name, count }: PlaceLinkProps): ReactNode {
  const words = useWords().frame
  return (
    <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }} className={placeClass}>
      <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
      <span>
        {name}
        {count !== undefined && (
          <>
            {' '}
            <span className="rounded-badge bg-wait-tint px-1.5 text-meta font-medium text-wait" aria-hidden="true">
              {count}
            </span>
            <span className="sr-only">{words.waiting(count)}</span>
          </>
        )}
      </span>
    </Link>
  )
}
