import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { StateBadges } from '../access/state-badges.tsx'
import { LoadFailure } from '../parts/list-states.tsx'
import { Card } from '../parts/page.tsx'
import { ContinueAs } from '../rehearsal/continue-as.tsx'
import { useWords } from '../words/words.ts'
import { CancelRequest, RemindDeciders } from './own-acts.tsx'
import { decidersQuery } from './queries.ts'
import { type AccessRequest, requestState } from './request.ts'
import { Sentence } from './sentence.tsx'

export function RequestBadge({ request }: { request: Pick<AccessRequest, 'status' | 'break_glass'> }): ReactNode {
  return <StateBadges state={requestState(request.status, useWords())} isEmergency={request.break_glass} />
}

/** The person's own request that waits: who can approve it, and how to remind them or give it up. */
export function WaitingRequest({ request }: { request: AccessRequest }): ReactNode {
  return (
    <Card className="grid gap-3">
      <RequestBadge request={request} />
      <Link to="/requests/$id" params={{ id: request.id }} className="rounded-control hover:underline">
        <Sentence request={request} />
      </Link>
      <WhoDecides id={request.id} />
      <div className="flex flex-wrap items-center gap-2">
        <ContinueAs requestId={request.id} />
        <RemindDeciders request={request} />
        <CancelRequest id={request.id} />
      </div>
    </Card>
  )
}

/** Who may approve a request, by name. */
export function WhoDecides({ id }: { id: string }): ReactNode {
  const { detail, people } = useWords().requests
  const { data, error, refetch } = useQuery(decidersQuery(id))
  if (data === undefined) return error === null ? null : <LoadFailure error={error} retry={refetch} />
  const { names, count, is_complete: isComplete } = data
  if (count === 0 && isComplete) return <p className="text-bad">{detail.waitsForNobody}</p>
  return <p className="sound-width">{detail.waitsFor(people({ names, count, isComplete }))}</p>
}
