/** A question with one circumstance changed. */
import { firstAddress, strangers } from '../cedar/address.ts'
import { type Circumstance, numberIn, otherValues, roads, type Values } from '../cedar/circumstance.ts'
import type { AskQuestion, RequestContext } from '../cedar/question.ts'
import { holds, intersection, nearest, only, type Ranges } from '../cedar/range.ts'
import type { Part } from './part.ts'

/** A circumstance of a request that would have to change. */
export type Change = {
  circumstance: Circumstance | 'source_ip'
  /** The values that would do; absent for `source_ip`. */
  values?: Ranges
  /** The question with the nearest of those values. */
  question: AskQuestion
}

/** How long access may last, in seconds. */
export type Durations = { shortest: number; longest: number }

const most = { networks: 4 } as const

/** The changes, each applied alone, after which the part may hold or, for `held` = false, no longer hold. */
export function changesFor(part: Part, held: boolean, question: AskQuestion, durations: Durations): Change[] {
  if (part.values !== undefined) return valueChanges(held ? part.values : otherValues(part.values), question, durations)
  const addresses =
    part.networks === undefined ? [] : [...part.networks.slice(0, most.networks).map(firstAddress), ...strangers]
  return addresses.map((source_ip) => ({ circumstance: 'source_ip', question: withContext(question, { source_ip }) }))
}

function valueChanges({ circumstance, values }: Values, question: AskQuestion, durations: Durations): Change[] {
  const { context } = question
  const isDuration = circumstance === 'duration_seconds'
  const open = isDuration ? intersection(values, [[durations.shortest, durations.longest]]) : values
  const given = numberIn(context, circumstance)
  const wanted = circumstance === 'weekday' ? weekdaysAhead(open, given) : [nearest(open, given)]
  return wanted
    .filter((value): value is number => value !== undefined && value !== given)
    .map((value) => ({
      circumstance,
      // A schedule is shown whole; of durations and instants only the nearest range is.
      values: isDuration || circumstance === 'now' ? open.filter((range) => holds([range], value)) : open,
      question: withContext(question, contextWith(context, circumstance, value)),
    }))
}

/** The days of these within the next six, the next one first. */
function weekdaysAhead(values: Ranges, today: number): number[] {
  return [1, 2, 3, 4, 5, 6].map((days) => ((today - 1 + days) % 7) + 1).filter((weekday) => holds(values, weekday))
}

const minuteMs = 60_000
const dayMs = 86_400_000

function contextWith(context: RequestContext, circumstance: Circumstance, value: number): Partial<RequestContext> {
  const given = numberIn(context, circumstance)
  switch (circumstance) {
    case 'duration_seconds':
      return { duration_seconds: value }
    case 'has_reason':
      return { has_reason: value === 1 }
    case 'break_glass':
      return { break_glass: value === 1, has_reason: context.has_reason || value === 1 }
    case 'via':
      return { via: roads[value] ?? context.via }
    case 'weekday':
      return { now: new Date(context.now.getTime() + ((value - given + 7) % 7) * dayMs) }
    case 'minute':
      return { now: new Date(context.now.getTime() + (value - given) * minuteMs) }
    case 'now':
      return { now: new Date(value) }
  }
}

/** The same question as an emergency, with the reason that it needs; or an emergency's as an ordinary request. */
export function emergencyTurned(question: AskQuestion): Change {
  const value = question.context.break_glass ? 0 : 1
  const context = contextWith(question.context, 'break_glass', value)
  return { circumstance: 'break_glass', values: only(value), question: withContext(question, context) }
}

function withContext(question: AskQuestion, context: Partial<RequestContext>): AskQuestion {
  return { ...question, context: { ...question.context, ...context } }
}
