/** How what people read is written: what users wrote, spans of time and moments, in plain text. */
import { readZone } from './time-zone.ts'

const maxLineLength = 200
/** Line ends, other controls, and the marks that turn the direction of what follows: a name could forge the rest with them. */
const forging = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** Whether a text reads as it is written: one line, no controls, nothing that turns the direction of what follows. */
export function isPlainLine(text: string): boolean {
  return text.search(forging) === -1
}

/** What a user wrote, on one line of at most so many characters. */
export function line(text: string, longest = maxLineLength): string {
  const flat = text.replace(forging, ' ').trim()
  const characters = [...flat]
  return characters.length <= longest ? flat : `${characters.slice(0, longest).join('')}…`
}

/** The two largest units of a number of seconds that are not nothing: `1 h 30 min`. */
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
 * A moment in a time zone, with UTC beside it: `2026-03-01 09:05 CET (08:05 UTC)`, and with its date where that is another.
 * In UTC alone where the zone is UTC, or none that there is.
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

/** Where the short names of time zones are known: each of these knows those of its own part of the world. */
const namingLocales = ['en-GB', 'en-US', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA']
const time = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const

/** By the zones' one spelling: no more of them than there are zones. */
const clocks = new Map<string, Clock>()

function clockOf(text: string): Clock | undefined {
  const timeZone = readZone(text)
  if (timeZone === undefined || timeZone === 'UTC') return undefined
  const clock = clocks.get(timeZone) ?? {
    // Swedish writes a moment as ISO 8601 does.
    time: new Intl.DateTimeFormat('sv-SE', { timeZone, ...time }),
    names: namingLocales.map((locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' })),
  }
  clocks.set(timeZone, clock)
  return clock
}

/** `CEST`; `UTC+9` where nobody has a name for it. */
function zoneNameAt({ names }: Clock, at: Date): string {
  const known = names.map((name) => name.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '')
  return known.find((name) => !/^GMT[+-]/.test(name)) ?? known[0]?.replace('GMT', 'UTC') ?? ''
}
