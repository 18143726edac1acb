import { Download } from 'lucide-react'
import type { ReactNode } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { saveFile } from '../parts/save-file.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { exportStanding, type Filters } from './inventory-queries.ts'

const fileName = 'standing-access.csv'

/** Saves all of what the filters show as a table. */
export function StandingExport({ id, filters }: { id: string; filters: Filters }): ReactNode {
  const words = useSetUpWords().aws.standing
  const act = useAct()
  const save = () => act.run(async () => saveFile(fileName, await exportStanding(id, filters)), filters)
  return (
    <div className="grid justify-items-start gap-3">
      <Button isPending={act.isPending} onClick={save}>
        <Download size={16} strokeWidth={1.75} aria-hidden="true" />
        {words.csv}
      </Button>
      <ActProblem act={act} />
    </div>
  )
}
