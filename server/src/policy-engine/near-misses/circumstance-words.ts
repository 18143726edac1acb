/** For which circumstances, in words that follow "permits this": "for at most 4 hours", "from Monday to Friday". */
import type { roads } from '../cedar/circumstance.ts'
import { localTime, type RequestContext } from '../cedar/question.ts'
import type { Range, Ranges } from '../cedar/range.ts'
import type { Change, Durations } from './change.ts'

/** What the rule wants, and what the request has: "for at most 4 hours", "you requested 8 hours". */
export type WantedWords = { wanted: string; given: string }

/** The change in words; `networks` are those that the rule names, where the requester may see them. */
export function circumstanceWords(
  { circumstance, values = [], question }: Change,
  context: RequestContext,
  durations: Durations,
  networks: readonly string[] | undefined,
): WantedWords {
  const { weekday, minute } = localTime(context.now, context.time_zone)
  switch (circumstance) {
    case 'duration_seconds':
      return {
        wanted: `for ${either(values.map((range) => durationRange(range, durations)))}`,
        given: `you requested ${inWords(context.duration_seconds)}`,
      }
    case 'has_reason':
      return question.context.has_reason
        ? { wanted: 'with a reason', given: 'you gave none' }
        : { wanted: 'without a reason', given: 'you gave one' }
    case 'break_glass':
      if (!question.context.break_glass) return { wanted: 'outside an emergency', given: 'you requested it as one' }
      return {
        wanted: `in an emergency${context.has_reason ? '' : ', with a reason'}`,
        given: 'your request is not marked as one',
      }
    case 'via':
      return {
        wanted: `with ${circumstancePath[question.context.via]}`,
        given: `you made the request with ${circumstancePath[context.via]}`,
      }
    case 'weekday':
      return { wanted: either(weekdayRanges(values)), given: `it is ${weekdayNames[weekday - 1]}` }
    case 'minute':
      return {
        wanted: `${either(minuteRanges(values))} (${context.time_zone})`,
        given: `it is ${clock(minute)}`,
      }
    case 'now':
      return { wanted: either(values.map(instantRange)), given: `it is ${context.now.toISOString()}` }
    case 'source_ip':
      return { wanted: networkWords(networks), given: `your address is ${context.source_ip}` }
  }
}

const circumstancePath: Record<(typeof roads)[number], string> = { token: 'a token', api_key: 'an API key' }

/** `a`, `a or b`, `a, b or c`. */
export function either(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`
}

function durationRange([from, to]: Range, { shortest, longest }: Durations): string {
  if (from === to) return `exactly ${inWords(from)}`
  if (from <= shortest) return `at most ${inWords(to)}`
  return to >= longest ? `at least ${inWords(from)}` : `${inWords(from)} to ${inWords(to)}`
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** `4 hours`, `1 hour 30 minutes`. */
function inWords(seconds: number): string {
  const words: string[] = []
  let left = seconds
  for (const [unit, length] of units) {
    const count = Math.floor(left / length)
    left -= count * length
    if (count > 0) words.push(`${count} ${unit}${count === 1 ? '' : 's'}`)
  }
  return words.join(' ') || '0 seconds'
}

const weekdayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

function weekdayRanges(values: Ranges): string[] {
  return roundTheCorner(values, 1, 7).map(([from, to]) => {
    const [first, last] = [weekdayNames[from - 1], weekdayNames[to - 1]]
    if (from === to) return `on ${first}`
    return to === (from % 7) + 1 ? `on ${first} and ${last}` : `from ${first} to ${last}`
  })
}

function minuteRanges(values: Ranges): string[] {
  return roundTheCorner(values, 0, 1_439).map(([from, to]) => `from ${clock(from)} until ${clock(to + 1)}`)
}

/** A range that ends with the last value and one that begins with the first are joined; the end is then before the beginning. */
function roundTheCorner(values: Ranges, first: number, last: number): Ranges {
  const [head, tail] = [values[0], values.at(-1)]
  if (head === undefined || tail === undefined || head === tail) return values
  if (head[0] !== first || tail[1] !== last) return values
  return [...values.slice(1, -1), [tail[0], head[1]]]
}

/** `24:00` is the end of the day. */
function clock(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
}

function instantRange([from, to]: Range): string {
  const [begin, end] = [Number.isFinite(from) && isoOf(from), Number.isFinite(to) && isoOf(to + 1)]
  if (begin === false) return `before ${end}`
  return end === false ? `from ${begin} on` : `from ${begin} until ${end}`
}

/** The engine has instants that JavaScript's dates cannot express; they are shown as they are. */
function isoOf(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString()
}

function networkWords(networks: readonly string[] | undefined): string {
  if (networks === undefined) return 'from another address'
  return `from another address: it names ${networks.map((network) => `\`${network}\``).join(', ')}`
}
