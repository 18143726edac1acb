/** For which other durations an explained change gives the better answer too: only the nearest one was tried. */
import type { AskQuestion } from '../cedar/question.ts'
import type { Range } from '../cedar/range.ts'
import { durationsNamedIn } from '../deciding/named-durations.ts'
import type { PolicyRule } from '../deciding/rule-set.ts'
import { type Change, withContext } from './change.ts'

/** How many further durations are tried. */
const most = { durations: 12 } as const

/**
 * The change with that much of its range of durations for which the answer was found to be better, from the nearest duration on. It
 * may change where the rules name a duration. `question` has all changes; other changes are returned as they are.
 */
export async function withTrueRange(
  change: Change,
  question: AskQuestion,
  rules: readonly PolicyRule[],
  isBetter: (question: AskQuestion) => Promise<boolean>,
): Promise<Change> {
  const [range] = change.values ?? []
  if (change.circumstance !== 'duration_seconds' || range === undefined) return change
  const nearest = question.context.duration_seconds
  let furthest = nearest
  for (const duration_seconds of durationsFrom(nearest, range, rules).slice(0, most.durations)) {
    if (!(await isBetter(withContext(question, { duration_seconds })))) break
    furthest = duration_seconds
  }
  return { ...change, values: [[Math.min(nearest, furthest), Math.max(nearest, furthest)]] }
}

/** The durations of the range at which the answer may change, and the last one, the nearest first. */
function durationsFrom(nearest: number, [from, to]: Range, rules: readonly PolicyRule[]): number[] {
  const named = rules.flatMap(({ policy_text }) => durationsNamedIn(policy_text))
  const within = new Set([...named, from, to].filter((one) => from <= one && one <= to && one !== nearest))
  return [...within].toSorted((a, b) => Math.abs(a - nearest) - Math.abs(b - nearest))
}
