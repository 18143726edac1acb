import type { WorkCtx } from '../kernel/context.ts'
import type { Problem } from '../kernel/errors.ts'
import { createLruCache } from '../kernel/lru-cache.ts'
import { type NewEvent, refuse } from './emit.ts'

/** The number of similar events that are all kept. */
const keptWhole = 20
const windowMs = 900_000

/**
 * Samples events that a caller can cause as often as they like, so that nobody can fill the table with them. Of similar events
 * within 15 minutes it keeps the first 20, then the 32nd, the 64th and so on; `times` is the count so far. Each process counts by
 * itself, in bounded memory. `clock`: milliseconds of a monotonic clock.
 */
export function createSampler(clock = () => performance.now()) {
  const seen = createLruCache<{ times: number; began: number }>(10_000)

  return (ctx: WorkCtx, event: NewEvent): NewEvent | undefined => {
    const { actor, tx } = ctx
    const { cause, code } = event.data ?? {}
    const caller = actor.api_key_id ?? actor.user_id
    const alike = JSON.stringify([tx.tenant_id, event.type, event.subject_id, caller, cause, code])
    const before = seen.get(alike)
    const current = before !== undefined && clock() - before.began < windowMs ? before : { times: 0, began: clock() }
    const times = current.times + 1
    seen.set(alike, { ...current, times })
    if (times <= keptWhole) return event
    return Number.isInteger(Math.log2(times)) ? { ...event, data: { ...event.data, times } } : undefined
  }
}

/** The sampler of this process. */
export const sample = createSampler()

/** Refuses as `refuse` does; of many similar entries only a sample is kept. */
export async function refuseSampled(ctx: WorkCtx, problem: Problem, event: NewEvent): Promise<never> {
  const kept = sample(ctx, event)
  if (kept === undefined) throw problem
  return refuse(ctx, problem, kept)
}
