/** A question with one circumstance changed. */
import { firstAddress, strangers } from '../cedar/address.ts'
import { type Circumstance, numberIn, otherValues, roads, type Values } from '../cedar/circumstance.ts'
import type { AskQuestion, RequestContext } from '../cedar/question.ts'
import { holds, intersection, nearest, only, type Ranges } from '../cedar/range.ts'
import { comingMoments, isOfTime } from './coming-moment.ts'
import type { Part } from './part.ts'

/** What would have to change: a circumstance of the request, its action, or that it names no account. */
export type Changeable = Circumstance | 'source_ip' | 'action' | 'account'

export type Change = {
  circumstance: Changeable
  /** The values that would do; only for circumstances that are no time. */
  values?: Ranges
  /** The question with one of those values. */
  question: AskQuestion
}

/**
 * What requests are possible at all. `shortest` and `longest`: how long access may last, in seconds. `held_seconds`: how much of it
 * comes before the request, because the request extends access.
 */
export type RequestBounds = { shortest: number; longest: number; held_seconds?: number; needs_reason?: boolean }

const most = { networks: 4 } as const

/** The changes of what is no time, each applied alone, after which the part may hold or, for `held` = false, no longer hold. */
export function changesFor(part: Part, held: boolean, question: AskQuestion, bounds: RequestBounds): Change[] {
  if (part.values !== undefined) return valueChanges(held ? part.values : otherValues(part.values), question, bounds)
  const addresses =
    part.networks === undefined ? [] : [...part.networks.slice(0, most.networks).map(firstAddress), ...strangers]
  return addresses.map((source_ip) => ({ circumstance: 'source_ip', question: withContext(question, { source_ip }) }))
}

/**
 * The question at coming moments, each at which the values of one of the groups hold; the first moment first. `minutes` are further
 * minutes of a day at which an answer may change.
 */
export function timeChanges(
  groups: readonly (readonly Values[])[],
  question: AskQuestion,
  minutes: readonly number[],
): Change[] {
  const circumstance = groups[0]?.find(({ circumstance: one }) => isOfTime(one))?.circumstance
  if (circumstance === undefined) return []
  return comingMoments(groups, question.context, minutes).map((now) => ({
    circumstance,
    question: withContext(question, { now }),
  }))
}

function valueChanges({ circumstance, values }: Values, question: AskQuestion, bounds: RequestBounds): Change[] {
  const { context } = question
  const isDuration = circumstance === 'duration_seconds'
  if (circumstance === 'has_reason' && mustGiveReason(question, bounds) && !holds(values, 1)) return []
  const open = isDuration ? intersection(values, [[bounds.shortest, bounds.longest]]) : values
  const given = numberIn(context, circumstance)
  const value = nearest(open, given)
  if (value === undefined || value === given) return []
  return [
    {
      circumstance,
      // Of durations only the nearest range is shown.
      values: isDuration ? open.filter((range) => holds([range], value)) : open,
      question: withContext(question, contextWith(context, circumstance, value)),
    },
  ]
}

/** Without a reason, there is no such request for a rule to meet. */
function mustGiveReason({ context }: AskQuestion, { needs_reason = false }: RequestBounds): boolean {
  return needs_reason || context.break_glass
}

function contextWith(context: RequestContext, circumstance: Circumstance, value: number): Partial<RequestContext> {
  switch (circumstance) {
    case 'duration_seconds':
      return { duration_seconds: value }
    case 'has_reason':
      return { has_reason: value === 1 }
    case 'break_glass':
      return { break_glass: value === 1, has_reason: context.has_reason || value === 1 }
    case 'via':
      return { via: roads[value] ?? context.via }
    default:
      throw new Error('a time is changed by its coming moments')
  }
}

/** The same question as an emergency, with the reason that it needs; or an emergency's as an ordinary request. */
export function emergencyTurned(question: AskQuestion): Change {
  const value = question.context.break_glass ? 0 : 1
  const context = contextWith(question.context, 'break_glass', value)
  return { circumstance: 'break_glass', values: only(value), question: withContext(question, context) }
}

export function withContext(question: AskQuestion, context: Partial<RequestContext>): AskQuestion {
  return { ...question, context: { ...question.context, ...context } }
}
