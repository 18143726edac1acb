import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { decidedQuery } from '../requests/queries.ts'
import { nameOf } from '../requests/request.ts'
import { RequestBadge } from '../requests/waiting-request.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useWords } from '../words/words.ts'
import { decidedToday } from './decided-today.ts'
import { InboxLink } from './inbox-link.tsx'

/** What the person decided today, folded. It is only a reminder: nothing where there is none, or where it could not be loaded. */
export function DecidedToday({ id: chosen }: { id: string | undefined }): ReactNode {
  const words = useWords()
  const formats = useFormats()
  const { data } = useQuery(decidedQuery)
  const decided = decidedToday(data?.data ?? [], (at) => formats.isSameDay(at, now()))
  if (decided.length === 0) return null
  return (
    <details>
      <summary className="w-fit rounded-control font-semibold">
        {words.requests.inbox.decidedToday(decided.length)}
      </summary>
      <ul className="mt-2 overflow-hidden rounded-card border border-line bg-surface divide-y divide-line">
        {decided.map((request) => (
          <li key={request.id}>
            <InboxLink id={request.id} isChosen={request.id === chosen}>
              <span className="flex flex-wrap items-center justify-between gap-2">
                <bdi className="font-medium wrap-anywhere">{request.requester_name}</bdi>
                <RequestBadge request={request} />
              </span>
              <span className="wrap-anywhere">{words.access.onIt(request.action, nameOf(request))}</span>
            </InboxLink>
          </li>
        ))}
      </ul>
    </details>
  )
}
