import type { Database } from '../db/transaction.ts'
import type { StreamHub, StreamSignal, Subscription } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { findNotifiedSince } from '../notifications/notification-store.ts'

export type OpenStreamHub = StreamHub & {
  /** Reads once for all subscriptions, if there are any; then each gets a signal. Answers the milliseconds until the next check. */
  check(): Promise<number>
  /** The number of open subscriptions. */
  listening(): number
  /** Each subscription gets `over`. */
  close(): void
}

/** A browser has six connections to one host; this limit leaves it one. */
const maxPerUser = 5
const maxInAll = 1_000
/** The shortest time between two checks, however often the hub is woken. */
const minIntervalMs = 100

/** The stream hub of one process. A check once a second finds what other processes wrote. */
export function openStreamHub(database: Database): OpenStreamHub {
  /** By user id, the oldest first. */
  const subscriptions = new Map<string, OpenSubscription[]>()
  let count = 0
  let isClosed = false
  /** The position of the last check; undefined when there was no subscription. */
  let since: string | undefined
  let checkedAt = Number.NEGATIVE_INFINITY

  function close(user_id: string, subscription: OpenSubscription): void {
    const theirs = subscriptions.get(user_id) ?? []
    const left = theirs.filter((other) => other !== subscription)
    count -= theirs.length - left.length
    if (left.length === 0) subscriptions.delete(user_id)
    else subscriptions.set(user_id, left)
  }

  /** INVARIANT: a subscriber reads its notifications after it subscribed. So the first check has nothing older to report. */
  async function findNotified(): Promise<Iterable<string>> {
    const listening = [...subscriptions.keys()]
    if (listening.length === 0) {
      since = undefined
      return []
    }
    const isFirst = since === undefined
    const { whole_to, notified } = await findNotifiedSince(database.work, since, listening)
    since = whole_to
    // A user who subscribed during this check may have read before it, and the next check starts after it.
    const before = new Set(listening)
    return [...(isFirst ? listening : notified), ...[...subscriptions.keys()].filter((user_id) => !before.has(user_id))]
  }

  function signalAll(what: StreamSignal): void {
    for (const theirs of subscriptions.values()) for (const subscription of theirs) subscription.signal(what)
  }

  return {
    subscribe(tenant_id, user_id) {
      if (isClosed) throw new Problem('unavailable', 'the service is stopping; retry in a moment')
      const displaced = findDisplaced(subscriptions, tenant_id, user_id, count >= maxInAll)
      displaced?.subscription.signal(displaced.last)
      if (displaced !== undefined) close(displaced.user_id, displaced.subscription)
      if (count >= maxInAll) throw new Problem('unavailable', 'too many open streams; retry in a moment')
      const subscription = openSubscription(tenant_id)
      subscriptions.set(user_id, [...(subscriptions.get(user_id) ?? []), subscription])
      count += 1
      return { next: subscription.next, close: () => close(user_id, subscription) }
    },
    async check() {
      const early = checkedAt + minIntervalMs - performance.now()
      if (early > 0) return early
      checkedAt = performance.now()
      try {
        for (const user_id of await findNotified()) {
          for (const { signal } of subscriptions.get(user_id) ?? []) signal('notified')
        }
      } finally {
        signalAll('quiet')
      }
      return Number.MAX_SAFE_INTEGER
    },
    listening: () => count,
    close() {
      isClosed = true
      signalAll('over')
    },
  }
}

type Subscriptions = ReadonlyMap<string, OpenSubscription[]>
type Displaced = { user_id: string; subscription: OpenSubscription; last: StreamSignal }

/**
 * The subscription that must close for a new one: the user's oldest when the user has too many, one of another tenant when the
 * hub is full.
 */
function findDisplaced(all: Subscriptions, tenant_id: string, user_id: string, isFull: boolean): Displaced | undefined {
  const theirs = all.get(user_id) ?? []
  const [oldest] = theirs
  if (theirs.length >= maxPerUser && oldest !== undefined) return { user_id, subscription: oldest, last: 'replaced' }
  const ofTenant = isFull ? oldestOfLargestTenant(all, tenant_id) : undefined
  return ofTenant && { ...ofTenant, last: 'over' }
}

/** The oldest subscription of the tenant with the most, if `tenant_id` has fewer: no tenant locks out others. */
function oldestOfLargestTenant(subscriptions: Subscriptions, tenant_id: string) {
  const all = [...subscriptions].flatMap(([user_id, theirs]) =>
    theirs.map((subscription) => ({ user_id, subscription })),
  )
  const byTenant = Map.groupBy(all, ({ subscription }) => subscription.tenant_id)
  const [largest = []] = [...byTenant.values()].sort((one, other) => other.length - one.length)
  const hasFewer = (byTenant.get(tenant_id)?.length ?? 0) + 1 < largest.length
  return hasFewer ? largest[0] : undefined
}

type OpenSubscription = Pick<Subscription, 'next'> & { tenant_id: string; signal(what: StreamSignal): void }

/** Keeps a signal until the owner waits for it, except `quiet`. A final signal is kept indefinitely. */
function openSubscription(tenant_id: string): OpenSubscription {
  let pending: StreamSignal | undefined
  let wake: ((signal: StreamSignal) => void) | undefined
  const isEnd = (signal: StreamSignal | undefined) => signal === 'over' || signal === 'replaced'
  return {
    tenant_id,
    signal(what) {
      if (isEnd(pending) || (what === 'quiet' && wake === undefined)) return
      if (isEnd(what) || wake === undefined) pending = what
      wake?.(what)
      wake = undefined
    },
    next: () =>
      new Promise((resolve) => {
        if (pending === undefined) {
          wake = resolve
          return
        }
        resolve(pending)
        if (!isEnd(pending)) pending = undefined
      }),
  }
}
