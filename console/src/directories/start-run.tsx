import type { ReactNode } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { useBeginRun } from './begin-run.ts'
import type { Directory } from './directory.ts'
import { maySync } from './rights.ts'
import { begun, type Run } from './run.ts'

type StartRunProps = {
  directory: Pick<Directory, 'id'>
  runs: readonly Run[]
  /** The look that the person sees: to read what it has shown is next. */
  after?: Pick<Run, 'dry_run' | 'status'>
}

/** Looks at a directory, or reads it. To look comes first, until somebody has. */
export function StartRun({ directory: { id }, runs, after }: StartRunProps): ReactNode {
  const words = useSetUpWords().directories
  const may = maySync(useMe())
  const begin = useBeginRun(id)
  const act = useAct()
  const start = (dry_run: boolean) => act.run((key) => begin({ dry_run }, key), dry_run)
  if (!may) return null
  const isFirst = begun(runs).length === 0
  const isSeen = after?.dry_run && after.status === 'synced'
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <Button look={isFirst ? 'primary' : 'outline'} isPending={act.isPending} onClick={() => start(true)}>
          {isFirst ? words.look : words.again}
        </Button>
        <Button look={isSeen ? 'primary' : 'outline'} isPending={act.isPending} onClick={() => start(false)}>
          {words.readNow}
        </Button>
        <span className="text-text-2">{words.lookMeans}</span>
      </div>
      <ActProblem act={act} />
    </div>
  )
}
