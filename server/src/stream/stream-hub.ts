import type { Database } from '../db/transaction.ts'
import type { StreamHub } from '../kernel/context.ts'
import { findNews } from './change-store.ts'
import { openSubscriptions } from './subscriptions.ts'
import { openTenantFeeds } from './tenant-feeds.ts'

export type OpenStreamHub = StreamHub & {
  /**
   * Reads once for all subscriptions, if there are any, and once for each followed tenant with new events, and signals those for
   * which there is something new. Answers the milliseconds until the next check.
   */
  check(): Promise<number>
  /**
   * Each subscription that waits gets `quiet`. Answers the milliseconds until the next beat. Checks come when something happens, for
   * whomever; a beat comes by time alone, so that what a reader gets in a quiet time shows nothing of that.
   */
  beat(): Promise<number>
  /** The number of open subscriptions. */
  listening(): number
  /** Each subscription gets `over`. */
  close(): void
}

/** The shortest time between two checks, however often the hub is woken. */
const minIntervalMs = 100
/** The time between two beats. */
const beatMs = 1_000

/** The stream hub of one process. A check once a second finds what other processes wrote. */
export function openStreamHub(database: Database): OpenStreamHub {
  const feeds = openTenantFeeds(database)
  const subscriptions = openSubscriptions(feeds.leave)
  /** The position of the last check; undefined when there was no subscription. */
  let since: string | undefined
  /** The users with a subscription that no check has signalled yet. */
  const opened = new Set<string>()
  let checkedAt = Number.NEGATIVE_INFINITY

  /**
   * Signals the users who may have new notifications. Returns the followed tenants with new events.
   * INVARIANT: each new subscription is signalled once, whether or not there is news. Its first read may have been before this check, or by a
   * lesser measure than that of the checks before, and no check tells again of what one has told.
   */
  async function findNew(): Promise<readonly string[]> {
    const user_ids = subscriptions.users()
    if (user_ids.length === 0) {
      since = undefined
      opened.clear()
      return []
    }
    const { whole_to, notified, changed } = await findNews(database.work, { since, user_ids }, feeds.places())
    since = whole_to
    for (const user_id of new Set([...notified, ...opened])) subscriptions.signal(user_id, { notified_to: whole_to })
    opened.clear()
    return changed
  }

  function openSubscription(tenant_id: string, user_id: string) {
    const subscription = subscriptions.open(tenant_id, user_id)
    opened.add(user_id)
    return { subscription, close: () => subscriptions.close(user_id, subscription) }
  }

  return {
    subscribe(tenant_id, user_id) {
      const { subscription, close } = openSubscription(tenant_id, user_id)
      return { next: subscription.next, close }
    },
    async follow(tenant_id, user_id) {
      const { subscription, close } = openSubscription(tenant_id, user_id)
      const feed = feeds.join(subscription)
      try {
        if (feed.place() === undefined) await feed.refresh()
      } catch (error) {
        close()
        throw error
      }
      return { next: subscription.next, close, feed }
    },
    async check() {
      const early = checkedAt + minIntervalMs - performance.now()
      if (early > 0) return early
      checkedAt = performance.now()
      const isBehind = await feeds.refresh(await findNew())
      return isBehind ? minIntervalMs : Number.MAX_SAFE_INTEGER
    },
    async beat() {
      subscriptions.signalAll('quiet')
      return beatMs
    },
    listening: subscriptions.count,
    close: subscriptions.closeAll,
  }
}
