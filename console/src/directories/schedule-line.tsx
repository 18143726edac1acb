import type { ReactNode } from 'react'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { whenOf } from '../time/when.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Directory, onlyLooks, scheduleOf } from './directory.ts'
import { nextOf, type Run } from './run.ts'

/** How often a directory is read, and when next. */
export function ScheduleLine({ directory, runs }: { directory: Directory; runs: readonly Run[] }): ReactNode {
  const all = useSetUpWords()
  const words = all.directories.schedule
  const formats = useFormats()
  const schedule = scheduleOf(directory)
  const due = nextOf(runs)?.due_at ?? null
  const said = [
    typeof schedule === 'string' ? words[schedule] : words.every(schedule.minutes),
    ...(due === null ? [] : [words.next(whenOf(due, now(), formats, all))]),
    ...(onlyLooks(directory) ? [words.onlyLooks] : []),
  ]
  return <p className="sound-width text-text-2">{said.join(' ')}</p>
}
