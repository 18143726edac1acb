import type { ReactNode } from 'react'
import { useSetUpWords } from '../words/set-up-words.ts'
import { progressOf, type Run } from './run.ts'

/** How far a run is. It follows by itself. */
export function Progress({ run }: { run: Pick<Run, 'progress' | 'status'> }): ReactNode {
  const words = useSetUpWords().directories.runs.progress
  const { phase, people_read, groups_read, done, total } = run.progress
  const at = progressOf(run)
  return (
    <div className="grid gap-2">
      <p role="status">
        {at === 'begins' && words.begins}
        {at === 'reading' && words.reading(people_read, groups_read)}
        {at === 'writing' && phase !== null && phase !== 'reading' && words[phase](done, total ?? 0)}
      </p>
      {total !== null && total > 0 && (
        <svg
          aria-hidden="true"
          viewBox="0 0 100 4"
          preserveAspectRatio="none"
          className="h-1 w-full max-w-[480px] rounded-badge bg-sunken"
        >
          <rect width={(100 * Math.min(done, total)) / total} height="4" className="fill-accent" />
        </svg>
      )}
    </div>
  )
}
