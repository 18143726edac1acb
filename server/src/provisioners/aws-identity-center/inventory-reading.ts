import { NotNow, TargetError } from '../driver.ts'
import { AwsRefusal, type Center, tooManyCalls } from './center.ts'
import type { QueueLimits } from './priority-queue.ts'
import type { CallLimiter } from './rate-limiter.ts'

/** What a reading calls with. */
export type Reader = {
  /** Calls at the pace of readings, and names the right that a call lacked. */
  center: Center
  /** After all other calls, and as long as the signal allows. */
  queueLimits: QueueLimits
  signal: AbortSignal
}

export function openReader(center: Center, signal: AbortSignal): Reader {
  const { readingPace: pace } = center
  const queueLimits: QueueLimits = { urgent: false, background: true, until: Number.POSITIVE_INFINITY, signal }
  return {
    queueLimits,
    signal,
    center: {
      ...center,
      async sso(operation, limits, call) {
        await pace.instance.wait(limits)
        return namingRight(`sso:${operation}`, sayingThrottled(center.sso(operation, limits, call)))
      },
      async store(operation, _signal, call) {
        return slowingDown(pace.instance, async () => {
          await pace.instance.wait(queueLimits)
          return namingRight(`identitystore:${operation}`, center.store(operation, signal, call))
        })
      },
      async organization(operation, _signal, call) {
        await pace.organization.wait(queueLimits)
        return namingRight(`organizations:${operation}`, center.organization(operation, signal, call))
      },
      async openMember(role_arn, open) {
        await pace.members.wait(queueLimits)
        return center.openMember(role_arn, open)
      },
      async member(operation, member, _signal, call) {
        await pace.members.wait(queueLimits)
        return center.member(operation, member, signal, call)
      },
    },
  }
}

/** The attempts of a throttled call, each of which the SDK repeats twice. With AWS's limits they take some 40 s. */
const maxAttempts = 5

/** A directory has no second list to go by: a reading that was throttled goes on slower, rather than begin again. */
async function slowingDown<Answer>(pace: CallLimiter, call: () => Promise<Answer>): Promise<Answer> {
  for (let attempts = 1; ; attempts += 1) {
    const beganAt = performance.now()
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof AwsRefusal) || error.code !== tooManyCalls) throw error
      pace.throttled(beganAt)
      if (attempts >= maxAttempts) throw error
    }
  }
}

/** A reading that is throttled to the end begins again later, and shows why. */
async function sayingThrottled<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof NotNow) || error.why === null) throw error
    throw new TargetError('transient', error.why)
  }
}

/** STS answers that a role cannot be assumed with another code. */
const denied = 'AccessDeniedException'

/** @throws TargetError with the right, when the role lacks it */
async function namingRight<Answer>(right: string, call: Promise<Answer>): Promise<Answer> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof AwsRefusal) || error.code !== denied) throw error
    const fix = `the role lacks the right \`${right}\`: add it, as the guide’s policy does`
    throw new TargetError('permanent', `${fix} (${error.message})`)
  }
}

/** Few enough that a reading shows at least every few seconds that it goes on. */
export const maxChunk = 10

export function* chunksOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += maxChunk) yield items.slice(from, from + maxChunk)
}
