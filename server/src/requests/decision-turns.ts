import { maxTurnWaitMs, oneOfEachCaller } from '../kernel/caller-turns.ts'
import { Problem } from '../kernel/errors.ts'
import { createSemaphore } from '../kernel/semaphore.ts'

/** A call begins no decision after this time. A service that stops lets the calls in flight go on for ten seconds. */
const maxMs = 8_000

const refusal = () => new Problem('unavailable', 'too many requests are being decided just now; try again in a moment')
const tooLate = () =>
  new Problem('unavailable', 'the decisions before this one took too long, so it was not made; send it again')

const ofCallers = oneOfEachCaller(refusal)
const ofTenants = createSemaphore({ limit: 2, totalLimit: 8, maxWaiting: 50, maxWaitMs: maxTurnWaitMs, refusal })

/** Runs one decision of a call when it is its turn. @throws Problem 503 where that is not in time */
export type DecisionTurn = <Result>(decide: () => Promise<Result>) => Promise<Result>

/**
 * Turns of calls that decide several requests. A person has one call at a time, and each of its decisions waits for one of its tenant's two turns: others
 * go between. No turn is held between two decisions.
 * @throws Problem 503 when too many calls of the person wait, or for too long
 */
export async function decisionTurns<Result>(
  { tenant_id, user_id }: { tenant_id: string; user_id: string },
  work: (inTurn: DecisionTurn) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const { signal } = controller
  const timer = setTimeout(() => controller.abort(), maxMs)
  const inTurn: DecisionTurn = async (decide) => {
    if (signal.aborted) throw tooLate()
    return ofTenants.run(decide, { key: tenant_id, signal })
  }
  try {
    return await ofCallers.run(() => work(inTurn), { key: `${tenant_id} ${user_id}`, signal })
  } finally {
    clearTimeout(timer)
  }
}
