import type { ReactNode } from 'react'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { whenOf } from '../time/when.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Directory, wayOf } from './directory.ts'

/** When a directory last called, or was last read. */
export function LastSynced({ directory }: { directory: Directory }): ReactNode {
  const all = useSetUpWords()
  const words = all.directories
  const formats = useFormats()
  const { last_synced_at } = directory
  const pushes = wayOf(directory) === 'push'
  if (last_synced_at === null) return <span>{pushes ? words.silentPush : words.silentRead}</span>
  const at = whenOf(last_synced_at, now(), formats, all)
  return (
    <time dateTime={last_synced_at} title={formats.utc(last_synced_at)}>
      {pushes ? words.calledAt(at) : words.readAt(at)}
    </time>
  )
}
