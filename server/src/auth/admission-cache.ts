import { hash } from 'node:crypto'
import type { Admission } from '../http/admission.ts'

/** What a credential proved at the last database check, and whether it is valid at another moment of the database's clock. */
export type Proof = { admission: Admission; isLive(now: Date): boolean }

/** Caches recent credential checks, so that not every request needs a database query to identify the caller. */
export type AdmissionCache = {
  /**
   * Returns what a credential proves now: from the cache, else from `prove`. Concurrent requests with the same credential
   * share one call of `prove`. An invalid credential or a failure is never cached.
   */
  admit(digest: string, prove: () => Promise<Proof | undefined>): Promise<Admission | undefined>
  /** Drops the tenant's admissions, because the rights of its users changed; they are checked again. */
  drop(tenant_id: string): void
  /** Forgets everything. */
  clear(): void
}

export type AdmissionCacheOptions = {
  /** Whether notices of changes made elsewhere arrive at present. While they do not, every request queries the database. */
  isFresh(): boolean
  /** The maximum number of cached admissions. The one checked longest ago is evicted first. One takes 2 to 3 KB. */
  limit?: number
  /** Milliseconds of a monotonic clock. */
  clock?(): number
}

/** Milliseconds. Bounds how long a stale admission is used when a notice is lost for any reason. */
const maxAge = 5_000

/** `startedAt` and `endedAt` are by the process's clock. The database read its own clock between them. */
type CachedProof = Proof & { startedAt: number; endedAt: number }
type PendingProof = { startedAt: number; proof: Promise<Proof | undefined> }

/** The cache key of a credential. It does not reveal the credential, and differs for credentials of the same text and different kinds. */
export function digestOf(kind: Admission['via'] | 'scim_key', text: string): string {
  return hash('sha256', `${kind} ${text}`, 'base64url')
}

/** Keeps admissions for at most five seconds, and only while `isFresh`. */
export function createAdmissionCache(options: AdmissionCacheOptions): AdmissionCache {
  const { isFresh, limit = 5_000, clock = () => performance.now() } = options
  const cached = new Map<string, CachedProof>()
  const pending = new Map<string, PendingProof>()

  function findCached(digest: string): Admission | undefined {
    const entry = cached.get(digest)
    if (entry === undefined) return undefined
    const now = clock()
    if (now - entry.startedAt < maxAge && entry.isLive(later(entry, now - entry.startedAt))) {
      return { ...entry.admission, now: later(entry, now - entry.endedAt) }
    }
    cached.delete(digest)
    return undefined
  }

  /** INVARIANT: a check begun before a `drop` is neither shared nor cached: its result may predate the change. */
  async function check(digest: string, prove: () => Promise<Proof | undefined>): Promise<Admission | undefined> {
    const other = pending.get(digest)
    if (other !== undefined && clock() - other.startedAt < maxAge) return (await other.proof)?.admission
    const mine = { startedAt: clock(), proof: prove() }
    pending.set(digest, mine)
    try {
      const proof = await mine.proof
      if (proof !== undefined && pending.get(digest) === mine)
        insert(digest, { ...proof, startedAt: mine.startedAt, endedAt: clock() })
      return proof?.admission
    } finally {
      if (pending.get(digest) === mine) pending.delete(digest)
    }
  }

  function insert(digest: string, entry: CachedProof): void {
    cached.delete(digest)
    // Ordered by time of check, not of use: moving an entry at each use costs a Map more than all other work here.
    const [oldest] = cached.size < limit ? [] : cached.keys()
    if (oldest !== undefined) cached.delete(oldest)
    cached.set(digest, entry)
  }

  return {
    async admit(digest, prove) {
      if (!isFresh()) return (await prove())?.admission
      return findCached(digest) ?? (await check(digest, prove))
    },
    drop(tenant_id) {
      pending.clear()
      for (const [digest, { admission }] of cached) if (admission.tenant_id === tenant_id) cached.delete(digest)
    },
    clear() {
      pending.clear()
      cached.clear()
    },
  }
}

/**
 * Extrapolates the database's clock by `ms`. Counted from the start of the check it is never behind, so no credential
 * outlives its expiry. Counted from the end of the check it is never ahead, so nothing is dated later than what follows it.
 */
function later({ admission }: Proof, ms: number): Date {
  return new Date(admission.now.getTime() + ms)
}
