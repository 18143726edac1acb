import type { Database } from '../db/transaction.ts'
import { findEndsToMove, moveEnds } from './move-ends-store.ts'

/** How many tenants' ends are moved at once. */
const width = 2

/** `left`: none is left to move, some were moved and more may be left, or those that are left are held up. `fault`: why, if it is one. */
export type MovedEnds = { left: 'none' | 'more' | 'held_up'; fault?: unknown }

/**
 * Moves a part of the ends of grants that were given before the database's clock was set back, those that come first. It may run in several
 * processes, and again after a crash: each grant knows as of which total it is counted.
 */
export async function moveSomeEnds({ work, tenant }: Pick<Database, 'work' | 'tenant'>): Promise<MovedEnds> {
  const parts = await findEndsToMove(work)
  if (parts.length === 0) return { left: 'none' }
  let moved = 0
  let fault: unknown
  for (let at = 0; at < parts.length; at += width) {
    const some = parts.slice(at, at + width)
    const ends = await Promise.allSettled(
      some.map(({ tenant_id, entitlement_ids }) => moveEnds(tenant(tenant_id), entitlement_ids)),
    )
    for (const end of ends) {
      if (end.status === 'fulfilled') moved += end.value
      else fault = end.reason
    }
  }
  return { left: moved > 0 ? 'more' : 'held_up', ...(fault !== undefined && { fault }) }
}
