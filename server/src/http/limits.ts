import type { FastifyReply } from 'fastify'
import { type Limit, type LimitDetails, type LimitState, openBuckets, rateLimited } from '../kernel/bucket.ts'
import { Problem } from '../kernel/errors.ts'
import type { Admission } from './admission.ts'
import { sourceOf } from './source.ts'

/** The rate limits of a server; an absent one is not enforced. */
export type LimitsOptions = {
  /** Requests of one credential. */
  credential?: Limit<'credential'> | undefined
  /** Requests of all credentials of one tenant, so that no number of keys takes the place of other tenants. */
  tenant?: Limit<'tenant'> | undefined
  /** Whether callers without a credential are limited by their address. */
  bySource?: boolean
  /** The tenants that such an address may look up by a name; 0: any number. */
  discoveriesPerMinute?: number
}

/** Rate limits per address for callers without a credential. Failures of all sign-in methods count together. */
const sourceLimits = {
  failures: { name: 'failed_sign_ins', quota: 100, seconds: 900 },
  /** Nobody guesses a refresh token: this bounds the load alone. All programs behind one address may refresh at the same moment. */
  refreshes: { name: 'failed_refreshes', quota: 1_000, seconds: 900 },
  calls: { name: 'begun_sign_ins', quota: 300, seconds: 300 },
  /** A provider may sign out many people at once. */
  logouts: { name: 'logout_tokens', quota: 3_000, seconds: 300 },
  reference: { name: 'reference', quota: 300, seconds: 60 },
} as const satisfies Record<string, Limit>

/** The rate limit of an operation that needs no credential. `discoveries`: as the operator sets it. */
export type SourceLimit = keyof typeof sourceLimits | 'discoveries'

/** The rate limits of one server, kept in memory: a refused request costs no round trip to the database. */
export type Limits = {
  /** Counts one request of a credential and of its tenant, and sets the credential's headers of the reply. @throws Problem 429 */
  admit(admission: Admission, reply: FastifyReply): void
  /** Admits an address that calls without a credential, unless it has reached its limit. @throws Problem 429 */
  meet(limit: SourceLimit, address: string): void
  /**
   * Does the work. When failures are limited, the work counts as a failure until it succeeds, so that parallel and sequential
   * attempts count alike. @throws Problem 429
   */
  counted<Result>(limit: SourceLimit | undefined, address: string, work: () => Promise<Result>): Promise<Result>
}

/** Opens the rate limits of a server, unused. */
export function openLimits({ credential, tenant, bySource = false, discoveriesPerMinute = 0 }: LimitsOptions): Limits {
  const credentials = credential && openBuckets(credential)
  const tenants = tenant && openBuckets(tenant)
  const discoveries =
    discoveriesPerMinute === 0 ? undefined : { name: 'discoveries', quota: discoveriesPerMinute, seconds: 60 }
  const sources = bySource
    ? {
        failures: openBuckets(sourceLimits.failures),
        refreshes: openBuckets(sourceLimits.refreshes),
        calls: openBuckets(sourceLimits.calls),
        logouts: openBuckets(sourceLimits.logouts),
        reference: openBuckets(sourceLimits.reference),
        discoveries: discoveries && openBuckets(discoveries),
      }
    : undefined
  const named = { ...sourceLimits, discoveries }
  return {
    admit({ tenant_id, actor }, reply) {
      if (credentials !== undefined && credential !== undefined) {
        const standing = credentials.take(`${tenant_id} ${actor.api_key_id ?? actor.user_id}`)
        setLimitHeaders(reply, credential, standing)
        if (!standing.allowed) throw rateLimited(credential, standing.retrySeconds)
      }
      if (tenants === undefined || tenant === undefined) return
      const { allowed, retrySeconds } = tenants.take(tenant_id)
      if (!allowed) throw rateLimited(tenant, retrySeconds)
    },
    meet(limit, address) {
      if (sources === undefined) return
      const [buckets, of] = [sources[limit], named[limit]]
      if (buckets === undefined || of === undefined) return
      const source = sourceOf(address)
      const standing = countsFailures(limit) ? buckets.peek(source) : buckets.take(source)
      if (!standing.allowed) throw rateLimited(of, standing.retrySeconds)
    },
    async counted(limit, address, work) {
      if (sources === undefined || limit === undefined || !countsFailures(limit)) return work()
      const source = sourceOf(address)
      const { allowed, retrySeconds } = sources[limit].take(source)
      if (!allowed) throw rateLimited(sourceLimits[limit], retrySeconds)
      let failed = false
      try {
        return await work()
      } catch (thrown) {
        failed = isRefusal(thrown)
        throw thrown
      } finally {
        if (!failed) sources[limit].release(source)
      }
    },
  }
}

/** Whether only what is refused counts. */
function countsFailures(limit: SourceLimit): limit is 'failures' | 'refreshes' {
  return limit === 'failures' || limit === 'refreshes'
}

/** Whether the error refuses an identity (401) or another attempt so soon (429). */
function isRefusal(thrown: unknown): boolean {
  if (!(thrown instanceof Problem) || thrown.code === 'second_factor_required') return false
  return thrown.status === 401 || thrown.status === 429
}

/** The headers of draft-ietf-httpapi-ratelimit-headers: the limit, what remains of it, and when it is full again. */
function setLimitHeaders(reply: FastifyReply, { name, quota, seconds }: Limit, standing: LimitState): void {
  reply.header('ratelimit-policy', `"${name}";q=${quota};w=${Math.ceil(seconds)}`)
  reply.header('ratelimit', `"${name}";r=${standing.remaining};t=${standing.fullSeconds}`)
}

/** Sets the same headers on an answer 429, and `Retry-After`. */
export function setRetryHeaders(reply: FastifyReply, { details }: Problem): void {
  const { limit, quota, window_seconds, retry_after_seconds } = details as LimitDetails
  reply.header('retry-after', String(retry_after_seconds))
  reply.header('ratelimit-policy', `"${limit}";q=${quota};w=${window_seconds}`)
  reply.header('ratelimit', `"${limit}";r=0;t=${retry_after_seconds}`)
}
