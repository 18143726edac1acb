import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Empty, LoadFailure, Loading } from '../parts/list-states.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { readableId } from '../requests/request.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Filters, standingQuery } from './inventory-queries.ts'
import { type Group, groupsOf, type Held, keyOf } from './standing.ts'

type StandingListProps = { id: string; filters: Filters; reading: string; clear: () => void }

/** What is held, below its account or its person. */
export function StandingList({ id, filters, reading, clear }: StandingListProps): ReactNode {
  const words = useSetUpWords().aws.standing
  const list = useInfiniteQuery(standingQuery(id, filters, reading))
  const { data, error, refetch } = list
  const held = data?.pages.flatMap((page) => page.data)
  if (held === undefined) return error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />
  if (held.length === 0 && !list.hasNextPage) {
    const isFiltered = filters.administrators || filters.q !== ''
    if (!isFiltered) return <Empty>{words.none}</Empty>
    return <Empty action={<Button onClick={clear}>{words.clear}</Button>}>{words.noMatch}</Empty>
  }
  return (
    <div className="grid gap-4">
      <ul aria-label={words.title} className="grid gap-4">
        {groupsOf(held, filters.order).map((group) => (
          <li key={`${group.key} ${keyOf(group.held[0] as Held)}`}>
            <GroupOf group={group} order={filters.order} />
          </li>
        ))}
      </ul>
      <LoadMore list={list} className="justify-self-start" />
    </div>
  )
}

function GroupOf({ group: { name, id, held }, order }: { group: Group; order: Filters['order'] }): ReactNode {
  return (
    <>
      <h3 className="flex flex-wrap items-baseline gap-x-3 rounded-control bg-sunken px-3 py-1.5">
        <bdi className="font-semibold wrap-anywhere">{name}</bdi>
        {id !== null && <span className="font-mono text-meta text-text-2 wrap-anywhere">{readableId(id)}</span>}
      </h3>
      <ul className="divide-y divide-line px-3">
        {held.map((one) => (
          <Row key={keyOf(one)} held={one} order={order} />
        ))}
      </ul>
    </>
  )
}

function Row({ held, order }: { held: Held; order: Filters['order'] }): ReactNode {
  const words = useSetUpWords().aws.standing
  const { account, permission_set, holder, via_group, grant_id } = held
  const isByAccount = order === 'account'
  const name = isByAccount ? holder.name : account.name
  const about = isByAccount ? holder.login : account.id
  return (
    <li className="grid gap-x-4 gap-y-1 py-2 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <div className="min-w-0 wrap-anywhere">
        <p className="font-medium">
          <bdi>{name}</bdi>
        </p>
        <p className="text-meta text-text-2">
          {isByAccount && holder.type === 'group' ? words.group : about !== null && about !== name && readableId(about)}
        </p>
      </div>
      <div className="min-w-0 wrap-anywhere">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <bdi>{permission_set.name}</bdi>
          {permission_set.is_administrator === true && (
            <Badge tone="wait" icon="alert">
              {words.administrator}
            </Badge>
          )}
        </p>
        <p className="flex flex-wrap gap-x-3 text-meta text-text-2">
          {via_group !== null && <span>{words.viaGroup(via_group.name)}</span>}
          {grant_id !== null && (
            <Link to="/grants/$id" params={{ id: grant_id }} className="rounded-control text-accent underline">
              {words.given}
            </Link>
          )}
        </p>
      </div>
    </li>
  )
}
