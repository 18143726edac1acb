import type { Database } from '../db/transaction.ts'
import { findEndsToMove, moveEnds } from './move-ends-store.ts'

/** How many tenants' ends are moved at once. */
const width = 2

/** `left`: none is left to move, some were moved and more may be left, or those that are left are held up. `fault`: why, if it is one. */
export type MovedEnds = { left: 'none' | 'more' | 'held_up'; fault?: unknown }

/**
 * Moves, with each call, a part of the ends of grants that were given before the database's clock was set back, those that come first. It may run
 * in several processes, and again after a crash: each grant knows as of which total it is counted. A tenant of which nothing can be moved now holds
 * up no other.
 */
export function openMoving({ work, tenant }: Pick<Database, 'work' | 'tenant'>): () => Promise<MovedEnds> {
  let heldUp: string[] = []
  return async () => {
    const parts = await findEndsToMove(work, heldUp)
    if (parts.length === 0) {
      const left = heldUp.length === 0 ? 'none' : 'held_up'
      heldUp = []
      return { left }
    }
    let fault: unknown
    const move = async ({ tenant_id, entitlement_ids }: (typeof parts)[number]) => {
      const moved = await moveEnds(tenant(tenant_id), entitlement_ids).catch((error: unknown) => {
        fault = error
        return 0
      })
      if (moved === 0) heldUp.push(tenant_id)
    }
    for (let at = 0; at < parts.length; at += width) await Promise.all(parts.slice(at, at + width).map(move))
    return { left: 'more', ...(fault !== undefined && { fault }) }
  }
}
