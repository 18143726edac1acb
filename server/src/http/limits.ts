import type { FastifyReply } from 'fastify'
import { type Limit, type LimitDetails, type LimitState, openBuckets, rateLimited } from '../kernel/bucket.ts'
import { Problem } from '../kernel/errors.ts'
import type { Admission } from './admission.ts'
import { sourceOf } from './source.ts'

/** What a server limits; what is left out is not limited. */
export type LimitsOptions = {
  /** Requests of one credential. */
  credential?: Limit<'credential'> | undefined
  /** Whether callers without a credential are limited by their address. */
  bySource?: boolean
}

/** What callers without a credential may do, an address: the failures of every way to sign in together. */
const sourceLimits = {
  failures: { name: 'failed_sign_ins', quota: 100, seconds: 900 },
  calls: { name: 'begun_sign_ins', quota: 300, seconds: 300 },
} as const satisfies Record<string, Limit>

/** By what an operation that needs no credential is limited. */
export type SourceLimit = keyof typeof sourceLimits

/** The limits of one server, kept in its memory: to be over one costs nobody a trip to the database. */
export type Limits = {
  /** Takes one request of a credential, and says on the answer how it stands. @throws Problem 429 */
  admit(admission: Admission, reply: FastifyReply): void
  /** Lets an address in that calls without a credential, where it is not over its limit already. @throws Problem 429 */
  meet(limit: SourceLimit, address: string): void
  /**
   * Does the work; where failures are limited it counts as one until it is none, so that many at once are as many as one
   * after the other. @throws Problem 429
   */
  counted<Result>(limit: SourceLimit | undefined, address: string, work: () => Promise<Result>): Promise<Result>
}

/** Opens the limits of a server, with nothing used of them. */
export function openLimits({ credential, bySource = false }: LimitsOptions): Limits {
  const credentials = credential && openBuckets(credential)
  const sources = bySource
    ? { failures: openBuckets(sourceLimits.failures), calls: openBuckets(sourceLimits.calls) }
    : undefined
  return {
    admit({ tenant_id, actor }, reply) {
      if (credentials === undefined || credential === undefined) return
      const standing = credentials.take(`${tenant_id} ${actor.api_key_id ?? actor.user_id}`)
      setLimitHeaders(reply, credential, standing)
      if (!standing.allowed) throw rateLimited(credential, standing.retrySeconds)
    },
    meet(limit, address) {
      if (sources === undefined) return
      const source = sourceOf(address)
      const standing = limit === 'calls' ? sources.calls.take(source) : sources.failures.peek(source)
      if (!standing.allowed) throw rateLimited(sourceLimits[limit], standing.retrySeconds)
    },
    async counted(limit, address, work) {
      if (sources === undefined || limit !== 'failures') return work()
      const source = sourceOf(address)
      const { allowed, retrySeconds } = sources.failures.take(source)
      if (!allowed) throw rateLimited(sourceLimits.failures, retrySeconds)
      let failed = false
      try {
        return await work()
      } catch (thrown) {
        failed = isRefusal(thrown)
        throw thrown
      } finally {
        if (!failed) sources.failures.release(source)
      }
    },
  }
}

/** Of who somebody says to be, or of another try so soon. */
function isRefusal(thrown: unknown): boolean {
  return thrown instanceof Problem && (thrown.status === 401 || thrown.status === 429)
}

/** The headers of draft-ietf-httpapi-ratelimit-headers: what the limit is, what is left of it and when it is whole again. */
function setLimitHeaders(reply: FastifyReply, { name, quota, seconds }: Limit, standing: LimitState): void {
  reply.header('ratelimit-policy', `"${name}";q=${quota};w=${Math.ceil(seconds)}`)
  reply.header('ratelimit', `"${name}";r=${standing.remaining};t=${standing.fullSeconds}`)
}

/** The same on the answer to who was over a limit, and when to come again. */
export function setRetryHeaders(reply: FastifyReply, { details }: Problem): void {
  const { limit, quota, window_seconds, retry_after_seconds } = details as LimitDetails
  reply.header('retry-after', String(retry_after_seconds))
  reply.header('ratelimit-policy', `"${limit}";q=${quota};w=${window_seconds}`)
  reply.header('ratelimit', `"${limit}";r=0;t=${retry_after_seconds}`)
}
