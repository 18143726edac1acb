/** When a schedule will next be as wanted: the coming moments at which its answer may change. */
import { type Circumstance, numberIn, type Values } from '../cedar/circumstance.ts'
import { localTime, type RequestContext } from '../cedar/question.ts'
import { holds } from '../cedar/range.ts'

const minuteMs = 60_000
const dayMinutes = 1_440

/** At most this many, each of which costs an evaluation. */
const most = { moments: 8, minutes: 8, bases: 3, days: 8 } as const

/** Whether the circumstance changes by waiting. */
export function isOfTime(circumstance: Circumstance): boolean {
  return circumstance === 'weekday' || circumstance === 'minute' || circumstance === 'now'
}

/**
 * The moments after now at which every value of at least one of the groups holds, the earliest first: the beginnings of days, the
 * minutes at which a schedule begins, and each of these days at the present time. `minutes` are further minutes to try.
 */
export function comingMoments(
  groups: readonly (readonly Values[])[],
  context: RequestContext,
  minutes: readonly number[],
): Date[] {
  const isWanted = (now: Date) =>
    groups.some((group) =>
      group.every(({ circumstance, values }) => holds(values, numberIn({ ...context, now }, circumstance))),
    )
  const starts = startsOf(groups, 'now').map((ms) => Math.ceil(ms / minuteMs) * minuteMs)
  const coming = starts.filter((ms) => ms > context.now.getTime() && !Number.isNaN(new Date(ms).getTime()))
  const bases = [context.now, ...coming.toSorted((a, b) => a - b).map((ms) => new Date(ms))].slice(0, most.bases)
  const tried = [0, ...new Set([...startsOf(groups, 'minute'), ...minutes])].slice(0, most.minutes)
  const moments = new Set(coming)
  for (const base of bases)
    for (let day = 0; day < most.days; day += 1)
      for (const minute of [...tried, undefined]) moments.add(localMoment(base, context.time_zone, day, minute))
  return [...moments]
    .filter((ms) => ms > context.now.getTime())
    .toSorted((a, b) => a - b)
    .map((ms) => new Date(ms))
    .filter(isWanted)
    .slice(0, most.moments)
}

function startsOf(groups: readonly (readonly Values[])[], circumstance: Circumstance): number[] {
  const values = groups.flat().filter((one) => one.circumstance === circumstance)
  return values.flatMap((one) => one.values.map(([from]) => from)).filter(Number.isFinite)
}

/** Days after the base, at this minute of the local day (undefined: at the base's own time); the clock may have been changed on the way. */
function localMoment(base: Date, timeZone: string, days: number, minute: number | undefined): number {
  const { minute: own } = localTime(base, timeZone)
  const wanted = minute ?? own
  const whole = Math.floor(base.getTime() / minuteMs) * minuteMs
  const guess = whole + (days * dayMinutes + wanted - own) * minuteMs
  const off = wanted - localTime(new Date(guess), timeZone).minute
  const half = dayMinutes / 2
  return guess + (((((off + half) % dayMinutes) + dayMinutes) % dayMinutes) - half) * minuteMs
}
