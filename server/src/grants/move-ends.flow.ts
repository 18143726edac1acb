import type { Database } from '../db/transaction.ts'
import { findEndsToMove, hasUnplacedEnds, moveEnds } from './move-ends-store.ts'

/** How many tenants' ends are moved at once. */
const width = 4

/**
 * Moves the ends of all grants that were given before the database's clock was set back, in parts, those that come first at first. Returns
 * whether none is left. It may run in several processes, and again after a crash: each grant knows as of when it is counted.
 */
export async function moveAllEnds({ work, tenant }: Pick<Database, 'work' | 'tenant'>): Promise<boolean> {
  let from = '-infinity'
  for (;;) {
    const parts = await findEndsToMove(work, from)
    if (parts.length === 0) break
    for (let at = 0; at < parts.length; at += width) {
      await Promise.all(
        parts
          .slice(at, at + width)
          .map(({ tenant_id, entitlement_ids }) => moveEnds(tenant(tenant_id), entitlement_ids)),
      )
    }
    from = parts[0]?.last_at ?? from
  }
  // What was linked meanwhile may be due before those.
  return (await findEndsToMove(work, '-infinity')).length === 0 && !(await hasUnplacedEnds(work))
}
