/** Formats text for people: user input, durations and moments, as plain text. */
import { onOneLine } from './one-line-name.ts'
import { readZone } from './time-zone.ts'

const maxLineLength = 200

/** User input on one line of at most `max` characters. */
export function line(text: string, max = maxLineLength): string {
  const flat = onOneLine(text)
  const characters = [...flat]
  return characters.length <= max ? flat : `${characters.slice(0, max).join('')}…`
}

/** The two largest nonzero units of a number of seconds: `1 h 30 min`. */
export function duration(seconds: number): string {
  const units: [string, number][] = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ]
  const some = units.filter(([, count]) => count > 0).slice(0, 2)
  return some.map(([unit, count]) => `${count} ${unit}`).join(' ')
}

/**
 * A moment in a time zone, with UTC in parentheses: `2026-03-01 09:05 CET (08:05 UTC)`. The UTC part has a date if its date
 * differs. If the zone is UTC or unknown, the text is in UTC only.
 * @param iso an instant in UTC, such as `2026-03-01T08:05:09.120Z`
 */
export function moment(iso: string, zone = 'UTC'): string {
  const utc = `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
  const clock = clockOf(zone)
  if (clock === undefined) return utc
  const at = new Date(iso)
  const local = clock.time.format(at)
  return `${local} ${zoneNameAt(clock, at)} (${utc.slice(0, 10) === local.slice(0, 10) ? utc.slice(11) : utc})`
}

type Clock = { time: Intl.DateTimeFormat; names: readonly Intl.DateTimeFormat[] }

/** Locales that know short names of time zones, each those of its own part of the world. */
const namingLocales = ['en-GB', 'en-US', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA']
const time = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const

/** By the canonical names of zones, so there are at most as many entries as zones. */
const clocks = new Map<string, Clock>()

function clockOf(text: string): Clock | undefined {
  const timeZone = readZone(text)
  if (timeZone === undefined || timeZone === 'UTC') return undefined
  const clock = clocks.get(timeZone) ?? {
    // The Swedish format of a moment is that of ISO 8601.
    time: new Intl.DateTimeFormat('sv-SE', { timeZone, ...time }),
    names: namingLocales.map((locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' })),
  }
  clocks.set(timeZone, clock)
  return clock
}

/** `CEST`; `UTC+9` if no locale has a name for the zone. */
function zoneNameAt({ names }: Clock, at: Date): string {
  const known = names.map((name) => name.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '')
  return known.find((name) => !/^GMT[+-]/.test(name)) ?? known[0]?.replace('GMT', 'UTC') ?? ''
}
