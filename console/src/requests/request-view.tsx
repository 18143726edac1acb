import { type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { AccessCard } from '../access/access-card.tsx'
import type { Grant } from '../access/grant.ts'
import { grantsOfRequestQuery } from '../access/queries.ts'
import { useMe } from '../me/me.ts'
import { buttonClass } from '../parts/button.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { LoadFailure } from '../parts/list-states.tsx'
import { LoadMore, type Paged } from '../parts/load-more.tsx'
import { Card, Section } from '../parts/page.tsx'
import { ContinueAs } from '../rehearsal/continue-as.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { whenOf } from '../time/when.ts'
import { useWords } from '../words/words.ts'
import { Comments } from './comments.tsx'
import { DecideBox } from './decide-box.tsx'
import { CancelRequest, RemindDeciders } from './own-acts.tsx'
import type { RequestDetail } from './request.ts'
import { About, Allows, Facts, Timeline, WhyApproval } from './request-parts.tsx'
import { Quote, Sentence } from './sentence.tsx'
import { RequestBadge, WhoDecides } from './waiting-request.tsx'

/** A request: the sentence, the reason, who decides or decided, and what became of it. */
export function RequestView({ request }: { request: RequestDetail }): ReactNode {
  const words = useWords().requests
  const list = useInfiniteQuery(grantsOfRequestQuery(request.id))
  const grants = list.data?.pages.flatMap((page) => page.data) ?? []
  return (
    <article className={`grid gap-6 sm:@container ${request.may_decide ? 'pb-20 sm:pb-0' : ''}`}>
      <header className="grid gap-3">
        <RequestBadge request={request} />
        <Sentence request={request} />
        {request.risk === 'high' && <p className="font-medium text-wait">{words.riskBecause(request.risk_reasons)}</p>}
        {request.reason === null ? (
          <p className="text-text-2">{words.noReason}</p>
        ) : (
          <Quote label={words.reasonOf(request.requester_name)}>{request.reason}</Quote>
        )}
      </header>
      <div className="grid items-start gap-6 @3xl:grid-cols-[1fr_320px]">
        <aside className="grid gap-3 @3xl:sticky @3xl:top-12 @3xl:order-last">
          <Card className="grid gap-3 md:p-4 [&>button]:justify-self-start">
            <Decision request={request} />
          </Card>
        </aside>
        <div className="grid min-w-0 gap-8">
          <Grants list={list} grants={grants} />
          <Allows request={request} />
          <About request={request} />
          <WhyApproval request={request} />
          <Timeline request={request} grants={grants} />
          <Comments request={request} />
          <Facts request={request} />
        </div>
      </div>
    </article>
  )
}

type GrantsProps = { list: Paged & Pick<UseInfiniteQueryResult, 'data' | 'refetch'>; grants: readonly Grant[] }

/** What a request gave. A request for a unit gives access to each of its accounts. */
function Grants({ list, grants }: GrantsProps): ReactNode {
  const words = useWords().requests.detail
  const { data, error, refetch } = list
  const hasFailed = data === undefined && error !== null
  if (grants.length === 0 && !hasFailed) return null
  return (
    <Section title={words.grants}>
      {grants.map((grant) => (
        <AccessCard key={grant.id} grant={grant} />
      ))}
      {hasFailed && <LoadFailure error={error} retry={refetch} />}
      <LoadMore list={list} className="justify-self-start" />
    </Section>
  )
}

/** What the reader can do about the request; in place of buttons that would be refused, why. */
function Decision({ request }: { request: RequestDetail }): ReactNode {
  const { detail, decide } = useWords().requests
  const me = useMe()
  const isOwn = request.requester_id === me.id
  if (request.status !== 'pending') return <Outcome request={request} isOwn={isOwn} />
  if (request.may_decide) return <DecideBox request={request} />
  return (
    <>
      <p>{isOwn ? decide.own : <EnglishText>{request.why_not}</EnglishText>}</p>
      <WhoDecides id={request.id} />
      {isOwn && <ContinueAs requestId={request.id} />}
      {isOwn && <RemindDeciders request={request} />}
      {isOwn && <CancelRequest id={request.id} />}
      {!isOwn && me.scopes.includes('requests:cancel') && <CancelRequest id={request.id} />}
      {request.reminded_at === null ? null : <span className="sr-only">{detail.remindedAt}</span>}
    </>
  )
}

function Outcome({ request, isOwn }: { request: RequestDetail; isOwn: boolean }): ReactNode {
  const words = useWords()
  const { decide, detail, states } = words.requests
  const me = useMe()
  const formats = useFormats()
  const { status, decided_by_name: name, updated_at } = request
  const acts = decide.acts
  const moment = formats.moment(updated_at, now())
  const said =
    status === 'pending' || name === null
      ? `${status === 'approved' ? detail.approvedByRule : states[status]} · ${moment}`
      : decide.decided(name, acts[status], whenOf(updated_at, now(), formats, words))
  return (
    <>
      <p>
        {said}
        {!isOwn && name !== null && name !== me.name && ` ${decide.nothingLeft}`}
      </p>
      {request.decision_reasoning !== null && name !== null && (
        <Quote label={detail.note(name)}>{request.decision_reasoning}</Quote>
      )}
      {isOwn && (
        <Link
          to="/"
          search={{ type: request.resource.type, id: request.resource.id, action: request.action }}
          className={`${buttonClass('outline')} justify-self-start`}
        >
          {detail.again}
        </Link>
      )}
    </>
  )
}
