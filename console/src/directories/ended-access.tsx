import type { ReactNode } from 'react'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { RunDetail } from './run.ts'

/** How much access a reading ended, and how fast it was gone at its targets. Nothing where it ended none. */
export function EndedAccess({ access: { grants, gone, slowest_seconds } }: Pick<RunDetail, 'access'>): ReactNode {
  const { directories, time } = useSetUpWords()
  const words = directories.runs
  if (grants === 0) return null
  if (gone < grants) return <p className="text-wait">{words.ending(gone, grants)}</p>
  const seconds = slowest_seconds === null ? undefined : time.duration(Math.max(1, Math.ceil(slowest_seconds)))
  return (
    <p className="text-text-2">{seconds === undefined ? words.endedAtOnce(grants) : words.ended(grants, seconds)}</p>
  )
}
