import type { Database } from '../db/transaction.ts'
import { type OpenChangeFeed, openChangeFeed, type Place } from './change-feed.ts'
import { listSubjects } from './change-store.ts'
import type { OpenSubscription } from './subscriptions.ts'

/** Feeds read at once, so that other work of the process gets its share of the database. */
const width = 8

/** The feeds of the tenants that have a stream of changes in this process. All streams of a tenant share one. */
export function openTenantFeeds(database: Pick<Database, 'tenant'>) {
  const open = new Map<string, { feed: OpenChangeFeed; followers: Set<OpenSubscription> }>()

  function openFeed(tenant_id: string) {
    const tx = database.tenant(tenant_id)
    const followers = new Set<OpenSubscription>()
    const signalAll = () => {
      for (const { signal } of followers) signal('changed')
    }
    return { feed: openChangeFeed((after) => listSubjects(tx, after), signalAll), followers }
  }

  return {
    /** Signals this subscription from now on. The first of a tenant opens its feed. */
    join(subscription: OpenSubscription): OpenChangeFeed {
      const found = open.get(subscription.tenant_id) ?? openFeed(subscription.tenant_id)
      open.set(subscription.tenant_id, found)
      found.followers.add(subscription)
      return found.feed
    },
    /** The last of a tenant closes its feed. */
    leave(subscription: OpenSubscription): void {
      const found = open.get(subscription.tenant_id)
      if (found?.followers.delete(subscription) && found.followers.size === 0) open.delete(subscription.tenant_id)
    },
    /** Up to where each feed has been read. */
    places(): (Place & { tenant_id: string })[] {
      return [...open].flatMap(([tenant_id, { feed }]) => {
        const place = feed.place()
        return place === undefined ? [] : [{ tenant_id, ...place }]
      })
    },
    /**
     * Reads the feeds of these tenants. Returns whether one of them may have more to read.
     * @throws the first error, after all others were read
     */
    async refresh(tenant_ids: readonly string[]): Promise<boolean> {
      const results: PromiseSettledResult<boolean | undefined>[] = []
      for (let begin = 0; begin < tenant_ids.length; begin += width) {
        const some = tenant_ids.slice(begin, begin + width)
        results.push(...(await Promise.allSettled(some.map((tenant_id) => open.get(tenant_id)?.feed.refresh()))))
      }
      const failed = results.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      return results.some((one) => one.status === 'fulfilled' && one.value === true)
    },
  }
}
