/** At which moment, and for how long, the requests are made for which a draft is compared. */
import { localTime } from '../../policy-engine/cedar/question.ts'
import { type AskRule, rulesAbout, rulesOn } from '../../policy-engine/deciding/possible-requests.ts'
import type { Circumstances } from './answers.ts'
import { mayGain } from './touched-rules.ts'
import { type Budget, type Compared, type Trial, tryAt } from './trial.ts'

const [hour, quarter] = [3_600, 900]
const hourMs = hour * 1_000
const hoursAhead = 7 * 24

/** What is known of the circumstances. */
export type Asked = { now: Date; source_ip: string; time_zone: string; max_duration_seconds: number }

/**
 * The requests are ordinary ones by token, with a reason, from the address of the caller, for an hour, now; and emergencies where a rule
 * that takes part in them is new, changed or deleted. Where nobody gains, they are tried for a quarter of an hour, if a rule reads the
 * duration, and at each full hour of the coming week, if a rule reads the time: access in working hours is shown at night too. A draft by
 * which nobody can gain is shown at the first moment at which somebody loses. `is_complete`: whether all was tried that had to be.
 */
export async function tryMoments(
  compared: Compared,
  asked: Asked,
  budget: Budget,
): Promise<{ trial: Trial; is_complete: boolean }> {
  const gainsMatter = mayGain(compared.sides)
  const isFound = ({ tally }: Trial) => (gainsMatter ? tally.hasGain() : tally.hasChange())
  const [first, ...others] = circumstancesOf(compared, asked)
  let best = await tryAt(compared, first, budget)
  if (isFound(best) || best.is_empty || !best.is_complete) return { trial: best, is_complete: best.is_complete }
  for (const when of others) {
    const trial = await tryAt(compared, when, budget)
    if (isFound(trial)) return { trial, is_complete: trial.is_complete }
    if (!trial.is_complete) return { trial: best, is_complete: false }
    if (!best.tally.hasChange() && trial.tally.hasChange()) best = trial
  }
  return { trial: best, is_complete: true }
}

function circumstancesOf(compared: Compared, asked: Asked): [Circumstances, ...Circumstances[]] {
  const { max_duration_seconds, now, ...always } = asked
  const base = { ...always, has_reason: true, via: 'token' } as const
  const { readsDuration, readsTime } = readByFitting(compared)
  const longest = Math.min(hour, max_duration_seconds)
  const durations = readsDuration && quarter < longest ? [longest, quarter] : [longest]
  const at = (moment: Date) => durations.map((duration_seconds) => ({ ...base, now: moment, duration_seconds }))
  const [, ...shorter] = at(now)
  return [{ ...base, now, duration_seconds: longest }, ...shorter, ...(readsTime ? hoursAfter(asked).flatMap(at) : [])]
}

/** The full hours of the tenant's clock in the coming seven days. */
function hoursAfter({ now, time_zone }: Asked): Date[] {
  const { minute } = localTime(now, time_zone)
  const began = now.getTime() - (now.getTime() % 60_000) - (minute % 60) * 60_000
  return Array.from({ length: hoursAhead }, (_, index) => new Date(began + (index + 1) * hourMs))
}

/** What the rules read that fit some of the people, and some of the accounts. */
function readByFitting({ people, accounts, sides: { before, after } }: Compared) {
  const rules = [...before.rules, ...after.rules].filter((rule) => rule.readsDuration || rule.readsTime)
  const about = new Set<AskRule>(people.flatMap(({ person }) => rulesAbout(rules, person)))
  const on = new Set<AskRule>(accounts.flatMap(({ resource }) => rulesOn(rules, resource)))
  const fitting = rules.filter((rule) => about.has(rule) && on.has(rule))
  return {
    readsDuration: fitting.some((rule) => rule.readsDuration),
    readsTime: fitting.some((rule) => rule.readsTime),
  }
}
