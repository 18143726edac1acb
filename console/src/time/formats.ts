import type { Schemas } from '@sallyport/client'
import { createContext, use } from 'react'

type Preferences = Pick<Schemas['EffectivePreferences'], 'locale' | 'timezone' | 'date_format' | 'time_format'>

/** How this person reads dates and times. Each function takes an ISO text, or milliseconds since 1970. */
export type Formats = {
  /** As in 14:30. */
  time(at: Moment): string
  /** As in 14:30:07. */
  exactTime(at: Moment): string
  /** As in 26 Nov 2026. */
  date(at: Moment): string
  /** The time, with the date where it is not today. */
  moment(at: Moment, now: number): string
  /** Whether both are on one day where the reader is. */
  isSameDay(one: Moment, other: Moment): boolean
  /** As in 2026-11-26 13:30:07 UTC, for hints. */
  utc(at: Moment): string
}

type Moment = string | number

/** Formats by a person's preferences; what they have not chosen follows the tenant, and then their language. */
export function makeFormats({ locale, timezone, date_format, time_format }: Preferences): Formats {
  const zone = { timeZone: timezone }
  const hourCycle = hourCycleOf({ locale, time_format })
  const hour = hourCycle === 'h12' ? ('numeric' as const) : ('2-digit' as const)
  const hours = { ...zone, hourCycle, hour, minute: '2-digit' } as const
  const timeOf = new Intl.DateTimeFormat(locale, hours)
  const exactOf = new Intl.DateTimeFormat(locale, { ...hours, second: '2-digit' })
  const dateOf = new Intl.DateTimeFormat(locale, { ...zone, dateStyle: 'medium' })
  const numbers = new Intl.DateTimeFormat('en', { ...zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const dayOf = (at: Moment) =>
    Object.fromEntries(numbers.formatToParts(new Date(at)).map(({ type, value }) => [type, value]))

  const date = (at: Moment) => {
    if (date_format === null) return dateOf.format(new Date(at))
    const { year = '', month = '', day = '' } = dayOf(at)
    return date_format.replace('YYYY', year).replace('MM', month).replace('DD', day)
  }
  const isSameDay = (one: Moment, other: Moment) => date(one) === date(other)
  const time = (at: Moment) => timeOf.format(new Date(at))
  return {
    time,
    date,
    exactTime: (at) => exactOf.format(new Date(at)),
    isSameDay,
    moment: (at, now) => (isSameDay(at, now) ? time(at) : `${date(at)}, ${time(at)}`),
    utc: (at) => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
  }
}

/** How a person counts hours. */
export const hourCycleOf = ({ locale, time_format }: Pick<Preferences, 'locale' | 'time_format'>): 'h12' | 'h23' =>
  time_format === null ? cycleOf(locale) : time_format === '12h' ? 'h12' : 'h23'

/** How people count hours where this language is spoken. */
const cycleOf = (locale: string) =>
  new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions().hourCycle === 'h12' ? 'h12' : 'h23'

/** What applies before anybody has signed in. */
const browserFormats = (locale: string): Formats =>
  makeFormats({
    locale,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    date_format: null,
    time_format: null,
  })

export const FormatsContext = createContext<Formats>(browserFormats('en'))

export const useFormats = (): Formats => use(FormatsContext)
