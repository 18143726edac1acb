import { createLruCache } from '../../kernel/lru-cache.ts'

/**
 * What AWS answered to the steps of an act that is not at its end, by assignment, for a minute. An act that was interrupted, as by throttling,
 * goes on where it was. INVARIANT: these answers decide which step comes next, never whether access is there: a check reads AWS itself.
 */
export type ActAnswers = {
  has(key: string, answer: string): boolean
  note(key: string, answer: string): void
  /** The act is at its end, or an answer was wrong. */
  forget(key: string): void
  forgetOne(key: string, answer: string): void
  /** When the work on an assignment began that is not at its end, by `performance.now()`; begins it if there is none. */
  since(key: string): number
}

const maxAssignments = 10_000
const maxAnswers = 20
const keptForMs = 60_000
/** So that work which never ends does not always go before all other work. */
const maxAgeMs = 10 * 60_000

type Work = { since: number; usedAt: number; answers: Map<string, number> }

export function openActAnswers(now: () => number = () => performance.now()): ActAnswers {
  const works = createLruCache<Work>(maxAssignments)
  const workOf = (key: string): Work => {
    const known = works.get(key)
    if (known !== undefined && now() - known.usedAt <= 2 * keptForMs && now() - known.since <= maxAgeMs) {
      known.usedAt = now()
      return known
    }
    const work = { since: now(), usedAt: now(), answers: new Map<string, number>() }
    works.set(key, work)
    return work
  }
  return {
    has: (key, answer) => now() - (works.get(key)?.answers.get(answer) ?? Number.NEGATIVE_INFINITY) <= keptForMs,
    note(key, answer) {
      const { answers } = workOf(key)
      const [oldest] = answers.size >= maxAnswers ? answers.keys() : []
      if (oldest !== undefined) answers.delete(oldest)
      answers.set(answer, now())
    },
    forget: (key) => works.delete(key),
    forgetOne: (key, answer) => void works.get(key)?.answers.delete(answer),
    since: (key) => workOf(key).since,
  }
}
