import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { buttonClass } from '../parts/button.tsx'
import { nameOf } from '../requests/request.ts'
import { Moment } from '../time/moment.tsx'
import { useWords } from '../words/words.ts'
import { GrantBadge } from './access-card.tsx'
import type { Choice } from './choice.ts'
import type { Grant } from './grant.ts'

/** Access that ended: why, when, and the way to have it again. */
export function EndedRow({ grant }: { grant: Grant }): ReactNode {
  const words = useWords().access
  const { resource, action } = grant
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 py-2">
      <div className="min-w-0">
        <Link
          to="/requests/$id"
          params={{ id: grant.request_id }}
          className="rounded-control font-medium wrap-anywhere hover:underline"
        >
          {words.onIt(action, nameOf(grant))}
        </Link>
        <p className="text-meta text-text-2 wrap-anywhere">
          <Moment at={grant.ended_at ?? grant.updated_at} />
          {grant.end_reason !== null && ` · ${grant.end_reason}`}
        </p>
      </div>
      <span className="flex items-center gap-2">
        <GrantBadge grant={grant} />
        <Link
          to="/"
          search={{ type: resource.type as Choice['type'], id: resource.id, action }}
          className={buttonClass('quiet')}
        >
          {words.again}
        </Link>
      </span>
    </li>
  )
}
