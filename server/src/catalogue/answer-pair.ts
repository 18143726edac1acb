/** The answer to one pair: the fewest questions that tell how a request may be made, and how long it may last at most. */
import { minSeconds } from '../grants/grant.ts'
import type { AskQuestion } from '../policy-engine/cedar/question.ts'
import type { Decision } from '../policy-engine/deciding/decide.ts'
import type { AskRule } from '../policy-engine/deciding/possible-requests.ts'
import { settleDuration } from '../requests/request-input.ts'
import type { Settings } from '../settings/setting.ts'
import type { PairAnswer } from './catalogue-entry.ts'

/** How a request can be made: the ways that its rules tell apart, the plainest first. */
type Way = { has_reason: boolean; break_glass: boolean }

/** The questions that a pair may need. `durations`: those at which the answer may change, from the longest. */
export type Plan = {
  rules: readonly AskRule[]
  ways: readonly Way[]
  usual: number
  durations: readonly number[]
}

/** Rules that name more durations are tried at the longest of them only. */
const maxDurations = 40

/** `rules`: those that can concern the pair. */
export function planOf(rules: readonly AskRule[], settings: Settings): Plan {
  const cap = settings['requests.max_duration_seconds']
  const usual = settleDuration(undefined, settings)
  const permits = rules.filter(({ effect }) => effect === 'permit')
  const ordinary = permits.some(({ mode }) => mode !== 'break_glass')
  const mustGiveReason = settings['requests.require_reason']
  const mayNeedReason = mustGiveReason || rules.some(({ readsReason }) => readsReason)
  const ways = [
    ...(ordinary && !mustGiveReason ? [{ has_reason: false, break_glass: false }] : []),
    ...(ordinary && mayNeedReason ? [{ has_reason: true, break_glass: false }] : []),
    ...(permits.some(({ mode }) => mode === 'break_glass') ? [{ has_reason: true, break_glass: true }] : []),
  ]
  const named = rules.flatMap((rule) => rule.durations)
  const possible = [...(named.length > 0 ? [usual, minSeconds] : []), ...named].filter(
    (seconds) => minSeconds <= seconds && seconds <= cap,
  )
  const durations = [...new Set([cap, ...possible])]
  return { rules, ways, usual, durations: durations.toSorted((a, b) => b - a).slice(0, maxDurations) }
}

/** The most questions that the plan takes. */
export function questionsOf({ ways, durations }: Plan): number {
  return ways.length * (durations.length === 1 ? 1 : durations.length + 1)
}

/** Undefined where no such request is permitted. `decide` evaluates one question. */
export async function answerPair(
  plan: Plan,
  question: AskQuestion,
  decide: (question: AskQuestion) => Promise<Decision>,
): Promise<PairAnswer | undefined> {
  let refused: Way | undefined
  for (const way of plan.ways) {
    // The same kind of request was refused whatever its reason.
    if (refused?.break_glass === way.break_glass) continue
    const at = (duration_seconds: number) =>
      decide({ ...question, context: { ...question.context, ...way, duration_seconds } })
    const usual = await at(plan.usual)
    const holds = usual.allowed ? 'here' : refusalHolds(plan.rules, usual, way)
    if (holds === 'always') refused = way
    if (holds !== 'here') continue
    const found = await longestOf(plan, usual.mode, async (seconds) => (await at(seconds)).mode)
    if (found === undefined) continue
    const { mode, ...durations } = found
    return { answer: mode === 'require' ? 'by_approval' : 'at_once', ...shownWay(way), ...durations }
  }
  return undefined
}

/**
 * How far a refusal holds, by what its causes read: for this question, for any duration, or for any duration and reason too. Each forbid
 * that matched or failed is a cause by itself. Without one, the cause is that of all permits none matched.
 */
function refusalHolds(
  rules: readonly AskRule[],
  { rule_ids, errors }: Decision,
  { break_glass }: Way,
): 'here' | 'any_duration' | 'always' {
  if (errors.some(({ rule_id }) => rule_id === null)) return 'here'
  const permits = rules.filter(({ effect, mode }) => effect === 'permit' && (mode === 'break_glass') === break_glass)
  const causes =
    rule_ids.length === 0 ? [permits] : rules.filter(({ id }) => rule_ids.includes(id)).map((rule) => [rule])
  const timeless = causes.filter((cause) => cause.every(({ readsDuration }) => !readsDuration))
  if (timeless.length === 0) return 'here'
  return timeless.some((cause) => cause.every(({ readsReason }) => !readsReason)) ? 'always' : 'any_duration'
}

function shownWay({ has_reason, break_glass }: Way): Pick<PairAnswer, 'break_glass' | 'needs_reason'> {
  return { break_glass, needs_reason: has_reason }
}

type Longest = { mode: string; duration_seconds: number; max_duration_seconds: number }

/** The longest duration that passes, and the answer for the usual one, or for the longest where that one does not pass. */
async function longestOf(
  { usual, durations }: Plan,
  usualMode: string | null,
  at: (seconds: number) => Promise<string | null>,
): Promise<Longest | undefined> {
  const [cap = usual] = durations
  // Where no rule reads the duration, one answer is that of all.
  if (durations.length === 1) {
    return usualMode === null ? undefined : { mode: usualMode, duration_seconds: usual, max_duration_seconds: cap }
  }
  for (const seconds of durations) {
    const mode = seconds === usual ? usualMode : await at(seconds)
    if (mode === null) continue
    const [shownMode, shown] = usualMode === null ? [mode, seconds] : [usualMode, usual]
    return { mode: shownMode, duration_seconds: shown, max_duration_seconds: seconds }
  }
  return usualMode === null ? undefined : { mode: usualMode, duration_seconds: usual, max_duration_seconds: usual }
}
