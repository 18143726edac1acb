import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo } from 'react'
import { EmergencyBadge } from '../access/state-badges.tsx'
import { Badge } from '../parts/badge.tsx'
import { Empty, LoadFailure, Loading } from '../parts/list-states.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { loadNextPage } from '../parts/next-page.ts'
import { Page } from '../parts/page.tsx'
import { inboxQuery, requestQuery } from '../requests/queries.ts'
import { type AccessRequest, nameOf } from '../requests/request.ts'
import { RequestView } from '../requests/request-view.tsx'
import { useTick } from '../time/ticks.ts'
import { useWords } from '../words/words.ts'
import { DecidedToday } from './decided.tsx'
import { useInboxKeys } from './inbox-keys.ts'
import { InboxLink } from './inbox-link.tsx'
import { useLeaving } from './leaving.ts'

/** What the person may decide now: the list, and beside it, where there is room, the chosen request. */
export function Inbox(): ReactNode {
  const { inbox } = useWords().requests
  const { id } = useParams({ strict: false })
  const list = useInfiniteQuery(inboxQuery)
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isFetchNextPageError } = list
  const listed = useMemo(() => data?.pages.flatMap((page) => page.data), [data])
  const shown = useLeaving(listed)
  useInboxKeys(
    shown.map((item) => item.id),
    id,
  )
  useFirstChoice(shown, id)
  // A page examines so many requests and no more: it may be short though more follows.
  useEffect(() => {
    const mayGoOn = hasNextPage && !isFetchingNextPage && !isFetchNextPageError
    if (mayGoOn && (listed?.length ?? 0) < 20) loadNextPage({ data, fetchNextPage }).catch(() => undefined)
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, data, listed?.length])

  return (
    <Page title={inbox.title} wide>
      {listed === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <LoadFailure error={error} retry={refetch} />
        )
      ) : shown.length === 0 && id === undefined ? (
        <>
          <Empty>{inbox.empty}</Empty>
          <DecidedToday id={id} />
        </>
      ) : (
        <div className="grid items-start gap-6 lg:grid-cols-[360px_1fr]">
          <div className={`grid gap-6 ${id === undefined ? '' : 'hidden lg:grid'}`}>
            <nav aria-label={inbox.toDecide} className="grid gap-2">
              <h2 className="font-semibold">{inbox.toDecide}</h2>
              {shown.length === 0 && <p className="text-text-2">{inbox.empty}</p>}
              <ul className="overflow-hidden rounded-card border border-line bg-surface divide-y divide-line">
                {shown.map((request) => (
                  <li key={request.id}>
                    <Item request={request} isChosen={request.id === id} isGone={request.isGone} />
                  </li>
                ))}
              </ul>
              <LoadMore list={list} />
              <p className="hidden text-meta text-text-2 lg:block">{inbox.keys}</p>
            </nav>
            <DecidedToday id={id} />
          </div>
          {id === undefined ? <p className="hidden text-text-2 lg:block">{inbox.choose}</p> : <Chosen id={id} />}
        </div>
      )}
    </Page>
  )
}

/** Where there is room for both, the first request is open at once. */
function useFirstChoice(shown: readonly AccessRequest[], id: string | undefined): void {
  const navigate = useNavigate()
  const first = shown[0]?.id
  useEffect(() => {
    if (id !== undefined || first === undefined || !matchMedia('(min-width: 1024px)').matches) return
    navigate({ to: '/inbox/$id', params: { id: first }, replace: true }).catch(() => undefined)
  }, [first, id, navigate])
}

function Item({
  request,
  isChosen,
  isGone,
}: {
  request: AccessRequest
  isChosen: boolean
  isGone: boolean
}): ReactNode {
  const words = useWords()
  const { inbox, highRisk } = words.requests
  const created = Date.parse(request.created_at) / 1_000
  const ago = useTick((seconds) => words.time.ago(Math.max(0, seconds - created)))
  return (
    <InboxLink id={request.id} isChosen={isChosen}>
      <span className="flex flex-wrap items-center justify-between gap-2">
        <bdi className="font-medium wrap-anywhere">{request.requester_name}</bdi>
        {request.break_glass ? (
          <EmergencyBadge />
        ) : (
          request.risk === 'high' && (
            <Badge tone="wait" icon="alert">
              {highRisk}
            </Badge>
          )
        )}
      </span>
      <span className="wrap-anywhere">{words.access.onIt(request.action, nameOf(request))}</span>
      {isGone ? (
        <GoneBecause id={request.id} />
      ) : (
        <span className="text-meta text-text-2">
          {inbox.ago(words.time.duration(request.duration_seconds ?? 0), ago)}
        </span>
      )}
    </InboxLink>
  )
}

/** Who decided it meanwhile. */
function GoneBecause({ id }: { id: string }): ReactNode {
  const { inbox } = useWords().requests
  const { data } = useQuery(requestQuery(id))
  const by = data?.decided_by_name
  const said =
    by != null && (data?.status === 'approved' || data?.status === 'denied')
      ? inbox.decidedBy[data.status](by)
      : inbox.gone
  return <span className="text-meta font-medium text-text-2">{said}</span>
}

function Chosen({ id }: { id: string }): ReactNode {
  const { inbox } = useWords().requests
  const { data, error, refetch } = useQuery(requestQuery(id))
  return (
    <div className="grid min-w-0 gap-4">
      <Link to="/inbox" className="w-fit rounded-control text-accent hover:underline lg:hidden">
        {inbox.back}
      </Link>
      {data !== undefined ? (
        <RequestView key={id} request={data} />
      ) : error === null ? (
        <Loading />
      ) : (
        <LoadFailure error={error} retry={refetch} />
      )}
    </div>
  )
}
