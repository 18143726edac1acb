import { hash } from 'node:crypto'
import type { Admission } from '../http/admission.ts'

/** What a credential proved when the database was asked, and whether it is good at another moment of that clock. */
export type Proof = { admission: Admission; isLive(now: Date): boolean }

/** What credentials proved a moment ago, so that not every request has to ask the database who calls. */
export type AdmissionCache = {
  /**
   * What a credential proves now: as it was kept, else as `prove` answers. Many who bring the same one at once ask once. What
   * proves nothing, or fails, is never kept.
   */
  admit(digest: string, prove: () => Promise<Proof | undefined>): Promise<Admission | undefined>
  /** The rights of this tenant's people changed: whatever rested on them is asked anew. */
  drop(tenant_id: string): void
  /** Forgets everything. */
  clear(): void
}

export type AdmissionCacheOptions = {
  /** Whether changes made elsewhere are heard of just now. While they are not, every request asks. */
  isFresh(): boolean
  /** The most admissions kept; those asked for longest ago, the next to be asked anew, give way. One takes 2 to 3 KB. */
  limit?: number
  /** Milliseconds of a clock that nobody sets. */
  clock?(): number
}

/** Milliseconds: the bound where a notice was lost, whatever was the cause. */
const maxAge = 5_000

/** `asked` and `answered` are of the process's clock; the database told its own time somewhere between them. */
type Kept = Proof & { asked: number; answered: number }
type Admitting = { asked: number; proof: Promise<Proof | undefined> }

/** Under this a credential is known: nobody gets it back from there, and a token is no key with the same text. */
export function digestOf(kind: Admission['via'], text: string): string {
  return hash('sha256', `${kind} ${text}`, 'base64url')
}

/** Keeps admissions for at most five seconds, and only while `isFresh`. */
export function createAdmissionCache(options: AdmissionCacheOptions): AdmissionCache {
  const { isFresh, limit = 5_000, clock = () => performance.now() } = options
  const kept = new Map<string, Kept>()
  const asking = new Map<string, Admitting>()

  function recall(digest: string): Admission | undefined {
    const entry = kept.get(digest)
    if (entry === undefined) return undefined
    const now = clock()
    if (now - entry.asked < maxAge && entry.isLive(later(entry, now - entry.asked))) {
      return { ...entry.admission, now: later(entry, now - entry.answered) }
    }
    kept.delete(digest)
    return undefined
  }

  /** INVARIANT: nobody joins, and nothing keeps, a question from before a `drop`: its answer may be from before the change. */
  async function ask(digest: string, prove: () => Promise<Proof | undefined>): Promise<Admission | undefined> {
    const other = asking.get(digest)
    if (other !== undefined && clock() - other.asked < maxAge) return (await other.proof)?.admission
    const mine = { asked: clock(), proof: prove() }
    asking.set(digest, mine)
    try {
      const proof = await mine.proof
      if (proof !== undefined && asking.get(digest) === mine)
        keep(digest, { ...proof, asked: mine.asked, answered: clock() })
      return proof?.admission
    } finally {
      if (asking.get(digest) === mine) asking.delete(digest)
    }
  }

  function keep(digest: string, entry: Kept): void {
    kept.delete(digest)
    // Kept in the order of asking: moving an entry at each use costs a Map more than all the rest.
    const [oldest] = kept.size < limit ? [] : kept.keys()
    if (oldest !== undefined) kept.delete(oldest)
    kept.set(digest, entry)
  }

  return {
    async admit(digest, prove) {
      if (!isFresh()) return (await prove())?.admission
      return recall(digest) ?? (await ask(digest, prove))
    },
    drop(tenant_id) {
      asking.clear()
      for (const [digest, { admission }] of kept) if (admission.tenant_id === tenant_id) kept.delete(digest)
    },
    clear() {
      asking.clear()
      kept.clear()
    },
  }
}

/**
 * The database's clock carried on. From the asking on it is never behind, and so no credential outlives its end; from the
 * answer on never ahead, and so nothing is dated later than what is done after it.
 */
function later({ admission }: Proof, ms: number): Date {
  return new Date(admission.now.getTime() + ms)
}
