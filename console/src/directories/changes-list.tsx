import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { Empty, LoadFailure, Loading } from '../parts/list-states.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Select } from '../parts/select.tsx'
import { sentenceOf } from '../parts/sentence.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { changes, type Filters, filtersOf, outcomes } from './filters.ts'
import { type Change, changesQuery } from './queries.ts'
import { isPlan, type Run } from './run.ts'
import { readView, type View } from './view.ts'

/** Whom a reading changed, or would change. What it is filtered by stands in the address. */
export function ChangesList({ run }: { run: Run }): ReactNode {
  const words = useSetUpWords().directories.run
  const { change, outcome } = filtersOf(useSearch({ from: '/directories/$id' }))
  const navigate = useNavigate({ from: '/directories/$id' })
  const set = (part: Partial<View>) => {
    const search = (before: View) => readView({ ...before, ...part })
    navigate({ search, replace: true, resetScroll: false }).catch((error: unknown) => reportError(error))
  }
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label={words.change}
          value={change ?? ''}
          options={[
            { value: '', text: words.anyChange },
            ...changes.map((value) => ({ value, text: words.changeKinds[value] })),
          ]}
          onChange={(value) => set({ change: value })}
        />
        <Select
          label={words.outcome}
          value={outcome ?? ''}
          options={[
            { value: '', text: words.anyOutcome },
            ...outcomes.map((value) => ({ value, text: words.outcomeKinds[value] })),
          ]}
          onChange={(value) => set({ outcome: value })}
        />
      </div>
      <List run={run} filters={{ change, outcome }} clear={() => set({ change: undefined, outcome: undefined })} />
      <p className="text-meta text-text-2">{words.forgotten}</p>
    </>
  )
}

type ListProps = { run: Run; filters: Filters; clear: () => void }

function List({ run, filters, clear }: ListProps): ReactNode {
  const words = useSetUpWords().directories.run
  const list = useInfiniteQuery(changesQuery(run.identity_provider_id, run.id, filters, run.status))
  const { data, error, refetch } = list
  const found = data?.pages.flatMap((page) => page.data)
  if (found === undefined) return error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />
  if (found.length === 0 && !list.hasNextPage) {
    const isFiltered = filters.change !== undefined || filters.outcome !== undefined
    if (!isFiltered) return <Empty>{words.none}</Empty>
    return <Empty action={<Button onClick={clear}>{words.clear}</Button>}>{words.noMatch}</Empty>
  }
  return (
    <>
      <ul aria-label={words.changes} className="divide-y divide-line border-y border-line">
        {found.map((change) => (
          <Row key={`${change.kind} ${change.source_id}`} change={change} isPlanned={isPlan(run)} />
        ))}
      </ul>
      <LoadMore list={list} className="justify-self-start" />
    </>
  )
}

type RowProps = { change: Change; isPlanned: boolean }

function Row({ change: one, isPlanned }: RowProps): ReactNode {
  const { kind, source_id, name, user_name, email, change, outcome, message } = one
  const words = useSetUpWords().directories.run
  const shown = name ?? user_name ?? source_id
  const about = kind === 'group' ? words.group : (email ?? user_name ?? source_id)
  return (
    <li className="grid gap-x-4 gap-y-1 py-2 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <div className="min-w-0 wrap-anywhere">
        <p className="font-medium">
          <bdi>{shown}</bdi>
        </p>
        {about !== shown && <p className="text-meta text-text-2">{about}</p>}
      </div>
      <div className="min-w-0 wrap-anywhere">
        <p>{words.changeKinds[change]}</p>
        <p className={`text-meta ${outcome === 'refused' ? 'text-bad' : 'text-text-2'}`}>
          {/* Of a plan, that goes without saying. */}
          {!(isPlanned && outcome === 'planned') && words.outcomeKinds[outcome]}
          {message !== null && (
            <>
              {': '}
              <EnglishText>{sentenceOf(message)}</EnglishText>
            </>
          )}
        </p>
      </div>
    </li>
  )
}
