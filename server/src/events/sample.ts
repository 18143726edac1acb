import type { WorkCtx } from '../kernel/context.ts'
import type { Problem } from '../kernel/errors.ts'
import { createLruCache } from '../kernel/lru-cache.ts'
import { type NewEvent, refuse } from './emit.ts'

export type Sampling = {
  /** The number of similar events that are all kept in a window. */
  keptWhole: number
  windowMs: number
  /** Events with the same key are similar. */
  keyOf(ctx: WorkCtx, event: NewEvent): unknown[]
  /** Milliseconds of a monotonic clock. */
  clock?: () => number
}

/** Of 20 events of one caller about one subject and cause within 15 minutes, all are kept. */
const usual: Sampling = {
  keptWhole: 20,
  windowMs: 900_000,
  keyOf({ actor, tx }, { type, subject_id, data: { cause, code } = {} }) {
    return [tx.tenant_id, type, subject_id, actor.api_key_id ?? actor.user_id, cause, code]
  },
}

/**
 * Samples events that a caller can cause as often as they like, so that nobody can fill the table with them. Of similar events
 * within a window it keeps the first `keptWhole`, then each whose number is a power of two; `times` is the count so far. Each
 * process counts by itself, in bounded memory.
 */
export function createSampler(sampling: Partial<Sampling> = {}) {
  const { keptWhole, windowMs, keyOf, clock = () => performance.now() } = { ...usual, ...sampling }
  const seen = createLruCache<{ times: number; began: number }>(10_000)

  return (ctx: WorkCtx, event: NewEvent): NewEvent | undefined => {
    const key = JSON.stringify(keyOf(ctx, event))
    const before = seen.get(key)
    const current = before !== undefined && clock() - before.began < windowMs ? before : { times: 0, began: clock() }
    const times = current.times + 1
    seen.set(key, { ...current, times })
    if (times <= keptWhole) return event
    return Number.isInteger(Math.log2(times)) ? { ...event, data: { ...event.data, times } } : undefined
  }
}

export type Sampler = ReturnType<typeof createSampler>

/** The sampler of this process. */
export const sample = createSampler()

/** Refuses as `refuse` does; of many similar entries only a sample is kept. */
export async function refuseSampled(
  ctx: WorkCtx,
  problem: Problem,
  event: NewEvent,
  sampler: Sampler = sample,
): Promise<never> {
  const kept = sampler(ctx, event)
  problem.isRecorded = true
  if (kept === undefined) throw problem
  return refuse(ctx, problem, kept)
}
