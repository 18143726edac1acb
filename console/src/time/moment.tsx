import type { ReactNode } from 'react'
import { now } from './clock.ts'
import { useFormats } from './formats.ts'

/** A moment, by the reader's preferences. Hovering shows UTC. */
export function Moment({ at }: { at: string }): ReactNode {
  const formats = useFormats()
  return (
    <time dateTime={at} title={formats.utc(at)}>
      {formats.moment(at, now())}
    </time>
  )
}
