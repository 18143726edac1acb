import type { Words } from '../words/words.ts'
import type { Formats } from './formats.ts'

/** A moment within a sentence, as in: at 14:05; on Nov 25, 2026, 14:05. `now`: in ms since 1970. */
export const whenOf = (at: string, now: number, formats: Formats, { time }: Words): string =>
  formats.isSameDay(at, now) ? time.at(formats.time(at)) : time.on(formats.moment(at, now))
