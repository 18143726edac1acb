/** For which circumstances, in words that follow "permits this": "for at most 4 hours", "from Monday 09:00 (UTC)". */
import type { roads } from '../cedar/circumstance.ts'
import { type AskQuestion, localTime, type RequestContext } from '../cedar/question.ts'
import type { Range } from '../cedar/range.ts'
import type { Change, RequestBounds } from './change.ts'

/** What the rule wants, and what the request has: "for at most 4 hours", "you requested 8 hours". */
export type WantedWords = { wanted: string; given: string }

/** The change in words; `networks` are those that the rule names, where the requester may see them. */
export function circumstanceWords(
  change: Change,
  { action, context }: Pick<AskQuestion, 'action' | 'context'>,
  bounds: RequestBounds,
  networks: readonly string[] | undefined,
): WantedWords {
  const { circumstance, values = [], question } = change
  switch (circumstance) {
    case 'action':
      return { wanted: `for the action \`${question.action}\``, given: `you requested \`${action}\`` }
    case 'account':
      return { wanted: 'in some accounts', given: 'you named none in `metadata.account_id`' }
    case 'duration_seconds':
      return {
        wanted: `for ${either(values.map((range) => durationRange(range, bounds)))}${bounds.held_seconds ? ' in all' : ''}`,
        given: `${bounds.held_seconds ? 'with what came before, ' : ''}you requested ${inWords(context.duration_seconds)}`,
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
    case 'source_ip':
      return { wanted: networkWords(networks), given: `your address is ${context.source_ip}` }
    default:
      return momentWords(question.context.now, context)
  }
}

/** The coming moment from which the rule wants it; a moment a week or more ahead has its date. */
function momentWords(moment: Date, { now, time_zone }: RequestContext): WantedWords {
  const [then, today] = [localDay(moment, time_zone), localDay(now, time_zone)]
  const { weekday, minute } = localTime(moment, time_zone)
  const present = localTime(now, time_zone)
  const date = Date.parse(then) - Date.parse(today) < weekMs ? '' : ` ${then}`
  return {
    wanted: `from ${weekdayNames[weekday - 1]}${date} ${clock(minute)} (${time_zone})`,
    given: `it is ${weekdayNames[present.weekday - 1]} ${clock(present.minute)}`,
  }
}

const weekMs = 7 * 86_400_000

/** The local date, as `2024-01-31`. */
function localDay(instant: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(instant)
}

const circumstancePath: Record<(typeof roads)[number], string> = { token: 'a token', api_key: 'an API key' }

/** `a`, `a or b`, `a, b or c`. */
export function either(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`
}

function durationRange([from, to]: Range, { shortest, longest }: RequestBounds): string {
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

function clock(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
}

function networkWords(networks: readonly string[] | undefined): string {
  if (networks === undefined) return 'from another address'
  return `from another address: it names ${networks.map((network) => `\`${network}\``).join(', ')}`
}
