import type { StreamSignal, Subscription } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'

export type OpenSubscription = Pick<Subscription, 'next'> & { tenant_id: string; signal(what: StreamSignal): void }

/**
 * Keeps one signal of each kind until the owner waits for it, except `quiet`: of several `notified_to`, the greatest. A final signal is kept
 * indefinitely, in place of the others.
 */
function openSubscription(tenant_id: string): OpenSubscription {
  const pending = new Map<string, StreamSignal>()
  let end: StreamSignal | undefined
  let wake: ((signal: StreamSignal) => void) | undefined
  const keep = (what: StreamSignal) => pending.set(kindOf(what), furthest(what, pending.get(kindOf(what))))
  return {
    tenant_id,
    signal(what) {
      if (end !== undefined) return
      if (what === 'over' || what === 'replaced') end = what
      else if (wake === undefined && what !== 'quiet') keep(what)
      wake?.(what)
      wake = undefined
    },
    next: () =>
      new Promise((resolve) => {
        const [first] = end === undefined ? pending.values() : [end]
        if (first === undefined) {
          wake = resolve
          return
        }
        pending.delete(kindOf(first))
        resolve(first)
      }),
  }
}

const kindOf = (signal: StreamSignal): string => (typeof signal === 'string' ? signal : 'notified')

function furthest(one: StreamSignal, other: StreamSignal | undefined): StreamSignal {
  if (typeof one !== 'object' || typeof other !== 'object') return one
  return BigInt(other.notified_to) > BigInt(one.notified_to) ? other : one
}

type Subscriptions = ReadonlyMap<string, OpenSubscription[]>
type Displaced = { user_id: string; subscription: OpenSubscription; last: StreamSignal }

/** A browser has six connections to one host; this limit leaves it one. */
const maxPerUser = 5
const maxInAll = 1_000

/** The open subscriptions of one process, of all kinds. `onClosed` is called when one closes. */
export function openSubscriptions(onClosed: (subscription: OpenSubscription) => void) {
  /** By user id, the oldest first. */
  const all = new Map<string, OpenSubscription[]>()
  let count = 0
  let isClosed = false

  function close(user_id: string, subscription: OpenSubscription): void {
    const theirs = all.get(user_id) ?? []
    const left = theirs.filter((other) => other !== subscription)
    count -= theirs.length - left.length
    if (left.length === 0) all.delete(user_id)
    else all.set(user_id, left)
    onClosed(subscription)
  }

  function signalAll(what: StreamSignal): void {
    for (const theirs of all.values()) for (const { signal } of theirs) signal(what)
  }

  return {
    /** @throws Problem 503 if too many are open, or all have been closed */
    open(tenant_id: string, user_id: string): OpenSubscription {
      if (isClosed) throw new Problem('unavailable', 'the service is stopping; retry in a moment')
      const displaced = findDisplaced(all, tenant_id, user_id, count >= maxInAll)
      displaced?.subscription.signal(displaced.last)
      if (displaced !== undefined) close(displaced.user_id, displaced.subscription)
      if (count >= maxInAll) throw new Problem('unavailable', 'too many open streams; retry in a moment')
      const subscription = openSubscription(tenant_id)
      all.set(user_id, [...(all.get(user_id) ?? []), subscription])
      count += 1
      return subscription
    },
    close,
    count: () => count,
    /** The users with a subscription. */
    users: () => [...all.keys()],
    signal(user_id: string, what: StreamSignal): void {
      for (const { signal } of all.get(user_id) ?? []) signal(what)
    },
    signalAll,
    /** Each gets `over`, and no new one is accepted. */
    closeAll(): void {
      isClosed = true
      signalAll('over')
    },
  }
}

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
