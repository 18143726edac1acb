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
  let checkedAt = Number.NEGATIVE_INFINITY

  /**
   * The users who may have new notifications, and the followed tenants with new events.
   * INVARIANT: a subscriber reads its notifications after it subscribed. So the first check has no older ones to report.
   */
  async function findNew(): Promise<{ user_ids: Iterable<string>; tenant_ids: readonly string[] }> {
    const user_ids = subscriptions.users()
    if (user_ids.length === 0) {
      since = undefined
      return { user_ids: [], tenant_ids: [] }
    }
    const isFirst = since === undefined
    const { whole_to, notified, changed } = await findNews(database.work, { since, user_ids }, feeds.places())
    since = whole_to
    // A user who subscribed during this check may have read before it, and the next check starts after it.
    const before = new Set(user_ids)
    const late = subscriptions.users().filter((user_id) => !before.has(user_id))
    return { user_ids: [...(isFirst ? user_ids : notified), ...late], tenant_ids: changed }
  }

  return {
    subscribe(tenant_id, user_id) {
      const subscription = subscriptions.open(tenant_id, user_id)
      return { next: subscription.next, close: () => subscriptions.close(user_id, subscription) }
    },
    async follow(tenant_id, user_id) {
      const subscription = subscriptions.open(tenant_id, user_id)
      const close = () => subscriptions.close(user_id, subscription)
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
      const { user_ids, tenant_ids } = await findNew()
      for (const user_id of user_ids) subscriptions.signal(user_id, 'notified')
      const isBehind = await feeds.refresh(tenant_ids)
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
