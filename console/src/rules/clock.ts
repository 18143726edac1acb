import { hourCycleOf, makeFormats } from '../time/formats.ts'

type Preferences = Omit<Parameters<typeof makeFormats>[0], 'timezone'>

/** The minutes of a day, and the end of the last of them. */
export const minutesOfDay = 1_440

/** A rule names the minutes of a day, in no zone. */
const zone = 'UTC'

/**
 * How a person reads the times of day that rules name, in minutes since midnight. The end of a day is 24:00; where hours are counted to 12 it is
 * `midnight`, since “until 12:00 AM” could be the beginning of the day, or noon.
 */
export function clockOf(preferences: Preferences, midnight: string): (minutes: number) => string {
  const { time } = makeFormats({ ...preferences, timezone: zone })
  const end = hourCycleOf(preferences) === 'h12' ? midnight : endOfDay(preferences.locale)
  return (minutes) => (minutes === minutesOfDay ? end : time(minutes * 60_000))
}

const endOfDay = (locale: string) =>
  new Intl.DateTimeFormat(locale, { timeZone: zone, hourCycle: 'h24', hour: '2-digit', minute: '2-digit' }).format(0)
