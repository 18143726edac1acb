import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { loadPart } from '../live/load-part.ts'
import { Empty, LoadFailure, Loading } from '../parts/list-states.tsx'
import { Page, Section } from '../parts/page.tsx'
import { waitingQuery } from '../requests/queries.ts'
import { RequestForm } from '../requests/request-form.tsx'
import { WaitingRequest } from '../requests/waiting-request.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useWords } from '../words/words.ts'
import { AccessCard } from './access-card.tsx'
import { type Choice, choiceOf } from './choice.ts'
import { EndedRow } from './ended-row.tsx'
import { placesOf } from './grant.ts'
import { ownGrantsQuery } from './queries.ts'
import { Shortlist } from './shortlist.tsx'

/** Half of what the page needs: what the person has is shown without waiting for it. */
const Search = lazy(() =>
  loadPart(() => import('./search.tsx')).then(({ Search: component }) => ({ default: component })),
)

/** What the person has, waits for and may request. A choice in the address opens the form of a request in place of the search. */
export function Home(): ReactNode {
  const words = useWords().access
  const choice = choiceOf(useSearch({ from: '/' }))
  const navigate = useNavigate()
  const choose = (chosen: Choice | undefined) => navigate({ to: '/', search: chosen ?? {} })
  return (
    <Page title={words.title}>
      {choice === undefined ? (
        <Suspense fallback={<div className="h-28" />}>
          <Search choose={choose} shortlist={<Shortlist choose={choose} />} />
        </Suspense>
      ) : (
        <RequestForm
          key={`${choice.type}/${choice.id}/${choice.duration ?? ''}`}
          choice={choice}
          change={choose}
          leave={() => choose(undefined)}
          sent={(id) => navigate({ to: '/requests/$id', params: { id } })}
        />
      )}
      <Yours />
      <Waiting />
    </Page>
  )
}

function Yours(): ReactNode {
  const words = useWords().access
  const formats = useFormats()
  const { data, error, refetch } = useQuery(ownGrantsQuery)
  if (data === undefined)
    return (
      <Section title={words.yours}>
        {error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />}
      </Section>
    )
  const { yours, ended } = placesOf(data, (at) => formats.isSameDay(at, now()))
  return (
    <>
      <Section title={words.yours}>
        {yours.length === 0 ? (
          <Empty>{words.none}</Empty>
        ) : (
          <ul className="grid gap-4 lg:grid-cols-2">
            {yours.map((grant) => (
              <li key={grant.id}>
                <AccessCard grant={grant} />
              </li>
            ))}
          </ul>
        )}
      </Section>
      {ended.length > 0 && (
        <details className="order-last">
          <summary className="w-fit rounded-control font-semibold">{words.endedToday(ended.length)}</summary>
          <ul className="mt-3 divide-y divide-line">
            {ended.map((grant) => (
              <EndedRow key={grant.id} grant={grant} />
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

function Waiting(): ReactNode {
  const words = useWords().access
  const { data, error, refetch } = useQuery(waitingQuery)
  if (error !== null)
    return (
      <Section title={words.waiting}>
        <LoadFailure error={error} retry={refetch} />
      </Section>
    )
  if (data === undefined || data.data.length === 0) return null
  return (
    <Section title={words.waiting}>
      <ul className="grid gap-4">
        {data.data.map((request) => (
          <li key={request.id}>
            <WaitingRequest request={request} />
          </li>
        ))}
      </ul>
    </Section>
  )
}
