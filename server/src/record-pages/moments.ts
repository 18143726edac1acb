import { type Html, html } from '../kernel/html.ts'
import { readZone } from '../kernel/time-zone.ts'
import type { Preferences } from './bodies.ts'
import type { Words } from './words-en.ts'

/** Shows moments as a person prefers them. */
export type Clock = {
  /** `14:05` for today, else with its date; UTC where one points at it. */
  at(iso: string): Html
  /** The same in a sentence: `at 14:05`. */
  when(iso: string): Html
  /** The moment so many seconds later. */
  after(iso: string, seconds: number): string
  isPast(iso: string): boolean
}

const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const

/** @param now when the page is made */
export function clockFor(
  preferences: Preferences,
  words: Pick<Words, 'language' | 'atTime' | 'onDay'>,
  now: Date,
): Clock {
  const { date_format, time_format } = preferences
  const timeZone = readZone(preferences.timezone) ?? 'UTC'
  const locale = localeFor(preferences.locale, words.language)
  const hour12 = time_format === null ? hasTwelveHours(locale) : time_format === '12h'
  const hour = hour12 ? 'numeric' : '2-digit'
  const time = new Intl.DateTimeFormat(locale, { timeZone, hour, minute: '2-digit', hour12 })
  const usual = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'medium' })
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone, ...parts })
  const dateOf = (at: Date) => {
    if (date_format === null) return usual.format(at)
    const [year = '', month = '', dayOfMonth = ''] = day.format(at).split('-')
    return date_format.replace('YYYY', year).replace('MM', month).replace('DD', dayOfMonth)
  }
  const shown = (iso: string, onTime: (time: string) => string, onDay: (day: string, time: string) => string) => {
    const at = new Date(iso)
    const isToday = day.format(at) === day.format(now)
    const text = isToday ? onTime(time.format(at)) : onDay(dateOf(at), time.format(at))
    return html`<time datetime="${iso}" title="${`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}">${text}</time>`
  }
  return {
    at: (iso) =>
      shown(
        iso,
        (text) => text,
        (date, text) => `${date}, ${text}`,
      ),
    when: (iso) => shown(iso, words.atTime, words.onDay),
    after: (iso, seconds) => new Date(new Date(iso).getTime() + seconds * 1_000).toISOString(),
    isPast: (iso) => new Date(iso).getTime() <= now.getTime(),
  }
}

function hasTwelveHours(locale: string): boolean {
  return new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions().hour12 === true
}

/** The person's locale where it is one of the page's language: `en-GB` writes dates unlike `en-US`, and no page mixes two languages. */
function localeFor(locale: string, language: string): string {
  return locale.toLowerCase().split('-')[0] === language ? locale : language === 'en' ? 'en-GB' : language
}
