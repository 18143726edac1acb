import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { Badge } from '../parts/badge.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { Card } from '../parts/page.tsx'
import { sentenceOf } from '../parts/sentence.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { StateBadge } from './badges.tsx'
import { conflictsQuery } from './conflict-queries.ts'
import { openOf } from './conflicts.ts'
import { type Directory, serviceOf, stateOf, wayOf } from './directory.ts'
import { LastSynced } from './last-synced.tsx'
import { latestRuns, standingQuery } from './queries.ts'
import { maySeePeople } from './rights.ts'

/** A directory in the list. `listed`: as it was when the list was read; it follows what happens. */
export function DirectoryRow({ listed }: { listed: Directory }): ReactNode {
  const { data } = useQuery(standingQuery(listed.id, latestRuns))
  const directory = data?.directory.record ?? listed
  const state = stateOf(directory, data?.runs ?? [])
  const { id, name, sync_error } = directory
  return (
    <li>
      <Card className="relative grid gap-2 hover:bg-sunken">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <h2 className="min-w-0 text-sentence font-semibold wrap-anywhere">
            {/* The whole card leads there. */}
            <Link to="/directories/$id" params={{ id }} className="rounded-control after:absolute after:inset-0">
              <bdi>{name}</bdi>
            </Link>
          </h2>
          <span className="flex flex-wrap gap-2">
            <Conflicts id={id} />
            <StateBadge state={state} />
          </span>
        </div>
        <p className="flex flex-wrap gap-x-3 text-text-2">
          <Kind directory={directory} />
          <LastSynced directory={directory} />
        </p>
        {(state === 'failed' || state === 'waits') && sync_error !== null && (
          <p className={`sound-width wrap-anywhere ${state === 'failed' ? 'text-bad' : 'text-wait'}`}>
            <EnglishText>{sentenceOf(sync_error)}</EnglishText>
          </p>
        )}
      </Card>
    </li>
  )
}

/** What a directory is, in words. */
export function Kind({ directory }: { directory: Directory }): ReactNode {
  const words = useSetUpWords().directories
  const service = serviceOf(directory)
  const way = words.ways[wayOf(directory)]
  return <span>{service === undefined ? way : `${words.services[service]} · ${way}`}</span>
}

/** How many there are to settle; nothing where there are none. */
function Conflicts({ id }: { id: string }): ReactNode {
  const words = useSetUpWords().directories.conflicts
  const { data } = useInfiniteQuery({ ...conflictsQuery(id), enabled: maySeePeople(useMe()) })
  const [first] = data?.pages ?? []
  const open = openOf(first?.data ?? []).length
  if (first === undefined || open === 0) return null
  return (
    <Badge tone="wait" icon="alert">
      {words.count(open, first.has_more)}
    </Badge>
  )
}
