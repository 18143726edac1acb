import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { EnglishText } from '../parts/english-text.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Card, Page, Section } from '../parts/page.tsx'
import { sentenceOf } from '../parts/sentence.ts'
import { Moment } from '../time/moment.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { BackLink } from './back-link.tsx'
import { OutcomeBadge } from './badges.tsx'
import { ChangesList } from './changes-list.tsx'
import { CountsText } from './counts-text.tsx'
import { EndedAccess } from './ended-access.tsx'
import { Progress } from './progress.tsx'
import { fewRuns, runQuery, type Standing, standingQuery } from './queries.ts'
import { RemovalsCard } from './removals-card.tsx'
import { maySeePeople } from './rights.ts'
import { begun, hasChanges, isConfirmable, isPlan, outcomeOf, type RunDetail, underWay } from './run.ts'
import { StartRun } from './start-run.tsx'

/** One reading of a directory: how far it is, then what it came to and whom it changed. */
export function RunPage({ id, runId }: { id: string; runId: string }): ReactNode {
  const { directories } = useSetUpWords()
  const words = directories.run
  const { data: run, error, refetch } = useQuery(runQuery(id, runId))
  const { data: standing } = useQuery(standingQuery(id, fewRuns))
  const name = standing?.directory.record.name
  const back = (
    <BackLink to="/directories/$id" params={{ id }} search={{}}>
      {words.back}
    </BackLink>
  )
  const title = name === undefined ? directories.title : run?.dry_run ? words.lookTitle(name) : words.title(name)
  return (
    <Page title={title}>
      <div className="grid max-w-[800px] gap-8">
        {run === undefined && back}
        {run === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
        {run !== undefined && (
          <div className="grid gap-4">
            {back}
            <Summary run={run} />
            {standing !== undefined && <Next run={run} standing={standing} />}
          </div>
        )}
        {run !== undefined && hasChanges(run) && <Changes run={run} />}
      </div>
    </Page>
  )
}

function Summary({ run }: { run: RunDetail }): ReactNode {
  const { started_at, created_at, finished_at, counts, error, access } = run
  return (
    <Card className="grid gap-3">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <OutcomeBadge outcome={outcomeOf(run)} />
        <Moment at={finished_at ?? started_at ?? created_at} />
      </p>
      {finished_at === null && <Progress run={run} />}
      {counts !== null && <CountsText counts={counts} isPlan={isPlan(run)} />}
      {error !== null && !run.needs_confirmation && (
        <p className="sound-width text-bad wrap-anywhere">
          <EnglishText>{sentenceOf(error)}</EnglishText>
        </p>
      )}
      {!isPlan(run) && <EndedAccess access={access} />}
    </Card>
  )
}

/** What a person may do next: confirm who would go, or have read what a look has shown. Nothing for a run that others have followed. */
function Next({ run, standing: { directory, runs } }: { run: RunDetail; standing: Standing }): ReactNode {
  const words = useSetUpWords().directories.run
  if (!directory.record.enabled) return null
  if (isConfirmable(run, runs)) return <RemovalsCard run={run} runs={runs} />
  const isLatest = begun(runs)[0]?.id === run.id
  if (!isLatest || run.finished_at === null || underWay(runs) !== undefined) return null
  if (!run.dry_run && run.status === 'synced') return null
  return (
    <Card className="grid gap-4">
      {run.dry_run && run.status === 'synced' && <p className="font-medium">{words.readNow}</p>}
      <StartRun directory={directory.record} runs={runs} after={run} />
    </Card>
  )
}

function Changes({ run }: { run: RunDetail }): ReactNode {
  const words = useSetUpWords().directories.run
  const may = maySeePeople(useMe())
  return (
    <Section title={isPlan(run) ? words.plan : words.changes}>
      <Card className="grid gap-4">
        {may ? <ChangesList run={run} /> : <p className="text-text-2">{words.noRight}</p>}
      </Card>
    </Section>
  )
}
