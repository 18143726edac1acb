import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button, buttonClass } from '../parts/button.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { Card, Section } from '../parts/page.tsx'
import { sentenceOf } from '../parts/sentence.ts'
import { Moment } from '../time/moment.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { OutcomeBadge } from './badges.tsx'
import { CountsText } from './counts-text.tsx'
import { EndedAccess } from './ended-access.tsx'
import { Progress } from './progress.tsx'
import { runQuery } from './queries.ts'
import { begun, hasChanges, isPlan, outcomeOf, type Run } from './run.ts'

type RunsSectionProps = { id: string; runs: readonly Run[]; showAll?: () => void }

/** The last readings, the newest first. `showAll`: left out where all are shown. */
export function RunsSection({ id, runs, showAll }: RunsSectionProps): ReactNode {
  const words = useSetUpWords().directories.runs
  const shown = begun(runs)
  return (
    <Section title={words.title}>
      <Card className="grid gap-4">
        {shown.length === 0 && <p className="text-text-2">{words.none}</p>}
        {shown.length > 0 && (
          <ul aria-label={words.title} className="divide-y divide-line">
            {shown.map((run) => (
              <Row key={run.id} id={id} run={run} />
            ))}
          </ul>
        )}
        {showAll !== undefined && (
          <Button className="justify-self-start" onClick={showAll}>
            {words.all}
          </Button>
        )}
      </Card>
    </Section>
  )
}

function Row({ id, run }: { id: string; run: Run }): ReactNode {
  const words = useSetUpWords().directories.runs
  const by = run.confirms !== null ? 'confirmed' : run.requested_by === null ? 'schedule' : 'person'
  const isDone = run.finished_at !== null
  return (
    <li className="grid items-start gap-x-4 gap-y-2 py-4 first:pt-0 last:pb-0 sm:grid-cols-[minmax(0,1fr)_auto]">
      <div className="grid min-w-0 gap-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <OutcomeBadge outcome={outcomeOf(run)} />
          <span className="font-medium">
            <Moment at={run.finished_at ?? run.started_at ?? run.created_at} />
          </span>
          <span className="text-text-2">{words.by[by]}</span>
        </p>
        {!isDone && <Progress run={run} />}
        {run.counts !== null && <CountsText counts={run.counts} isPlan={isPlan(run)} />}
        {run.error !== null && (
          <p className="sound-width text-text-2 wrap-anywhere">
            <EnglishText>{sentenceOf(run.error)}</EnglishText>
          </p>
        )}
        <Access id={id} run={run} />
      </div>
      {(hasChanges(run) || !isDone) && (
        <Link
          to="/directories/$id"
          params={{ id }}
          search={{ run: run.id }}
          className={`${buttonClass('outline')} justify-self-start`}
        >
          {!isDone ? words.seeProgress : isPlan(run) ? words.seePlan : words.see}
        </Link>
      )}
    </li>
  )
}

/** How fast access ended: asked for only where somebody went. */
function Access({ id, run }: { id: string; run: Run }): ReactNode {
  const hasEnded = run.counts !== null && run.counts.disabled > 0 && !isPlan(run)
  const { data } = useQuery({ ...runQuery(id, run.id), enabled: hasEnded })
  return hasEnded && data !== undefined && <EndedAccess access={data.access} />
}
