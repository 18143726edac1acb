import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Tagged } from '../api/tagged.ts'
import { ActProblem } from '../me/act-problem.tsx'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { Card } from '../parts/page.tsx'
import { sentenceOf } from '../parts/sentence.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { StateBadge } from './badges.tsx'
import { type Directory, stateOf, wayOf } from './directory.ts'
import { Kind } from './directory-row.tsx'
import { LastSynced } from './last-synced.tsx'
import { Progress } from './progress.tsx'
import { changeDirectory } from './queries.ts'
import { mayChange, maySync } from './rights.ts'
import { type Run, underWay } from './run.ts'
import { ScheduleLine } from './schedule-line.tsx'
import { StartRun } from './start-run.tsx'

type StateCardProps = { directory: Tagged<Directory>; runs: readonly Run[] }

/** Where a directory stands, and what a person can have it do. */
export function StateCard({ directory: tagged, runs }: StateCardProps): ReactNode {
  const words = useSetUpWords().directories
  const me = useMe()
  const directory = tagged.record
  const state = stateOf(directory, runs)
  const isRead = wayOf(directory) !== 'push'
  const now = underWay(runs)
  return (
    <Card className="grid gap-4">
      <div className="grid gap-2">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <StateBadge state={state} />
          <Kind directory={directory} />
          <span className="text-text-2">
            <LastSynced directory={directory} />
          </span>
        </p>
        {state === 'failed' && directory.sync_error !== null && (
          <p className="sound-width text-bad wrap-anywhere">
            <EnglishText>{sentenceOf(directory.sync_error)}</EnglishText>
          </p>
        )}
        {state === 'off' && <p className="sound-width text-text-2">{words.off}</p>}
        {isRead && state !== 'off' && <ScheduleLine directory={directory} runs={runs} />}
      </div>
      {now !== undefined && <Progress run={now} />}
      {isRead && directory.enabled && now === undefined && <StartRun directory={directory} runs={runs} />}
      {isRead && !maySync(me) && <p className="text-text-2">{words.noSync}</p>}
      {mayChange(me) && <Switch directory={tagged} />}
    </Card>
  )
}

/** Switches a directory off, after a question, and on. */
function Switch({ directory }: { directory: Tagged<Directory> }): ReactNode {
  const words = useSetUpWords().directories
  const queries = useQueryClient()
  const act = useAct()
  const [isAsking, ask] = useState(false)
  const { enabled, name, id } = directory.record
  const change = () =>
    act.run(async () => {
      try {
        await changeDirectory(directory, { enabled: !enabled })
        toast(enabled ? words.switchedOff : words.switchedOn)
      } finally {
        await queries.invalidateQueries({ queryKey: ['identity_provider'] })
      }
    }, id)
  return (
    <div className="grid justify-items-start gap-3 border-t border-line pt-4">
      <Button isPending={act.isPending} onClick={() => (enabled ? ask(true) : change())}>
        {enabled ? words.switchOff : words.switchOn}
      </Button>
      <ActProblem act={act} />
      {isAsking && (
        <Confirm
          title={words.switchOffTitle(name)}
          consequences={words.switchOffConsequences}
          act={words.switchOffAct}
          close={() => ask(false)}
          // What it is refused for stands below the button, where a person can sign in again.
          run={change}
        />
      )}
    </div>
  )
}
