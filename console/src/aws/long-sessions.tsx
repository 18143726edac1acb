import type { ReactNode } from 'react'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { Inventory } from './inventory.ts'

type LongSessionsProps = { sets: Inventory['long_sessions']; longestSeconds: number }

/** The permission sets whose sessions go on after the end of the longest access. */
export function LongSessions({ sets, longestSeconds }: LongSessionsProps): ReactNode {
  const { aws, time } = useSetUpWords()
  const words = aws.sight
  if (sets.length === 0) return null
  return (
    <div className="grid gap-2">
      <p className="sound-width">{words.longSessions(time.duration(longestSeconds))}</p>
      <ul aria-label={words.longSessionList} className="divide-y divide-line border-y border-line">
        {sets.map(({ id, name, session_seconds }) => (
          <li key={id} className="flex flex-wrap items-baseline justify-between gap-x-4 py-2">
            <bdi className="min-w-0 font-medium wrap-anywhere">{name}</bdi>
            <span className="text-text-2">{words.session(time.duration(session_seconds))}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
