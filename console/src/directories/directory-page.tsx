import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useMe } from '../me/me.ts'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Page } from '../parts/page.tsx'
import { WithSetUpWords } from '../start/with-set-up-words.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { BackLink } from './back-link.tsx'
import { ConflictsSection } from './conflicts-section.tsx'
import { wayOf } from './directory.ts'
import { MatchSection } from './match-section.tsx'
import { PushSection } from './push-section.tsx'
import { allRuns, fewRuns, standingQuery } from './queries.ts'
import { RemovalsCard } from './removals-card.tsx'
import { maySeePeople } from './rights.ts'
import { waiting } from './run.ts'
import { RunPage } from './run-page.tsx'
import { RunsSection } from './runs-section.tsx'
import { SettingsSection } from './settings-section.tsx'
import { StateCard } from './state-card.tsx'

/** One directory, or one reading of it. */
export function DirectoryPage(): ReactNode {
  const { id } = useParams({ from: '/directories/$id' })
  const { run } = useSearch({ from: '/directories/$id' })
  return (
    <WithSetUpWords>
      {run === undefined ? <One key={id} id={id} /> : <RunPage key={run} id={id} runId={run} />}
    </WithSetUpWords>
  )
}

function One({ id }: { id: string }): ReactNode {
  const words = useSetUpWords().directories
  const seesPeople = maySeePeople(useMe())
  const [limit, setLimit] = useState(fewRuns)
  const { data, error, refetch } = useQuery(standingQuery(id, limit))
  const back = <BackLink to="/directories">{words.title}</BackLink>
  if (data === undefined)
    return (
      <Page title={words.title}>
        {back}
        {error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />}
      </Page>
    )
  const { directory, runs, hasMore } = data
  const way = wayOf(directory.record)
  const stopped = waiting(runs)
  return (
    <Page title={directory.record.name}>
      <div className="grid max-w-[800px] gap-8">
        <div className="grid gap-4">
          {back}
          {stopped !== undefined && directory.record.enabled && <RemovalsCard run={stopped} runs={runs} />}
          <StateCard directory={directory} runs={runs} />
        </div>
        {seesPeople && <ConflictsSection directory={directory.record} />}
        {way === 'push' ? (
          <>
            <PushSection directory={directory} />
            {seesPeople && <MatchSection directory={directory.record} />}
          </>
        ) : (
          <RunsSection
            id={id}
            runs={runs}
            {...(hasMore && limit === fewRuns && { showAll: () => setLimit(allRuns) })}
          />
        )}
        {way !== 'push' && <SettingsSection directory={directory} />}
      </div>
    </Page>
  )
}
